#include "net/server.h"

#include "net/asio_internal.h"
//
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"
#include "net/address_internal.h"
#include "net/alive.h"
#include "net/event_loop_internal.h"
#include "net/http_wire_internal.h"
#include "net/server_internal.h"
#include "net/tls_internal.h"

namespace gangrun::net {

namespace {

constexpr int kMaxWaitingClients = 4096;
constexpr int kMaxAcceptsAtOnce = 64;
// Without a free descriptor nothing can be accepted, and the socket stays readable.
constexpr base::Duration kAcceptPause = base::milliseconds(100);

// Strangers never get more than this part of the descriptors.
constexpr rlim_t kDescriptorsForOneStranger = 4;

// At most so many, and no more than there are descriptors for if each takes so large a part.
std::size_t limited(std::size_t most, rlim_t descriptors_for_one) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  return std::min<std::size_t>(most, limit.rlim_cur / descriptors_for_one);
}

std::size_t most_strangers(const ServerOptions& options) {
  const std::size_t most = std::min(options.max_strangers, options.max_connections / 2);
  return std::max<std::size_t>(limited(most, kDescriptorsForOneStranger), 1);
}

// Those that wait for room among the strangers: so many times as those may be, half of them of one
// source, and a smaller part of the descriptors, as they are nothing but that.
constexpr std::size_t kHeldForOneStranger = 4;
constexpr rlim_t kDescriptorsForOneHeld = 8;
// How often it is looked whether somebody has become old enough to give way to them.
constexpr base::Duration kHeldPause = base::milliseconds(100);

std::size_t most_held(const ServerOptions& options) {
  return limited(most_strangers(options) * kHeldForOneStranger, kDescriptorsForOneHeld);
}

// Some that have been refused stay open, so that a client which still sends can read why.
constexpr std::size_t kMaxRefused = 64;
constexpr base::Duration kRefusedStay = base::seconds(2);

constexpr std::string_view kBusy =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 21\r\n\r\n"
    "too many connections\n";

// As much as a connection takes at once that is about to be closed.
void send_once(const base::UniqueFd& fd, std::string_view bytes) {
  (void)::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Server::Core::~Core() { shut_down(); }

void Server::Core::shut_down() {
  for (Listener& listener : listeners_) {
    listener.watch.reset();
    struct stat found {};
    const bool ours = !listener.unix_path.empty() &&
                      ::lstat(listener.unix_path.c_str(), &found) == 0 &&
                      found.st_dev == listener.device && found.st_ino == listener.inode;
    if (ours) ::unlink(listener.unix_path.c_str());
  }
  listeners_.clear();
  held_.clear();
  held_timer_.reset();
  refused_.clear();
  refused_timer_.reset();
  const auto dropped = std::exchange(connections, {});
  for (const auto& connection : dropped) connection->drop();
}

base::Result<> Server::Core::listen_unix(const std::string& path) {
  GANGRUN_ASSIGN(const SocketAddress address, unix_address(path));
  const std::string what = base::format("listen on the socket {}", path);
  Listener listener;
  listener.fd.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The mode of the descriptor becomes the mode of the file, so it is never open to others.
  if (!listener.fd.valid() || ::fchmod(listener.fd.get(), S_IRUSR | S_IWUSR) != 0) {
    return base::from_errno(errno, what);
  }
  if (::bind(listener.fd.get(), address.get(), address.size) != 0) {
    if (errno == EADDRINUSE) {
      return base::Error{base::Code::kAlreadyExists,
                         base::format("{}: there is something at this path already", what)};
    }
    return base::from_errno(errno, what);
  }
  struct stat made {};
  if (::lstat(path.c_str(), &made) != 0 || ::listen(listener.fd.get(), kMaxWaitingClients) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return base::from_errno(error, what);
  }
  listener.unix_path = path;
  listener.device = made.st_dev;
  listener.inode = made.st_ino;
  listeners_.push_back(std::move(listener));
  listen(listeners_.back());
  return {};
}

base::Result<std::uint16_t> Server::Core::listen_ip(const std::string& address, std::uint16_t port,
                                                    std::shared_ptr<asio::ssl::context> tls) {
  GANGRUN_ASSIGN(const SocketAddress wanted, ip_address(address, port));
  Listener listener;
  listener.tls = std::move(tls);
  listener.fd.reset(::socket(wanted.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  sockaddr_storage got{};
  socklen_t size = sizeof got;
  // "::" is all addresses, IPv4's too, whatever the host's default is.
  const int no = 0;
  const bool all = wanted.family() == AF_INET6 && address == "::";
  if (!listener.fd.valid() ||
      (all && ::setsockopt(listener.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) != 0) ||
      ::setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(listener.fd.get(), wanted.get(), wanted.size) != 0 ||
      ::listen(listener.fd.get(), kMaxWaitingClients) != 0 ||
      ::getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&got), &size) != 0) {
    return base::from_errno(errno, base::format("listen on {}", to_string(wanted)));
  }
  listeners_.push_back(std::move(listener));
  listen(listeners_.back());
  return port_of(got);
}

void Server::Core::listen(Listener& listener) {
  listener.watch = loop.watch_readable(listener.fd.get(), [this, &listener] {
    const auto kept = shared_from_this();
    accept(listener);
  });
}

void Server::Core::accept(Listener& listener) {
  for (int i = 0; i < kMaxAcceptsAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    base::UniqueFd fd;
    if (!must_wait(listener)) {
      fd.reset(::accept4(listener.fd.get(), reinterpret_cast<sockaddr*>(&from), &size,
                         SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.valid() && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)) return;
    }
    if (!fd.valid()) {
      listener.watch.reset();
      listener.retry = loop.after(kAcceptPause, [this, &listener] { listen(listener); });
      return;
    }
    if (!refuses(fd, listener, from)) welcome(std::move(fd), listener, source_of(from));
  }
}

bool Server::Core::refuses(base::UniqueFd& fd, const Listener& listener,
                           const sockaddr_storage& from) {
  if (!on.arrival || listener.tls != nullptr || !listener.unix_path.empty()) return false;
  SocketAddress address;
  address.storage = from;
  const auto refusal = on.arrival({.kind = PeerKind::kTcp, .address = to_string(address)});
  if (!refusal) return false;
  send_once(fd, serialise(*refusal, false, true));
  ::shutdown(fd.get(), SHUT_WR);
  refused_.push_back(std::move(fd));
  if (refused_.size() > kMaxRefused) refused_.pop_front();
  refused_timer_ = loop.after(kRefusedStay, [this] { refused_.clear(); });
  return true;
}

// The kernel keeps those that wait, so a crowd of agents that all come at once is only slowed down.
bool Server::Core::must_wait(const Listener& listener) {
  if (!listener.unix_path.empty()) return false;
  strangers.limit(most_strangers(options), options.strangers_patience);
  return strangers.full(loop.now());
}

bool Server::Core::take_in(Strangers::Id id, const std::string& source) {
  const Strangers::Verdict verdict = strangers.come(id, source, loop.now());
  if (verdict.gives_way) drop_stranger(*verdict.gives_way);
  if (verdict.crowded()) tell_crowd(source);
  return verdict.welcome;
}

void Server::Core::tell_crowd(const std::string& source) {
  if (!on.crowd) return;
  const auto tell = std::exchange(on.crowd, nullptr);
  tell(strangers.size(), strangers.of(source), source);
}

void Server::Core::drop_stranger(Strangers::Id id) {
  const auto found = std::find_if(connections.begin(), connections.end(),
                                  [id](const auto& each) { return each->id() == id; });
  if (found == connections.end()) return;
  const auto kept = *found;
  kept->drop();
}

void Server::Core::leave(Strangers::Id id) {
  strangers.leave(id);
  welcome_held_later();
}

// A crowd of agents of one host comes within milliseconds, and each needs some for its handshake:
// who is turned away comes again after a pause that is much longer.
bool Server::Core::hold(base::UniqueFd& fd, const Listener& listener, const std::string& source) {
  const std::size_t most = most_held(options);
  std::deque<Held>& of_source = held_[source];
  if (held_count_ >= most || of_source.size() >= std::max<std::size_t>(most / 2, 1)) {
    if (of_source.empty()) held_.erase(source);
    return false;
  }
  of_source.push_back({std::move(fd), listener.tls});
  ++held_count_;
  if (!held_timer_.pending()) {
    held_timer_ = loop.after(kHeldPause, [this] { welcome_held(); });
  }
  return true;
}

// Not from inside of what has just left.
void Server::Core::welcome_held_later() {
  if (held_.empty() || std::exchange(looks_at_held_, true)) return;
  loop.post(while_alive(weak_from_this(), [this] { welcome_held(); }));
}

void Server::Core::welcome_held() {
  const auto kept = shared_from_this();
  looks_at_held_ = false;
  for (auto each = held_.begin(); each != held_.end();) {
    auto& [source, waiting] = *each;
    while (!waiting.empty() && strangers.has_room(source, loop.now())) {
      Held held = std::move(waiting.front());
      waiting.pop_front();
      --held_count_;
      const Strangers::Id id = next_id_++;
      const bool is_welcome = take_in(id, source);
      if (held_.empty()) return;  // who was told of the crowd has shut down
      if (is_welcome) connect(id, std::move(held.fd), std::move(held.tls));
    }
    each = waiting.empty() ? held_.erase(each) : std::next(each);
  }
  held_timer_.reset();
  if (!held_.empty()) held_timer_ = loop.after(kHeldPause, [this] { welcome_held(); });
}

void Server::Core::welcome(base::UniqueFd fd, const Listener& listener, const std::string& source) {
  const bool is_stranger = listener.unix_path.empty();
  const bool is_full = *open_connections >= options.max_connections;
  // Nobody overtakes those who wait.
  const bool must_be_held = is_stranger && !is_full &&
                            (held_.contains(source) || !strangers.has_room(source, loop.now()));
  if (must_be_held && hold(fd, listener, source)) return;
  const Strangers::Id id = next_id_++;
  if (is_full || (is_stranger && (must_be_held || !take_in(id, source)))) {
    if (must_be_held) tell_crowd(source);
    // A TLS client would not understand it; it sees the end of the connection.
    if (listener.tls == nullptr) send_once(fd, kBusy);
    return;
  }
  connect(id, std::move(fd), listener.tls);
}

void Server::Core::connect(Strangers::Id id, base::UniqueFd fd,
                           std::shared_ptr<asio::ssl::context> tls) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ErrorCode error;
  Stream::Socket socket(context_of(loop));
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return strangers.leave(id);
  }
  socket.assign(asio::generic::stream_protocol(own.ss_family, 0), fd.get(), error);
  if (error) return strangers.leave(id);
  (void)fd.release();
  ++*open_connections;
  const std::shared_ptr<void> guard(nullptr, [count = open_connections](void*) { --*count; });
  const auto connection =
      std::make_shared<HttpConnection>(*this, Stream(std::move(socket), std::move(tls)), guard, id);
  connections.insert(connection);
  connection->start();
}

Server::Server(EventLoop& loop, ServerOptions options)
    : core_(std::make_shared<Core>(loop, options)), hooks_(&core_->on) {}

Server::~Server() { core_->shut_down(); }

base::Result<> Server::listen_unix(const std::string& path) { return core_->listen_unix(path); }

base::Result<std::uint16_t> Server::listen_tls(const std::string& address, std::uint16_t port,
                                               const JobCertificate& certificate) {
  GANGRUN_ASSIGN(auto tls, server_tls(certificate));
  return core_->listen_ip(address, port, std::move(tls));
}

base::Result<std::uint16_t> Server::listen_loopback(std::uint16_t port) {
  return listen_plain("127.0.0.1", port);
}

base::Result<std::uint16_t> Server::listen_plain(const std::string& address, std::uint16_t port) {
  return core_->listen_ip(address, port, nullptr);
}

std::size_t Server::connections() const { return *core_->open_connections; }

}  // namespace gangrun::net
