#include "zookeeper/session.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#define THREADED  // the client with threads of its own has fewer functions
#include <zookeeper/zookeeper.h>

#include "base/format.h"

namespace gangrun::zookeeper {

namespace {

// Of the client's log: it would go to standard error.
constexpr auto kNoLog = static_cast<ZooLogLevel>(0);

Answer answer_of(int code) {
  switch (code) {
    case ZOK: return {};
    case ZNODEEXISTS: return {.code = Answer::Code::kExists};
    case ZNONODE: return {.code = Answer::Code::kMissing};
    case ZNOTEMPTY: return {.code = Answer::Code::kNotEmpty};
    case ZUNIMPLEMENTED: return {.code = Answer::Code::kUnsupported};
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZINVALIDSTATE:
    case ZCLOSING:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED: return {.code = Answer::Code::kLost};
    case ZNOAUTH:
      return {.code = Answer::Code::kFailed, .reason = "its ACL does not let the job do that"};
    default: return {.code = Answer::Code::kFailed, .reason = ::zerror(code)};
  }
}

int mode_of(Kind kind) {
  switch (kind) {
    case Kind::kPersistent: return ZOO_PERSISTENT;
    case Kind::kContainer: return ZOO_CONTAINER;
    case Kind::kEphemeral: return ZOO_EPHEMERAL;
  }
  return ZOO_PERSISTENT;
}

// The client's structures want texts that can be written to.
class Acl {
 public:
  Acl(Access access, std::vector<Administrator> administrators)
      : administrators_(std::move(administrators)) {
    const ACL anyone{access == Access::kAnyone ? ZOO_PERM_ALL : ZOO_PERM_READ,
                     {world_.data(), anyone_.data()}};
    // Whoever this session has shown credentials of.
    const ACL owner{ZOO_PERM_ALL, {auth_.data(), nobody_.data()}};
    if (access != Access::kAnyone) {
      entries_.push_back(owner);
      for (Administrator& one : administrators_) {
        entries_.push_back({ZOO_PERM_ALL, {one.scheme.data(), one.id.data()}});
      }
    }
    if (access != Access::kOwner) entries_.push_back(anyone);
  }
  Acl(const Acl&) = delete;
  Acl& operator=(const Acl&) = delete;

  [[nodiscard]] ACL_vector vector() {
    return {static_cast<std::int32_t>(entries_.size()), entries_.data()};
  }

 private:
  std::string world_ = "world";
  std::string anyone_ = "anyone";
  std::string auth_ = "auth";
  std::string nobody_;
  std::vector<Administrator> administrators_;
  std::vector<ACL> entries_;
};

int size_of(const std::string& text) { return static_cast<int>(text.size()); }

}  // namespace

struct Session::Impl {
  // What the client's threads are given with each operation; lives until it is answered.
  struct Pending {
    Impl* impl = nullptr;
    std::uint64_t number = 0;
    std::function<void(Answer)> done;
  };

