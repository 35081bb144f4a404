#pragma once

#include "net/asio_internal.h"
//
#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/unique_fd.h"
#include "net/server.h"
#include "net/strangers.h"
#include "net/stream_internal.h"

namespace gangrun::net {

class HttpConnection;

// The state that a server and its connections share. Kept alive by whoever calls one of its
// callbacks, so a callback may destroy the server.
class Server::Core : public std::enable_shared_from_this<Server::Core> {
 public:
  Core(EventLoop& event_loop, const ServerOptions& server_options)
      : loop(event_loop), options(server_options) {}
  ~Core();

  base::Result<> listen_unix(const std::string& path);
  base::Result<std::uint16_t> listen_ip(const std::string& address, std::uint16_t port,
                                        std::shared_ptr<asio::ssl::context> tls);
  void shut_down();

  EventLoop& loop;
  const ServerOptions options;
  Hooks on;
  std::unordered_set<std::shared_ptr<HttpConnection>> connections;
  Strangers strangers;  // some of them
  // One of the connections is no stranger any more, or has gone.
  void leave(Strangers::Id id);
  // The count of requests and channels together; channels may outlive the server.
  const std::shared_ptr<std::size_t> open_connections = std::make_shared<std::size_t>(0);

 private:
  struct Listener {
    base::UniqueFd fd;
    std::shared_ptr<asio::ssl::context> tls;
    std::string unix_path;  // to be removed at the end, if it is still this file:
    dev_t device = 0;
    ino_t inode = 0;
    Watch watch;
    Timer retry;
  };

  // One that has been accepted and of whose source there are too many strangers at the moment.
  struct Held {
    base::UniqueFd fd;
    std::shared_ptr<asio::ssl::context> tls;
  };

  void listen(Listener& listener);
  void accept(Listener& listener);
  // False: too many are held already, and `fd` is as it was.
  bool hold(base::UniqueFd& fd, const Listener& listener, const std::string& source);
  // Those for which there is room by now.
  void welcome_held();
  void welcome_held_later();
  void welcome(base::UniqueFd fd, const Listener& listener, const std::string& source);
  void connect(Strangers::Id id, base::UniqueFd fd, std::shared_ptr<asio::ssl::context> tls);
  [[nodiscard]] bool refuses(base::UniqueFd& fd, const Listener& listener,
                             const sockaddr_storage& from);
  [[nodiscard]] bool must_wait(const Listener& listener);
  // Whether a new one has found a place among the strangers.
  [[nodiscard]] bool take_in(Strangers::Id id, const std::string& source);
  void tell_crowd(const std::string& source);
  void drop_stranger(Strangers::Id id);

  std::list<Listener> listeners_;
  Strangers::Id next_id_ = 1;
  std::map<std::string, std::deque<Held>> held_;  // by source, in the order in which they came
  std::size_t held_count_ = 0;
  bool looks_at_held_ = false;
  Timer held_timer_;
  std::deque<base::UniqueFd> refused_;
  Timer refused_timer_;
};

// One connection while it speaks HTTP: requests one after the other, until one of them makes it a
// channel. There is always a read under way, so that a client that goes is noticed.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Server::Core& core, Stream stream, std::shared_ptr<void> guard, Strangers::Id id);

  void start();
  // Ends it without a word.
  void drop();

  void answer(const HttpResponse& response);
  [[nodiscard]] Strangers::Id id() const { return id_; }
  [[nodiscard]] bool waits_for_answer() const { return state_ == State::kAwaiting; }
  void on_gone(std::function<void()> callback) { on_gone_ = std::move(callback); }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State { kHandshake, kReading, kAwaiting, kWriting, kDraining, kClosed };

  void read();
  void on_read(const ErrorCode& error, std::size_t size);
  void stay_half_closed();
  void parse();
  void on_header();
  [[nodiscard]] bool admit(Server::Core& core);
  void dispatch();
  void upgrade(Server::Core& core, HttpRequest request);
  void refuse(int status, std::string message);
  void write(std::string_view bytes);
  void on_written(const ErrorCode& error);
  void drain();
  void finish();
  void leave();
  void limit(base::Duration duration);
  void on_limit();

  const std::weak_ptr<Server::Core> core_;
  EventLoop& loop_;
  const ServerOptions options_;
  std::shared_ptr<void> guard_;
  const Strangers::Id id_;
  Stream stream_;
  const Peer peer_;
  State state_ = State::kHandshake;
  Timer limit_;

  static constexpr std::size_t kReadBytes = std::size_t{8} * 1024;
  std::array<char, kReadBytes> chunk_{};
  bool reading_ = false;
  bool ended_ = false;  // the client sends no more
  std::string in_;
  std::size_t drained_bytes_ = 0;

  std::optional<Parser> parser_;
  bool first_ = true;
  bool header_seen_ = false;
  bool head_ = false;
  bool last_ = false;
  std::function<void()> on_gone_;

  bool writing_ = false;
  std::string out_;      // being written
  std::string pending_;  // to be written next
};

}  // namespace gangrun::net
