#include "kubernetes/commands/master_way.h"

#include <algorithm>

#include "base/format.h"
#include "kubernetes/pods/master_names.h"

namespace gangrun::kubernetes::commands {

namespace {

// The question keeps its own limit; its end comes to the loop a moment later.
constexpr base::Duration kAnswerSlack = base::seconds(1);
// The reason why a way broke comes after the end of the connection.
constexpr base::Duration kReasonLimit = std::chrono::milliseconds(200);

}  // namespace

MasterWay::MasterWay(net::EventLoop& loop, kubernetes::Client& client)
    : loop_(loop),
      forwarder_(loop, client, [this](const base::Error& error) { broken_ = error; }),
      worker_(loop, 1) {}

base::Result<net::Endpoint> MasterWay::aim(const std::string& pod, const std::string& fingerprint) {
  if (port_ == 0) {
    GANGRUN_ASSIGN(port_, forwarder_.listen(0));
  }
  broken_.reset();
  forwarder_.set_target(PodPort{pod, pods::kMasterPort});
  return net::Endpoint::on_tls("127.0.0.1", port_, fingerprint);
}

void MasterWay::wait(const std::function<bool()>& done, base::Instant deadline) {
  (void)loop_.run_until(done, deadline + kAnswerSlack);
}

base::Error MasterWay::explained(base::Error error) {
  const bool is_silence =
      error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
  if (is_silence) {
    (void)loop_.run_until([this] { return broken_.has_value(); }, loop_.now() + kReasonLimit);
  }
  // All else follows from a way that broke.
  if (broken_) return base::unavailable(base::format("its master: {}", broken_->message));
  return is_silence ? base::unavailable(base::format("its master: {}", error.message)) : error;
}

}  // namespace gangrun::kubernetes::commands
