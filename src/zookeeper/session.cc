#include "zookeeper/session.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "net/byte_stream.h"
#include "net/call.h"
#include "net/frames.h"
#include "net/posts.h"
#include "zookeeper/wire.h"

namespace gangrun::zookeeper {

namespace {

// After each server was tried once.
constexpr std::chrono::seconds kPauseOfARound(1);
constexpr std::chrono::seconds kShortestTry(1);
// The limit of one step of a login: a server of Kerberos may have to answer for it.
constexpr std::chrono::seconds kLoginStepLimit(30);

// The port on which ZooKeeper listens by default.
constexpr std::string_view kDefaultPort = "2181";

}  // namespace

ServerAddress parse_server(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || bracket < colon);
  ServerAddress server{text.substr(0, has_port ? colon : text.size()),
                       has_port ? text.substr(colon + 1) : std::string(kDefaultPort)};
  if (server.host.starts_with('[') && server.host.ends_with(']')) {
    server.host = server.host.substr(1, server.host.size() - 2);
  }
  return server;
}

std::string to_string(const ServerAddress& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  return base::format("{}{}{}:{}", is_ipv6 ? "[" : "", server.host, is_ipv6 ? "]" : "",
                      server.port);
}

class Session::Impl {
 public:
  // The state of one server.
  struct Target {
    std::string name;
    std::string host;
    std::shared_ptr<const net::Remote> remote;
  };
  static base::Result<Target> target_of(const std::string& text, const std::optional<Tls>& tls) {
    const ServerAddress address = parse_server(text);
    Target target{.name = to_string(address), .host = address.host, .remote = nullptr};
    net::RemoteOptions options;
    options.url = base::format("{}://{}", tls ? "https" : "http", target.name);
    if (tls) {
      options.authorities_pem = tls->authorities_pem;
      options.certificate_pem = tls->certificate_pem;
      options.key_pem = tls->key_pem;
    }
    GANGRUN_ASSIGN(target.remote, net::Remote::make(options));
    return target;
  }

