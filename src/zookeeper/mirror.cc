#include "zookeeper/mirror.h"

#include <utility>

#include "base/format.h"

namespace gangrun::zookeeper {

Mirror::Mirror(net::EventLoop& loop, base::Logger& logger, Options options,
               std::function<void(const std::string&)> on_trouble)
    : loop_(loop),
      logger_(logger),
      options_(std::move(options)),
      on_trouble_(std::move(on_trouble)) {
  open();
  judge();
}

Mirror::~Mirror() = default;

void Mirror::want(std::vector<Node> nodes) {
  keeper_.want(std::move(nodes));
  pump();
}

void Mirror::open() {
  auto session = Session::open(
      loop_, options_.session,
      [this](SessionState state, const std::string& reason) { on_state(state, reason); });
  if (!session.ok()) return again(session.error().message);
  session_ = *std::move(session);
  reopen_ = loop_.after(kNewSessionAfter, [this] { again(reason_); });
}

// The session is over, or has never begun; the next one begins after a pause.
void Mirror::again(std::string reason, base::Duration pause) {
  reason_ = std::move(reason);
  is_connected_ = false;
  keeper_.disconnected();
  // Not at once: this may be a callback of the session.
  reopen_ = loop_.after(pause, [this] {
    session_.reset();
    open();
  });
  judge();
}

void Mirror::on_state(SessionState state, const std::string& reason) {
  switch (state) {
    case SessionState::kConnected:
      reopen_.reset();
      is_connected_ = true;
      is_announced_ = false;
      retry_pause_.reset();
      keeper_.connected();
      return pump();
    case SessionState::kConnecting:
      reason_ = base::format("no server answers ({})", reason);
      if (!std::exchange(is_connected_, false)) return;
      logger_.info("ZooKeeper: the connection is lost: {}", reason);
      keeper_.disconnected();
      reopen_ = loop_.after(kNewSessionAfter, [this] { again(reason_); });
      return judge();
    case SessionState::kExpired:
      logger_.info("ZooKeeper: the session has expired; there will be another one");
      return again("no server answers");
    case SessionState::kRefused:
      // A login that fails again and again can lock its user out.
      return again(reason, refused_pause_.next());
  }
}

void Mirror::pump() {
  if (is_connected_) {
    for (const Operation& operation : keeper_.next()) {
      session_->send(operation, [this, operation](const ServerAnswer& answer) {
        if (answer.code == ServerAnswer::Code::kDone) refused_pause_.reset();
        keeper_.done(operation, answer);
        if (keeper_.has_room()) pump();
      });
    }
    if (keeper_.has_failed() && !retry_.pending()) {
      retry_ = loop_.after(retry_pause_.next(), [this] {
        keeper_.retry();
        pump();
      });
    }
  }
  judge();
}

std::string Mirror::behind() const {
  if (keeper_.is_settled()) return "";
  if (!is_connected_) return reason_.empty() ? "no server answers" : reason_;
  return keeper_.trouble().empty() ? "the servers are slow" : keeper_.trouble();
}

void Mirror::judge() {
  const bool is_settled = keeper_.is_settled();
  if (is_settled) {
    patience_.reset();
    retry_pause_.reset();
    was_settled_ = true;
    if (!std::exchange(is_announced_, true)) logger_.info("ZooKeeper has all of the registry");
    if (std::exchange(is_told_, false)) on_trouble_("");
    return;
  }
  if (std::exchange(was_settled_, false) || (!is_told_ && !patience_.pending())) {
    patience_ = loop_.after(options_.patience, [this] {
      is_told_ = true;
      on_trouble_(behind());
    });
  }
}

}  // namespace gangrun::zookeeper
