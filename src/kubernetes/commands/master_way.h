#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/pod_forwarder.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::kubernetes::commands {

// The way of a command to the master of a job in its pod: a port of this machine that leads there.
// For one thread; loop and client outlive it.
class MasterWay {
 public:
  MasterWay(net::EventLoop& loop, kubernetes::Client& client);
  MasterWay(const MasterWay&) = delete;
  MasterWay& operator=(const MasterWay&) = delete;

  // The answer of `ask`, which gets the master's address here and blocks until `deadline` at most;
  // it runs on a thread of its own, and the loop here meanwhile. kUnavailable: nobody answers.
  template <typename T>
  base::Result<T> call(const std::string& pod, const std::string& fingerprint,
                       base::Instant deadline,
                       std::function<base::Result<T>(const net::Endpoint& master)> ask);

 private:
  base::Result<net::Endpoint> aim(const std::string& pod, const std::string& fingerprint);
  void wait(const std::function<bool()>& done, base::Instant deadline);
  // The error with what is known of the way.
  [[nodiscard]] base::Error explained(base::Error error);

  net::EventLoop& loop_;
  std::optional<base::Error> broken_;
  PodForwarder forwarder_;
  std::uint16_t port_ = 0;  // 0: not opened yet
  // Last: it goes first, and waits for who still asks.
  net::Workers worker_;
};

template <typename T>
base::Result<T> MasterWay::call(const std::string& pod, const std::string& fingerprint,
                                base::Instant deadline,
                                std::function<base::Result<T>(const net::Endpoint& master)> ask) {
  GANGRUN_ASSIGN(const net::Endpoint endpoint, aim(pod, fingerprint));
  const auto answer = std::make_shared<std::optional<base::Result<T>>>();
  GANGRUN_TRY(worker_.run([ask = std::move(ask), endpoint] { return ask(endpoint); },
                          [answer](base::Result<T> said) { *answer = std::move(said); }));
  wait([&answer] { return answer->has_value(); }, deadline);
  if (!*answer) return explained(base::deadline_exceeded("the job's master has not answered"));
  if ((*answer)->ok()) return **std::move(answer);
  return explained((*answer)->error());
}

}  // namespace gangrun::kubernetes::commands
