#pragma once

#include <memory>
#include <optional>

#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/opening.h"

namespace gangrun::kubernetes {

// Client::exec().
class ExecStream final : public Activity {
 public:
  ExecStream(Core& core, const ExecRequest& request, base::Instant deadline,
             ExecCallbacks callbacks);

 private:
  void on_open(Opening::Result channel);
  void on_message(std::string_view message);
  void end(base::Result<int> result);

  const std::shared_ptr<const ExecCallbacks> callbacks_;
  net::Timer limit_;
  std::optional<Opening> opening_;
  std::unique_ptr<net::Channel> channel_;
};

}  // namespace gangrun::kubernetes
