#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "kubernetes/access.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes {

// Something that goes on at the API server. Destroying it ends it; nothing is called back then.
class Activity {
 public:
  virtual ~Activity() = default;
};
using ActivityHandle = std::unique_ptr<Activity>;

// The size of one object's answer: servers take no larger object.
inline constexpr std::size_t kMaxObjectBytes = std::size_t{8} * 1024 * 1024;
// The size of the answer for a page of a collection, or for all of its metadata.
inline constexpr std::size_t kMaxPageBytes = std::size_t{64} * 1024 * 1024;
// A collection is read in pages of so many objects; one that has more pages has no end.
inline constexpr int kPageObjects = 500;
inline constexpr int kMaxPages = 100;

struct Request {
  std::string method = "GET";
  std::string path;                                          // "/api/v1/namespaces/default/pods"
  std::vector<std::pair<std::string, std::string>> query{};  // not encoded
  base::Json body{};                                         // null: none
  std::string content_type = "application/json";  // of the body; of a PATCH the kind of patch
  // Only apiVersion, kind and metadata of the answer's object are wanted, which spares the rest of
  // a large one; a server that cannot do that sends it whole.
  bool wants_metadata_only = false;
  // A Table is wanted: the columns that `kubectl get` shows of each object.
  bool wants_table = false;
  // How long a server that refuses for now (429, 503, …) is asked again, at most until the
  // deadline.
  base::Duration patience = base::Duration::max();
  // The largest answer. As many requests are made at once, only those for a collection say more.
  std::size_t max_answer_bytes = kMaxObjectBytes;
};

// A query for a request that makes an object: the server refuses a field that it does not know, or
// that is there twice, and does not drop it without a word. Servers before 1.25 do not look.
inline const std::pair<std::string, std::string> kStrictFields{"fieldValidation", "Strict"};

// The server's words when it refused (its Status object), as base::Error has no room for them.
struct Refusal {
  int status = 0;      // HTTP's
  std::string reason;  // "AlreadyExists", "Forbidden", "Invalid", "NotFound", "Expired", …
  std::string message;
  base::Json details;  // null: none
};

// Either the object, or why there is none. A refusal that is no answer of an API server has an
// empty reason.
struct ApiAnswer {
  base::Result<base::Json> object;
  std::optional<Refusal> refusal;  // only with an error that is a refusal
};

// One change of one object that is watched. Objects of watches are without their
// metadata.managedFields.
struct Change {
  bool is_deleted = false;
  base::Json object;  // whole; of a deleted one as it was last
};

struct WatchRequest {
  std::string path;            // of the collection
  std::string label_selector;  // empty: all
};

struct WatchCallbacks {
  // All objects at once, after each listing: what is not among them is gone.
  std::function<void(std::vector<base::Json> objects)> on_list;
  std::function<void(Change change)> on_change;
  // The server does not answer, or refuses: why, and since when it has not been heard of. It is
  // asked again for as long as the Activity lives. `is_final`: it refuses for good (no right, no
  // such namespace), nothing follows.
  std::function<void(const base::Error& error, bool is_final)> on_trouble;
};

struct LogRequest {
  std::string name_space;
  std::string pod;
  std::string container;
  bool follow = true;
  std::optional<std::string> since{};  // RFC 3339: lines of this time come again
};

struct LogCallbacks {
  // A line without its end; `time` as the server wrote it (RFC 3339 with nanoseconds), empty if
  // none.
  std::function<void(std::string_view time, std::string_view text)> on_line;
  // Once: the log is at its end, or why it cannot be read on. The last piece without a line's end
  // has been told as a line.
  std::function<void(base::Result<>)> on_end;
};

struct ExecRequest {
  std::string name_space;
  std::string pod;
  std::string container;
  std::vector<std::string> command;
};

