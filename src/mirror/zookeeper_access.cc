#include "mirror/zookeeper_access.h"

#include <chrono>
#include <optional>
#include <string>

#include "base/format.h"

namespace gangrun::mirror {

namespace {

using zookeeper::Session;
using zookeeper::SessionState;

// How long the servers may take that a job cannot be without, and how often each is tried.
constexpr std::chrono::seconds kTryLimit(20);
constexpr std::size_t kTriesOfEach = 3;
// How often who waits for them is asked whether he still does.
constexpr std::chrono::milliseconds kCancelInterval(100);

}  // namespace

Session::Options session_options(net::EventLoop& loop, const job::ZooKeeper& zookeeper,
                                 const ZooKeeperAccess& access) {
  Session::Options options;
  options.servers = zookeeper.hosts;
  if (zookeeper.tls) {
    options.tls.emplace(zookeeper::Tls{.authorities_pem = access.files.authorities_pem,
                                       .certificate_pem = access.files.certificate_pem,
                                       .key_pem = access.files.key_pem});
  }
  switch (zookeeper.login) {
    case job::ZooKeeperLogin::kNone: break;
    case job::ZooKeeperLogin::kDigest:
      options.login = zookeeper::digest_login(zookeeper.user, access.files.password);
      break;
    case job::ZooKeeperLogin::kKerberos:
      options.login = kerberos_login(loop, access.kerberos, zookeeper.principal);
      break;
  }
  return options;
}

base::Result<> try_zookeeper(net::EventLoop& loop, const job::ZooKeeper& zookeeper,
                             const ZooKeeperAccess& access,
                             const std::function<bool()>& is_cancelled) {
  std::optional<base::Result<>> outcome;
  std::string reason = "no server answers";
  std::unique_ptr<Session> session;
  const auto asked = [&outcome](const zookeeper::ServerAnswer& answer) {
    // Whether it may be seen is not asked; a lost answer comes with another state.
    if (answer.code != zookeeper::ServerAnswer::Code::kLost && !outcome) outcome = base::Result<>();
  };
  std::size_t tries_left = kTriesOfEach * zookeeper.hosts.size();
  const auto on_state = [&](SessionState state, const std::string& why) {
    if (!why.empty()) reason = why;
    if (state == SessionState::kConnecting && --tries_left == 0) {
      outcome = base::unavailable(reason);
    } else if (state == SessionState::kConnected) {
      session->send({.verb = zookeeper::Operation::Verb::kLook, .node = {.path = "/"}}, asked);
    } else if (state != SessionState::kConnecting) {
      outcome = base::Error{base::Code::kUnauthenticated, reason};
    }
  };
  GANGRUN_ASSIGN(session, Session::open(loop, session_options(loop, zookeeper, access), on_state));
  net::Timer look;
  const std::function<void()> look_again = [&] { look = loop.after(kCancelInterval, look_again); };
  look_again();
  const bool is_over =
      loop.run_until([&] { return outcome.has_value() || is_cancelled(); }, loop.now() + kTryLimit);
  if (is_over && !outcome) return base::Error{base::Code::kCancelled, "ZooKeeper was asked"};
  if (!outcome) outcome = base::unavailable(reason);
  if (outcome->ok()) return {};
  return base::Error{outcome->error().code,
                     base::format("ZooKeeper ({}) does not take the job, which is not started "
                                  "without it (zookeeper.required): {}",
                                  base::join(zookeeper.hosts, ","), outcome->error().message)};
}

}  // namespace gangrun::mirror
