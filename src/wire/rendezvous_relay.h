#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http.h"
#include "wire/messages.h"

namespace gangrun::wire {

// A get of a key that is not there is held so long before it is told that: the client asks again.
inline constexpr std::chrono::milliseconds kRendezvousHold{1000};
// So long a put or delete waits for the master, which may have died and have a successor soon.
inline constexpr std::chrono::seconds kRendezvousPatience{60};
// The limits for one task: the keys that its processes have put, and the questions that wait for
// the master.
inline constexpr std::size_t kMaxOwnRendezvousKeys = 4096;
inline constexpr std::size_t kMaxOwnRendezvousBytes = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxRendezvousQuestions = 4096;

// One HTTP request of a process, known to the caller by this number.
using RendezvousTicket = std::uint64_t;

class RendezvousRelayOutput {
 public:
  virtual ~RendezvousRelayOutput() = default;
  // To the master; may be lost, and is then sent again after on_attached().
  virtual void send(RendezvousMessage message) = 0;
  // Once for each request() that was not forgotten. The statuses that the client understands are
  // 200 and 404; after any other it tries twice more and gives up.
  virtual void answer(RendezvousTicket ticket, int status, const std::string& body) = 0;
};

// The agent's side of the rendezvous of one run: turns the requests of the task's processes into
// questions to the master, and its answers back (docs/protocols/rendezvous.md). It keeps what the
// processes have put, so that a new master learns it again. No socket, no clock.
class RendezvousRelay {
 public:
  explicit RendezvousRelay(RendezvousRelayOutput& output) : output_(output) {}

  void request(RendezvousTicket ticket, std::string_view method, std::string_view path,
               std::string body, base::Instant now);
  // The process has gone; its question stays.
  void forget(RendezvousTicket ticket);
  void on_answer(const RendezvousAnswerMessage& message);
  // A session with the master, the same or another, has begun.
  void on_attached();
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time(base::Instant now);

 private:
  struct Waiting {
    RendezvousTicket ticket = 0;
    base::Instant until;
  };
  struct Question {
    RendezvousAction action = RendezvousAction::kGet;
    std::string key;
    std::vector<Waiting> waiting;
  };

  void get(const std::string& key, Waiting waiting);
  void put(const std::string& key, std::string value, Waiting waiting);
  void erase(const std::string& key, Waiting waiting);
  // False, and answered, where too many questions wait.
  bool may_ask(const Waiting& waiting);
  void ask(RendezvousAction action, const std::string& key, std::vector<Waiting> waiting);
  void send(std::int64_t id, const Question& question);
  void forget_own(const std::string& key);

  RendezvousRelayOutput& output_;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, Question> questions_;
  std::map<std::string, std::int64_t> gets_;  // the one question for a key
  std::map<std::string, std::string> own_;
  std::size_t own_bytes_ = 0;
};

// "/global/0" to "global/0": a scope and a name of printable ASCII, at most kMaxRendezvousKeyBytes.
std::optional<std::string> rendezvous_key(std::string_view path);
// The response to a process: a value, or the reason why there is none.
net::HttpResponse rendezvous_response(int status, std::string body);

}  // namespace gangrun::wire