struct ExecCallbacks {
  std::function<void(std::string_view piece)> on_output;
  std::function<void(std::string_view piece)> on_errors;
  // Once: the exit status, or why it is not known.
  std::function<void(base::Result<int>)> on_end;
};

// A connection to a port of a pod. What is sent before it is open waits.
class Tunnel : public Activity {
 public:
  virtual void send(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
};

struct TunnelCallbacks {
  // The way to the pod is open; whether somebody listens there shows only afterwards.
  std::function<void()> on_open;
  std::function<void(std::string_view piece)> on_bytes;
  // Once: the other side closed it, or why it is not there (kUnavailable: nobody listens).
  std::function<void(base::Result<>)> on_end;
};

// Runs a plugin and gives its standard output; on a worker thread, never beyond `deadline`, and not
// for long once `is_unwanted` is true. Its error: what it wrote and how it ended.
using PluginRunner = std::function<base::Result<std::string>(
    const Plugin& plugin, const std::string& exec_info, base::Instant deadline,
    const std::function<bool()>& is_unwanted)>;

// A client of one API server, in the loop; every callback comes in it, never inside a call. Answers
// of 429, 500, 502, 503 and 504 and broken connections are met by asking again (Retry-After is
// followed, else random pauses from 0.1 s to 10 s); 401 by logging in again, once. So whoever
// creates something under a name of his own takes kAlreadyExists for done: it may be his own first
// try that was not answered. Everything made from it must go before it does.
class Client {
 public:
  // kInvalidArgument where the access cannot be used.
  static base::Result<std::unique_ptr<Client>> make(net::EventLoop& loop, base::Logger& logger,
                                                    Access access, PluginRunner run_plugin);
  virtual ~Client() = default;

  [[nodiscard]] virtual const Access& access() const = 0;

  // One request until `deadline`, at most 16 at a time (the others wait for their turn). Errors:
  // kUnavailable, kDeadlineExceeded, kUnauthenticated, or a refusal: kAlreadyExists, kNotFound,
  // kPermissionDenied (its message names the right that is missing), kInvalidArgument,
  // kResourceExhausted (quota), kFailedPrecondition (conflict).
  [[nodiscard]] virtual ActivityHandle request(Request request, base::Instant deadline,
                                               std::function<void(ApiAnswer)> on_done) = 0;

  // Lists in pages and watches from there, with bookmarks; after "410 Gone" it lists again.
  [[nodiscard]] virtual ActivityHandle watch(WatchRequest request, WatchCallbacks callbacks) = 0;

  // A stream of one container's log. Not asked again by itself: where it breaks off the caller
  // does, with `since`. kFailedPrecondition: the container has not started yet. kUnavailable: it
  // broke off; also where the kubelet ends it with words of its own, which are the message then.
  // The server begins to answer with the first line only.
  [[nodiscard]] virtual ActivityHandle read_log(LogRequest request, LogCallbacks callbacks) = 0;

  // Runs a command in a container; its output comes as it is. Until `deadline`.
  [[nodiscard]] virtual ActivityHandle exec(ExecRequest request, base::Instant deadline,
                                            ExecCallbacks callbacks) = 0;

  // Opens a connection to a port of a pod.
  [[nodiscard]] virtual std::unique_ptr<Tunnel> forward(std::string name_space, std::string pod,
                                                        std::uint16_t port, base::Instant deadline,
                                                        TunnelCallbacks callbacks) = 0;
};

// Asks until the answer or the deadline, running the loop meanwhile: for commands that do one thing
// after another. Not from inside a callback.
base::Result<base::Json> ask(net::EventLoop& loop, Client& client, Request request,
                             base::Instant deadline);

// The same for all objects of a collection that `query` chooses. kUnavailable: it is none.
base::Result<std::vector<base::Json>> list(net::EventLoop& loop, Client& client,
                                           const std::string& path,
                                           std::vector<std::pair<std::string, std::string>> query,
                                           base::Instant deadline);

}  // namespace gangrun::kubernetes
