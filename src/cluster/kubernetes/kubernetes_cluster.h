#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cluster/direct.h"
#include "cluster/kubernetes/manifests.h"
#include "cluster/kubernetes/pod_outputs.h"
#include "kubernetes/client.h"
#include "net/event_loop.h"

namespace gangrun::cluster {

// How long a job's objects outlive a client that is silent, and how often it says that it is there.
inline constexpr std::chrono::seconds kClientLease{60};
inline constexpr std::chrono::seconds kLeaseRenewal{20};

// Tasks as pods of one namespace. Owns nothing of the cluster: what it made there belongs to an
// object with a deadline, which it keeps moving.
class KubernetesCluster final : public Direct {
 public:
  struct Options {
    std::string output_folder;  // of the client; TYPE-INDEX/ in it is made for a task's outputs
    Unpack unpack;              // for them
    std::function<double()> random;  // from 0 to 1
    std::chrono::seconds lease = kClientLease;
  };

  KubernetesCluster(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client,
                    Manifests manifests, const Options& options);
  ~KubernetesCluster() override;

  // Makes the owner and all but the pods, or finds those of an earlier client (same job id, for
  // adopt()). run() waits for it. Its error comes as Gone, too.
  void begin();
  // Deletes all that is there, waits until it is gone (with a limit) and calls `done`: with an
  // error that names what is left, if something is.
  void clear(std::function<void(base::Result<>)> done);
  // What clear() waits for ("pods a-worker-0").
  [[nodiscard]] std::string left() const;

  void on_event(std::function<void(Event)> listener) override;
  void on_direct_event(std::function<void(DirectEvent)> listener) override;
  void start(const job::TaskId& task, int attempt, Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override;
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }
  [[nodiscard]] job::Address address_of(const job::TaskId& task) const override;
  [[nodiscard]] std::vector<std::uint16_t> more_ports_of(const job::TaskId& task) const override;
  void run(const job::TaskId& task, DirectRun run) override;
  void end_run(const job::TaskId& task, std::chrono::milliseconds grace) override;
  int give_notice(const std::string& by) override;
  [[nodiscard]] std::string waiting_for() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangrun::cluster
