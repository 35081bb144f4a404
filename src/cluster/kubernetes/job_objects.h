#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "cluster/kubernetes/errands.h"
#include "cluster/kubernetes/lease_clock.h"
#include "cluster/kubernetes/manifests.h"
#include "job/reason.h"
#include "kubernetes/client.h"
#include "net/event_loop.h"

namespace gangrun::cluster {

// All of a job but its pods: made, and kept alive by moving the owner's deadline.
class JobObjects {
 public:
  struct Callbacks {
    std::function<void()> on_ready;  // all is there
    // It never will be, or is not any more.
    std::function<void(const std::string& sentence, job::Reason reason)> on_gone;
    std::function<void()> on_heard;  // the API server has answered
  };

  JobObjects(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
             const Manifests& manifests, std::chrono::seconds lease, std::chrono::seconds renewal,
             Callbacks callbacks);

  void begin();
  // Once the owner is there.
  [[nodiscard]] const Owner& owner() const { return owner_; }
  // The owner's deadline is not moved any more, and nothing is made.
  void end();

 private:
  using Then = std::function<void(base::Json made, bool is_new)>;

  void make(base::Json object, base::Instant limit, Then then);
  void on_answer(base::Json object, base::Instant limit, kubernetes::Answer answer, Then then);
  void find(base::Json object, Then then);
  void on_owner(const base::Json& job, bool is_new);
  void make_rest();
  void renew();
  void on_renewed(kubernetes::Answer answer);
  void gone(const std::string& sentence, job::Reason reason = job::Reason::kClusterGone);
  [[nodiscard]] std::string owner_path() const;

  net::EventLoop& loop_;
  base::Logger& logger_;
  const Manifests& manifests_;
  const std::chrono::seconds lease_;
  const std::chrono::seconds renewal_;
  Callbacks callbacks_;
  Errands errands_;
  Owner owner_;
  LeaseClock clock_;
  std::size_t missing_ = 0;
  bool has_ended_ = false;
  std::vector<net::Timer> again_;
  net::Timer renew_timer_;
};

}  // namespace gangrun::cluster
