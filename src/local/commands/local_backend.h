#pragma once

#include "host/backend.h"

namespace gangrun::local::commands {

// The tasks run on this machine, beside their master.
class LocalBackend final : public host::Backend {
 public:
  [[nodiscard]] std::chrono::milliseconds master_lost(const job::JobSpec& spec,
                                                      bool tasks_outlive_us) const override;
  base::Result<host::MadeTasks> make_tasks(const host::BackendInput& input) override;
};

}  // namespace gangrun::local::commands
