#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "client/context.h"
#include "client/task_way.h"
#include "job/spec.h"
#include "kubernetes/client.h"
#include "kubernetes/commands/pod_forwarder.h"
#include "kubernetes/pods/owner.h"
#include "kubernetes/pods/pod_facts.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

// The way to a task that is a pod. Whichever pod the task has, it is found by its labels and its
// owner.
class PodWay final : public client::TaskWay {
  struct Private {};

 public:
  explicit PodWay(Private) {}
  // Runs the loop until it is known which pod the task has. `port` 0: any. `on_broken` is told why
  // a connection broke.
  static base::Result<std::unique_ptr<client::TaskWay>> make(
      net::EventLoop& loop, const client::Context& context, const job::JobSpec& spec,
      const std::string& job, const job::TaskId& task, std::uint16_t port,
      std::function<void(const base::Error&)> on_broken);

  [[nodiscard]] bool has_agent() const override { return has_agent_; }
  base::Result<std::string> take(const job::TaskStatus* task,
                                 const base::Result<client::TaskAgent>& agent) override;
  // An error where the job has no agents: it says what to use in their place.
  base::Result<net::Endpoint> to_agent(const client::TaskAgent& agent) override;
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  void try_once(std::function<void(base::Result<>)> done) override {
    forwarder_->try_once(std::move(done));
  }

 private:
  void watch(const std::string& job, const job::TaskId& task);
  void on_pod(const base::Json& pod, bool is_deleted);
  void aim();
  [[nodiscard]] const pods::PodFacts* running_pod() const;

  const std::unique_ptr<base::Logger> logger_ =
      base::stderr_logger("gangrun open", base::LogLevel::kWarning);
  bool has_agent_ = false;
  std::uint16_t port_ = 0;
  std::uint16_t task_port_ = 0;  // 0: not known yet
  pods::Owner owner_;
  std::map<std::string, pods::PodFacts> pods_;  // by name
  std::optional<base::Error> trouble_;          // of the watch
  bool has_listed_ = false;
  bool is_refused_ = false;  // for good
  std::unique_ptr<kubernetes::Client> client_;
  std::unique_ptr<PodForwarder> forwarder_;
  kubernetes::ActivityHandle watch_;
};

}  // namespace gangrun::kubernetes::commands
