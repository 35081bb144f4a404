#pragma once

#include "host/backend.h"

namespace gangrun::client {

// The tasks run on this machine, beside their master.
class LocalBackend final : public host::Backend {
 public:
  [[nodiscard]] std::chrono::milliseconds master_lost(const job::JobSpec& spec,
                                                      bool tasks_outlive_us) const override;
  void settle(const job::JobSpec& spec, master::Settings& settings) const override;
  base::Result<std::unique_ptr<cluster::Cluster>> make_cluster(const host::BackendInput& input,
                                                               master::Settings& settings) override;
};

}  // namespace gangrun::client
