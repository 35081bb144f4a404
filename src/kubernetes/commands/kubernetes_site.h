#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/context.h"
#include "cluster/site.h"

namespace gangrun::kubernetes::commands {

// The jobs of this machine, those on Kubernetes among them that no client leads: their pods are
// asked, and what was seen last is kept in the job's folder. All others are left to `others`. For
// one thread; `context` outlives it and its jobs.
class KubernetesSite final : public cluster::Site {
 public:
  KubernetesSite(std::string home, const client::Context& context,
                 std::unique_ptr<cluster::Site> others)
      : home_(std::move(home)), context_(context), others_(std::move(others)) {}

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view name) override;

 private:
  const std::string home_;
  const client::Context& context_;
  const std::unique_ptr<cluster::Site> others_;
};

}  // namespace gangrun::kubernetes::commands
