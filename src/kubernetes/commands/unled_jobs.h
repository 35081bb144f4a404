#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/site.h"

namespace gangrun::kubernetes::commands {

// The jobs of this machine, those among them that an earlier version detached to Kubernetes without
// agents. They have no master, and nobody asks their pods any more: of them what was seen last is
// told. For one thread.
class UnledJobs final : public cluster::Site {
 public:
  UnledJobs(std::string home, std::unique_ptr<cluster::Site> others)
      : home_(std::move(home)), others_(std::move(others)) {}

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view name) override;

 private:
  const std::string home_;
  const std::unique_ptr<cluster::Site> others_;
};

}  // namespace gangrun::kubernetes::commands