  Impl(net::EventLoop& event_loop, base::Secret secret, std::function<void(SessionState)> callback)
      : loop(event_loop), credentials(std::move(secret)), on_state(std::move(callback)) {}
  ~Impl() {
    // Joins the client's threads: nothing of what they hold is used afterwards.
    if (handle != nullptr) ::zookeeper_close(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static void watch(zhandle_t* handle, int type, int state, const char* path, void* context);
  static void on_authenticated(int code, const void* data);
  static void on_string(int code, const char* value, const void* data) {
    (void)value;
    answered(data, answer_of(code));
  }
  static void on_stat(int code, const Stat* stat, const void* data) {
    (void)stat;
    answered(data, answer_of(code));
  }
  static void on_looked(int code, const Stat* stat, const void* data);
  static void on_void(int code, const void* data) { answered(data, answer_of(code)); }
  static void answered(const void* data, Answer answer);
  void tell(SessionState state);
  void on_told(SessionState state);
  int start(const Operation& operation, const Pending* to_answer) const;

  net::EventLoop& loop;
  base::Secret credentials;
  std::vector<Administrator> administrators;
  bool has_shown = false;  // the credentials: the client shows them again after each reconnection
  std::function<void(SessionState)> on_state;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // what is posted has it weakly
  std::map<std::uint64_t, std::unique_ptr<Pending>> pending;
  std::uint64_t last_number = 0;
  zhandle_t* handle = nullptr;
};

// On a thread of the client, perhaps before open() has returned.
void Session::Impl::watch(zhandle_t* handle, int type, int state, const char* path, void* context) {
  (void)handle;
  (void)path;
  if (type != ZOO_SESSION_EVENT) return;
  auto& impl = *static_cast<Impl*>(context);
  if (state == ZOO_CONNECTED_STATE) {
    impl.tell(SessionState::kConnected);
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    impl.tell(SessionState::kExpired);
  } else if (state == ZOO_AUTH_FAILED_STATE) {
    impl.tell(SessionState::kRefused);
  } else {
    impl.tell(SessionState::kConnecting);
  }
}

void Session::Impl::on_authenticated(int code, const void* data) {
  if (code == ZAUTHFAILED) {
    // The client gives back as constant what it was given.
    auto* impl = const_cast<Impl*>(static_cast<const Impl*>(data));  // NOLINT(*-const-cast)
    impl->tell(SessionState::kRefused);
  }
}

void Session::Impl::tell(SessionState state) {
  loop.post([this, state, weak = std::weak_ptr(alive)] {
    if (!weak.expired()) on_told(state);
  });
}

// The credentials go first: the client does not take them between two connections.
void Session::Impl::on_told(SessionState state) {
  if (state == SessionState::kConnected && !has_shown && !credentials.empty()) {
    const std::string& shown = credentials.reveal();
    // Where this connection is lost already, that is told next.
    if (::zoo_add_auth(handle, "digest", shown.data(), size_of(shown), on_authenticated, this) !=
        ZOK) {
      return;
    }
    has_shown = true;
  }
  on_state(state);
}

void Session::Impl::on_looked(int code, const Stat* stat, const void* data) {
  Answer answer = answer_of(code);
  const auto* pending = static_cast<const Pending*>(data);
  const clientid_t* own = ::zoo_client_id(pending->impl->handle);
  answer.is_ours = code == ZOK && stat->ephemeralOwner == own->client_id;
  answered(data, std::move(answer));
}

void Session::Impl::answered(const void* data, Answer answer) {
  const auto* pending = static_cast<const Pending*>(data);
  Impl& impl = *pending->impl;
  impl.loop.post([&impl, number = pending->number, answer = std::move(answer),
                  weak = std::weak_ptr(impl.alive)] {
    if (weak.expired()) return;
    const auto found = impl.pending.find(number);
    if (found == impl.pending.end()) return;
    const auto done = std::move(found->second->done);
    impl.pending.erase(found);
    done(answer);
  });
}

int Session::Impl::start(const Operation& operation, const Pending* to_answer) const {
  const Node& node = operation.node;
  switch (operation.verb) {
    case Operation::Verb::kCreate: {
      Acl acl(node.access, administrators);
      const ACL_vector entries = acl.vector();
      return ::zoo_acreate(handle, node.path.c_str(), node.data.data(), size_of(node.data),
                           &entries, mode_of(node.kind), on_string, to_answer);
    }
    case Operation::Verb::kSet:
      return ::zoo_aset(handle, node.path.c_str(), node.data.data(), size_of(node.data), -1,
                        on_stat, to_answer);
    case Operation::Verb::kDelete:
      return ::zoo_adelete(handle, node.path.c_str(), -1, on_void, to_answer);
    case Operation::Verb::kLook:
      return ::zoo_aexists(handle, node.path.c_str(), 0, on_looked, to_answer);
  }
  return ZBADARGUMENTS;
}

Session::Session(Private, std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

base::Result<std::unique_ptr<Session>> Session::open(net::EventLoop& loop, const Options& options,
                                                     std::function<void(SessionState)> on_state) {
  ::zoo_set_debug_level(kNoLog);
  auto impl = std::make_unique<Impl>(loop, options.credentials, std::move(on_state));
  impl->administrators = options.administrators;
  const std::string servers = base::format("{}", base::join(options.servers, ","));
  errno = 0;
  impl->handle =
      ::zookeeper_init(servers.c_str(), Impl::watch, static_cast<int>(options.timeout.count()),
                       nullptr, impl.get(), ZOO_NO_LOG_CLIENTENV);
  if (impl->handle == nullptr) {
    return base::from_errno(errno == 0 ? EINVAL : errno,
                            base::format("begin a ZooKeeper session with {}", servers));
  }
  return std::make_unique<Session>(Private{}, std::move(impl));
}

void Session::send(const Operation& operation, std::function<void(Answer)> done) {
  const std::uint64_t number = ++impl_->last_number;
  const auto [item, added] = impl_->pending.emplace(
      number, std::make_unique<Impl::Pending>(Impl::Pending{impl_.get(), number, std::move(done)}));
  const int code = impl_->start(operation, item->second.get());
  if (code != ZOK) Impl::answered(item->second.get(), answer_of(code));
}

}  // namespace gangrun::zookeeper
