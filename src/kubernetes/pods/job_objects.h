#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "job/reason.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// Until when the Job that owns everything is to live: it counts from its start by the API server's
// clock, which may differ from ours. What a write answers tells the time there, to the second.
class LeaseClock {
 public:
  // The Job as it was answered to a write of ours.
  void wrote(const base::Json& job, base::Instant now);
  // The Job as it was found: an earlier client may have written it last.
  void found(const base::Json& job);

  // The activeDeadlineSeconds with which it lives at least `lease` from now on.
  [[nodiscard]] std::int64_t deadline_seconds(std::chrono::seconds lease, base::Instant now) const;

 private:
  std::chrono::seconds age_{0};
  std::optional<base::Instant> at_;  // when it was that old; none: only that it is not older
};

// Whether it has come to its deadline: what it owns is being removed.
bool is_lease_over(const base::Json& job);

// How long a job's objects outlive a client that is silent, and how often it says that it is there.
inline constexpr std::chrono::seconds kClientLease{60};
inline constexpr std::chrono::seconds kLeaseRenewal{20};

// All of a job but its pods: made, and kept alive by moving the owner's deadline.
class JobObjects {
 public:
  struct Callbacks {
    std::function<void()> on_owner{};  // the owner is there, and nothing else yet
    std::function<void()> on_ready;    // all is there
    // It never will be, or is not any more.
    std::function<void(const std::string& sentence, job::Reason reason)> on_gone;
    // Somebody has deleted the owner: the cluster removes all that is left.
    std::function<void(const std::string& sentence)> on_deleted;
    std::function<void()> on_owner_there;                     // what look_at_owner() has found
    std::function<void()> on_heard;                           // the API server has answered
    std::function<void(const base::Error& error)> on_silent;  // or it has not
  };

  JobObjects(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
             const Manifests& manifests, Callbacks callbacks);

  void begin();
  // In place of begin(): the owner is there, and somebody else keeps it alive. Nothing is made yet.
  void use(const Owner& owner);
  // Then: all that is a master's in a pod.
  void make_own();
  // Once the owner is there.
  [[nodiscard]] const Owner& owner() const { return owner_; }
  // Whether the owner is there. on_owner_there or one of the others follows, once for all that ask
  // meanwhile.
  void look_at_owner();
  [[nodiscard]] bool is_owner_deleted() const { return is_owner_deleted_; }
  // The owner's deadline is not moved any more, and nothing is made.
  void end();

 private:
  using Then = std::function<void(base::Json made, bool is_new)>;

  void make(base::Json object, base::Instant limit, Then then);
  void on_answer(base::Json object, base::Instant limit, ApiAnswer answer, Then then);
  void find(base::Json object, Then then);
  void on_owner(const base::Json& job, bool is_new);
  void make_all(std::vector<base::Json> objects);
  void renew();
  void on_renewed(ApiAnswer answer);
  void on_looked_at(const ApiAnswer& answer);
  // True where it is gone or going, which is told.
  bool has_lost_owner(const ApiAnswer& answer);
  void gone(const std::string& sentence, job::Reason reason = job::Reason::kClusterGone);

  net::EventLoop& loop_;
  base::Logger& logger_;
  const Manifests& manifests_;
  Callbacks callbacks_;
  Errands errands_;
  Owner owner_;
  LeaseClock clock_;
  std::size_t missing_ = 0;
  bool is_guest_ = false;  // the owner is somebody else's
  bool has_ended_ = false;
  bool is_owner_deleted_ = false;
  base::Instant written_at_{};  // the owner, by us
  std::vector<net::Timer> again_;
  net::Timer renew_timer_;
  net::Timer look_timer_;
};

}  // namespace gangrun::kubernetes::pods