  Impl(net::EventLoop& loop, const Options& options, std::vector<Target> targets, OnState on_state)
      : loop_(loop),
        posts_(loop),
        credentials_(options.credentials),
        administrators_(options.administrators),
        start_login_(options.login),
        has_tls_(options.tls.has_value()),
        has_certificate_(options.tls && !options.tls->certificate_pem.empty()),
        targets_(std::move(targets)),
        on_state_(std::move(on_state)),
        timeout_(options.timeout) {
    // Not all sessions with the first.
    std::shuffle(targets_.begin(), targets_.end(), std::random_device());
    next_try_ = loop_.after(base::Duration::zero(), [this] { connect(); });
  }
  ~Impl() {
    if (is_live()) stream_->send(close_request(++last_number_));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void send(const Operation& operation, std::function<void(ServerAnswer)> done) {
    if (!is_live()) return answer_later(std::move(done), {.code = ServerAnswer::Code::kLost});
    const std::int32_t number = ++last_number_;
    pending_.push_back({number, operation, std::move(done)});
    stream_->send(operation_request(number, operation, administrators_));
  }

 private:
  enum class Stage { kDialing, kLogin, kLive };
  struct Pending {
    std::int32_t number = 0;
    Operation operation{};
    std::function<void(ServerAnswer)> done;
  };

  [[nodiscard]] const Target& target() const { return targets_[current_]; }
  [[nodiscard]] bool is_live() const { return stage_ == Stage::kLive; }

  void connect() {
    frames_ = net::FrameReader(kMaxFrameBytes);
    is_open_ = false;
    const base::Duration limit = std::max<base::Duration>(
        timeout_ / static_cast<std::int64_t>(targets_.size()), kShortestTry);
    silence_ = loop_.after(limit, [this] { lose("it does not answer"); });
    stream_ = std::make_unique<net::ByteStream>(
        loop_, target().remote, loop_.now() + limit,
        net::ByteStream::Callbacks{
            .on_connected =
                [this] {
                  is_open_ = true;
                  stream_->send(connect_request(session_, timeout_, last_transaction_));
                },
            .on_bytes = [this](std::string_view bytes) { on_bytes(bytes); },
            .on_closed =
                [this](const base::Error& error) { lose(error.message + hint_at_close()); }});
  }

  // The words about a server that has ended a connection without a word.
  [[nodiscard]] std::string hint_at_close() const {
    if (stage_ != Stage::kDialing || !is_open_) return "";
    if (!has_tls_) return "; it may take only TLS (zookeeper.tls)";
    return has_certificate_ ? "; it may refuse the job's certificate"
                            : "; it may want to see a certificate by TLS (zookeeper.certificate)";
  }

  void on_bytes(std::string_view bytes) {
    frames_.feed(bytes);
    while (stream_ != nullptr) {
      auto frame = frames_.next();
      if (!frame.ok()) {
        return lose(base::format("it does not speak as ZooKeeper does: {}", frame.error().message));
      }
      if (!*frame) break;
      const auto understood = stage_ == Stage::kDialing ? on_welcome(**frame) : on_reply(**frame);
      if (!understood.ok()) return lose(understood.error().message);
    }
    if (is_live()) hear();
  }

  base::Result<> on_welcome(std::string_view frame) {
    GANGRUN_ASSIGN(Welcome welcome, parse_welcome(frame));
    if (welcome.timeout <= std::chrono::milliseconds::zero()) {
      end(SessionState::kExpired, "");
      return {};
    }
    session_ = std::move(welcome.session);
    timeout_ = welcome.timeout;
    if (!start_login_) {
      begin();
      return {};
    }
    stage_ = Stage::kLogin;
    login_ = start_login_(target().host);
    login_posts_.emplace(loop_);
    has_heard_login_ = false;
    log_in("");
    return {};
  }

  // The session is there, and is who it says.
  void begin() {
    stage_ = Stage::kLive;
    tries_ = 0;
    // The servers take what comes in its order, so nobody waits for their consent.
    if (!credentials_.empty()) stream_->send(credentials_request(credentials_));
    ping_later();
    on_state_(SessionState::kConnected, "");
  }

  void log_in(const std::string& challenge) {
    silence_ = loop_.after(kLoginStepLimit, [this] { lose("the login takes too long"); });
    // Whoever answers at once does not expect to be gone then.
    login_->respond(challenge, [this](base::Result<std::string> token) {
      login_posts_->post([this, token = std::move(token)] { on_login(token); });
    });
  }

  void on_login(const base::Result<std::string>& token) {
    if (!token.ok()) return end(SessionState::kRefused, token.error().message);
    login_number_ = ++last_number_;
    stream_->send(login_request(login_number_, *token));
  }

  base::Result<> on_login_reply(const Reply& reply) {
    if (reply.number != login_number_) {
      return base::invalid_argument("it answers what it was not asked");
    }
    GANGRUN_ASSIGN(const std::string token, login_token_of(reply));
    // So do servers without SASL, and those that let in whose login has failed.
    const bool is_first = !std::exchange(has_heard_login_, true);
    if (is_first && token.empty()) {
      end(SessionState::kRefused, "it does not answer a login by SASL");
      return {};
    }
    if (!login_->has_answered()) {
      log_in(token);
      return {};
    }
    const base::Result<> finished = login_->finish(token);
    if (!finished.ok()) {
      end(SessionState::kRefused, finished.error().message);
      return {};
    }
    drop_login();
    begin();
    return {};
  }

  base::Result<> on_reply(std::string_view frame) {
    GANGRUN_ASSIGN(const Reply reply, parse_reply(frame));
    if (reply.number == kPingNumber || reply.number == kNoticeNumber) return {};
    if (reply.number == kCredentialsNumber) {
      if (reply.code != 0) end(SessionState::kRefused, "it refuses the job's digest");
      return {};
    }
    if (std::string refusal = refusal_of(reply); !refusal.empty()) {
      end(SessionState::kRefused, refusal);
      return {};
    }
    if (stage_ == Stage::kLogin) return on_login_reply(reply);
    if (pending_.empty() || pending_.front().number != reply.number) {
      return base::invalid_argument("it answers what it was not asked");
    }
    GANGRUN_ASSIGN(ServerAnswer answer, answer_of(reply, pending_.front().operation, session_.id));
    last_transaction_ = std::max(last_transaction_, reply.transaction);
    answer_later(std::move(pending_.front().done), std::move(answer));
    pending_.pop_front();
    return {};
  }

  // Three times in a session's time, so that one may be late.
  void ping_later() {
    next_ping_ = loop_.after(timeout_ / 3, [this] {
      stream_->send(ping_request());
      ping_later();
    });
  }

  void hear() {
    silence_ = loop_.after(timeout_ * 2 / 3, [this] { lose("it does not answer any more"); });
  }

  void drop() {
    stream_.reset();
    silence_.reset();
    next_ping_.reset();
    drop_login();
    stage_ = Stage::kDialing;
    for (Pending& each : std::exchange(pending_, {})) {
      answer_later(std::move(each.done), {.code = ServerAnswer::Code::kLost});
    }
  }

  void drop_login() {
    login_.reset();
    login_posts_.reset();
  }

  void lose(const std::string& reason) {
    const std::string told = base::format("{}: {}", target().name, reason);
    drop();
    current_ = (current_ + 1) % targets_.size();
    const bool is_round = ++tries_ % targets_.size() == 0;
    next_try_ =
        loop_.after(is_round ? kPauseOfARound : std::chrono::seconds(0), [this] { connect(); });
    on_state_(SessionState::kConnecting, told);
  }

  void end(SessionState state, const std::string& reason) {
    const std::string told = reason.empty() ? "" : base::format("{}: {}", target().name, reason);
    drop();
    on_state_(state, told);
  }

  void answer_later(std::function<void(ServerAnswer)> done, ServerAnswer answer) {
    posts_.post([done = std::move(done), answer = std::move(answer)] { done(answer); });
  }

  net::EventLoop& loop_;
  const net::Posts posts_;
  const base::Secret credentials_;
  const std::vector<Administrator> administrators_;
  const LoginStart start_login_;
  const bool has_tls_;
  const bool has_certificate_;
  std::vector<Target> targets_;
  const OnState on_state_;
  std::chrono::milliseconds timeout_;  // as the server has granted it, once it has

  SessionKey session_;
  std::int64_t last_transaction_ = 0;
  std::size_t current_ = 0;
  std::size_t tries_ = 0;  // that failed, since the last that did not
  Stage stage_ = Stage::kDialing;
  bool is_open_ = false;  // the connection
  std::unique_ptr<Login> login_;
  std::optional<net::Posts> login_posts_;  // there as long as that
  std::int32_t login_number_ = 0;
  bool has_heard_login_ = false;  // the server's first token
  std::unique_ptr<net::ByteStream> stream_;
  net::FrameReader frames_{kMaxFrameBytes};
  std::deque<Pending> pending_;
  std::int32_t last_number_ = 0;
  net::Timer next_try_;
  net::Timer next_ping_;
  net::Timer silence_;
};

Session::Session(Private, std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

base::Result<std::unique_ptr<Session>> Session::open(net::EventLoop& loop, const Options& options,
                                                     OnState on_state) {
  if (options.servers.empty()) return base::invalid_argument("there is no ZooKeeper server");
  std::vector<Impl::Target> targets;
  for (const std::string& server : options.servers) {
    GANGRUN_ASSIGN(Impl::Target target, Impl::target_of(server, options.tls));
    targets.push_back(std::move(target));
  }
  return std::make_unique<Session>(
      Private{}, std::make_unique<Impl>(loop, options, std::move(targets), std::move(on_state)));
}

void Session::send(const Operation& operation, std::function<void(ServerAnswer)> done) {
  impl_->send(operation, std::move(done));
}

}  // namespace gangrun::zookeeper
