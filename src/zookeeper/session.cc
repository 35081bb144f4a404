#include "zookeeper/session.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "net/byte_stream.h"
#include "net/call.h"
#include "net/frames.h"
#include "zookeeper/servers.h"
#include "zookeeper/wire.h"

namespace gangrun::zookeeper {

namespace {

// After each server was tried once.
constexpr std::chrono::seconds kPauseOfARound(1);
constexpr std::chrono::seconds kShortestTry(1);

}  // namespace

class Session::Impl {
 public:
  // What one server is to us.
  struct Target {
    std::string name;
    std::shared_ptr<const net::Remote> remote;
  };
  static base::Result<Target> target_of(const std::string& text) {
    Target target;
    target.name = to_string(parse_server(text));
    GANGRUN_ASSIGN(target.remote,
                   net::Remote::make({.url = base::format("http://{}", target.name)}));
    return target;
  }

  Impl(net::EventLoop& loop, const Options& options, std::vector<Target> targets, OnState on_state)
      : loop_(loop),
        credentials_(options.credentials),
        administrators_(options.administrators),
        targets_(std::move(targets)),
        on_state_(std::move(on_state)),
        timeout_(options.timeout) {
    // Not all sessions with the first.
    std::shuffle(targets_.begin(), targets_.end(), std::random_device());
    next_try_ = loop_.after(base::Duration::zero(), [this] { connect(); });
  }
  ~Impl() {
    if (is_live_) stream_->send(close_request(++last_number_));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void send(const Operation& operation, std::function<void(Answer)> done) {
    if (!is_live_) return answer_later(std::move(done), {.code = Answer::Code::kLost});
    const std::int32_t number = ++last_number_;
    pending_.push_back({number, operation, std::move(done)});
    stream_->send(operation_request(number, operation, administrators_));
  }

 private:
  struct Pending {
    std::int32_t number = 0;
    Operation operation{};
    std::function<void(Answer)> done;
  };

  [[nodiscard]] const Target& target() const { return targets_[current_]; }

  void connect() {
    frames_ = net::FrameReader(kMaxFrameBytes);
    const base::Duration limit = std::max<base::Duration>(
        timeout_ / static_cast<std::int64_t>(targets_.size()), kShortestTry);
    silence_ = loop_.after(limit, [this] { lose("it does not answer"); });
    stream_ = std::make_unique<net::ByteStream>(
        loop_, target().remote, loop_.now() + limit,
        net::ByteStream::Callbacks{
            .on_connected =
                [this] { stream_->send(connect_request(session_, timeout_, last_transaction_)); },
            .on_bytes = [this](std::string_view bytes) { on_bytes(bytes); },
            .on_closed = [this](const base::Error& error) { lose(error.message); }});
  }

  void on_bytes(std::string_view bytes) {
    frames_.feed(bytes);
    while (stream_ != nullptr) {
      auto frame = frames_.next();
      if (!frame.ok()) {
        return lose(base::format("it does not speak as ZooKeeper does: {}", frame.error().message));
      }
      if (!*frame) break;
      const auto understood = is_live_ ? on_reply(**frame) : on_welcome(**frame);
      if (!understood.ok()) return lose(understood.error().message);
    }
    if (is_live_) hear();
  }

  base::Result<> on_welcome(std::string_view frame) {
    GANGRUN_ASSIGN(Welcome welcome, parse_welcome(frame));
    if (welcome.timeout <= std::chrono::milliseconds::zero()) {
      end(SessionState::kExpired);
      return {};
    }
    session_ = std::move(welcome.session);
    timeout_ = welcome.timeout;
    is_live_ = true;
    tries_ = 0;
    // The servers take what comes in its order, so nobody waits for their consent.
    if (!credentials_.empty()) stream_->send(credentials_request(credentials_));
    ping_later();
    on_state_(SessionState::kConnected, "");
    return {};
  }

  base::Result<> on_reply(std::string_view frame) {
    GANGRUN_ASSIGN(const Reply reply, parse_reply(frame));
    if (reply.number == kPingNumber || reply.number == kNoticeNumber) return {};
    if (reply.number == kCredentialsNumber) {
      if (reply.code != 0) end(SessionState::kRefused);
      return {};
    }
    if (pending_.empty() || pending_.front().number != reply.number) {
      return base::invalid_argument("it answers what it was not asked");
    }
    GANGRUN_ASSIGN(Answer answer, answer_of(reply, pending_.front().operation, session_.id));
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
    is_live_ = false;
    for (Pending& each : std::exchange(pending_, {})) {
      answer_later(std::move(each.done), {.code = Answer::Code::kLost});
    }
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

  void end(SessionState state) {
    const std::string told = base::format("{}: it refuses the job's digest", target().name);
    drop();
    on_state_(state, state == SessionState::kRefused ? told : "");
  }

  void answer_later(std::function<void(Answer)> done, Answer answer) {
    loop_.post(
        [done = std::move(done), answer = std::move(answer), alive = std::weak_ptr<bool>(alive_)] {
          if (!alive.expired()) done(answer);
        });
  }

  net::EventLoop& loop_;
  const base::Secret credentials_;
  const std::vector<Administrator> administrators_;
  std::vector<Target> targets_;
  const OnState on_state_;
  std::chrono::milliseconds timeout_;  // as the server has granted it, once it has

  SessionKey session_;
  std::int64_t last_transaction_ = 0;
  std::size_t current_ = 0;
  std::size_t tries_ = 0;  // that failed, since the last that did not
  bool is_live_ = false;
  std::unique_ptr<net::ByteStream> stream_;
  net::FrameReader frames_{kMaxFrameBytes};
  std::deque<Pending> pending_;
  std::int32_t last_number_ = 0;
  net::Timer next_try_;
  net::Timer next_ping_;
  net::Timer silence_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

Session::Session(Private, std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

base::Result<std::unique_ptr<Session>> Session::open(net::EventLoop& loop, const Options& options,
                                                     OnState on_state) {
  if (options.servers.empty()) return base::invalid_argument("there is no ZooKeeper server");
  std::vector<Impl::Target> targets;
  for (const std::string& server : options.servers) {
    GANGRUN_ASSIGN(Impl::Target target, Impl::target_of(server));
    targets.push_back(std::move(target));
  }
  return std::make_unique<Session>(
      Private{}, std::make_unique<Impl>(loop, options, std::move(targets), std::move(on_state)));
}

void Session::send(const Operation& operation, std::function<void(Answer)> done) {
  impl_->send(operation, std::move(done));
}

}  // namespace gangrun::zookeeper
