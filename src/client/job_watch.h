#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cluster/site.h"
#include "job/status.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::client {

// The questions of a command that stays with a job of a cluster, again and again. Questions to a
// cluster block, so each kind has a thread and a way to the job of its own; what they bring comes
// to the loop.
class JobWatch {
 public:
  struct Callbacks {
    // Gives the time until the next look.
    std::function<base::Duration(const job::JobStatus& status)> on_status;
    // The cluster cannot be asked, which changes nothing: the job goes on. Told once until it can
    // be asked again. Also for what did not reach the job.
    std::function<void(const std::string& sentence)> on_trouble;
  };

  // The next look where there was no answer is after `pause`.
  JobWatch(net::EventLoop& loop, base::Duration pause, Callbacks callbacks);

  // Looks for the first time now.
  void start(std::unique_ptr<cluster::Job> of_status, std::unique_ptr<cluster::Job> of_orders);
  // Asks for the job's end, again and again while nobody answers; one that has ended already is
  // fine.
  void stop(bool at_once, const std::string& by);
  // Whether somebody has taken the last order to stop.
  [[nodiscard]] bool is_told() const { return is_told_; }
  // Why nobody has, as far as it is known.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // Has the tasks told that their place may end them.
  void give_notice(const std::string& by);

 private:
  struct Order {
    bool at_once = false;
    std::string by;
  };

  void ask_to_stop();
  void on_stopped(const base::Result<>& answer, const Order& asked);
  void tell_trouble(const std::string& sentence);
  void look();
  void on_answer(const base::Result<job::JobStatus>& status);

  net::EventLoop& loop_;
  const base::Duration pause_;
  const Callbacks callbacks_;
  bool told_silent_ = false;
  std::optional<Order> order_;  // the last one
  bool is_asking_ = false;
  bool is_told_ = false;
  std::string trouble_;
  std::string told_trouble_;
  net::Timer timer_;
  net::Timer again_;
  std::unique_ptr<cluster::Job> of_status_;
  std::unique_ptr<cluster::Job> of_orders_;
  // Last: what runs on them uses the others.
  net::Workers status_worker_;
  net::Workers order_worker_;
};

}  // namespace gangrun::client
