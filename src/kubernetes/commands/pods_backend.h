#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/backend.h"
#include "kubernetes/access.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/checked_maps.h"
#include "kubernetes/pods/manifests.h"

namespace gangrun::kubernetes::commands {

// The tasks are pods, or have agents in pods. `manifests` is without the job's id, which its folder
// gives.
class PodsBackend final : public host::Backend {
 public:
  // `home`: the folder of the jobs of this machine.
  PodsBackend(kubernetes::Access access, pods::ManifestInput manifests, const std::string& home)
      : access_(std::move(access)), manifests_(std::move(manifests)), checked_maps_(home) {}

  base::Result<> reach(net::EventLoop& loop, const base::Clock& clock, const job::JobSpec& spec,
                       const std::function<bool()>& is_cancelled) override;
  [[nodiscard]] std::chrono::milliseconds master_lost(const job::JobSpec& spec,
                                                      bool tasks_outlive_us) const override;
  base::Result<host::MadeTasks> make_tasks(const host::BackendInput& input) override;
  void hurry(net::EventLoop& loop) override;
  [[nodiscard]] std::string silent() const override;
  base::Result<> clear(net::EventLoop& loop, const std::function<void(const std::string&)>& tell,
                       const std::function<bool()>& is_left) override;

 private:
  // The job's objects on the cluster, and how all of them are taken away.
  struct Pods {
    std::function<void(std::function<void(base::Result<>)> done)> clear;
    std::function<std::string()> left;
  };

  host::MadeTasks make_pods(const host::BackendInput& input, pods::Manifests manifests);
  host::MadeTasks make_agents(const host::BackendInput& input, pods::Manifests manifests);

  kubernetes::Access access_;
  pods::ManifestInput manifests_;
  std::unique_ptr<base::Logger> logger_;
  std::unique_ptr<kubernetes::Client> client_;
  std::string job_id_;
  CheckedMaps checked_maps_;
  std::optional<Pods> pods_;             // the master's
  kubernetes::ActivityHandle question_;  // whether the server answers
  bool is_asked_ = false;
  bool has_answered_ = false;
};

}  // namespace gangrun::kubernetes::commands
