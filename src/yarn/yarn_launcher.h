#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "cluster/launcher.h"
#include "hadoop/application_master.h"
#include "hadoop/node_manager.h"
#include "net/deadline_timer.h"
#include "net/event_loop.h"
#include "net/posts.h"
#include "net/workers.h"
#include "yarn/container_book.h"
#include "yarn/master_turns.h"
#include "yarn/preparations.h"
#include "yarn/task_context.h"

namespace gangrun::yarn {

// One call to a daemon.
inline constexpr std::chrono::seconds kCallTimeout{20};
// Nodes that are spoken to at the same time.
inline constexpr int kNodeThreads = 8;

// Tasks as containers of one YARN application, whose ApplicationMaster this process is. The
// ResourceManager is spoken to by one thread, the NodeManagers by others, so that one which does
// not answer delays only its own containers. Which container is whose is decided by ContainerBook,
// when to call the ResourceManager by MasterTurns.
class YarnLauncher final : public cluster::Launcher {
 public:
  struct Options : TaskContents {
    std::string tracking_url{};  // of the job's page; empty: none
    std::string logs_url{};      // where YARN leads when the job has ended; empty: to its own page
    // The nodes as the client saw them, for asks that name hosts.
    std::vector<hadoop::NodeReport> nodes{};
    std::function<double()> random{};  // from 0 to 1
    // From the ResourceManager's notice of a preemption to the preemption.
    std::chrono::milliseconds preemption_wait{std::chrono::seconds(15)};
  };
  // The variable of the container with yarn.application.classpath as it is configured, for the
  // agent to make the task's CLASSPATH of what the node has.
  static constexpr const char* kClassPathVariable = "GANGRUN_APPLICATION_CLASSPATH";

  YarnLauncher(net::EventLoop& loop, base::Logger& logger,
               std::unique_ptr<hadoop::ApplicationMasterClient> resource_manager, Options options);
  ~YarnLauncher() override;

  // Registers the application's master, to be reached at `port`. What start() and adopt()
  // request waits for it.
  void begin(std::uint16_t port);
  // Tells YARN how the application has ended, then calls `done`. Nothing is requested any more.
  void finish(hadoop::FinalStatus status, std::string diagnostics,
              std::function<void(base::Result<>)> done);
  // Containers that are started from now on get these tokens.
  void set_tokens(std::map<std::string, hadoop::Token> tokens) {
    options_.credentials.tokens = std::move(tokens);
  }
  // This attempt has been replaced or killed: its process has to end, without a verdict.
  [[nodiscard]] bool is_unwanted() const { return turns_.is_unwanted(); }

  void on_event(std::function<void(cluster::LaunchEvent)> listener) override;
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override;
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  [[nodiscard]] std::string preparations() const override { return preparations_.words(); }
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }

 private:
  struct Node;
  struct Answer;

  void emit(cluster::LaunchEvent event) { outbox_.tell(std::move(event)); }
  void carry_out();

  void poll_soon();
  void wait_for_turn();
  void call();
  void on_answer(Answer answer);
  void on_failed(const base::Error& error);

  void use_tokens(const std::vector<hadoop::NodeToken>& tokens);
  void launch(const StartContainer& start);
  void end(const StopContainer& stop);
  void work_on(const std::shared_ptr<Node>& node);
  void look_at_preparations();
  void ask(const std::shared_ptr<Node>& node, std::vector<hadoop::ContainerId> containers);
  void on_started(const hadoop::ContainerId& id, const base::Result<>& result);

  net::EventLoop& loop_;
  net::Outbox<cluster::LaunchEvent> outbox_;
  base::Logger& logger_;
  Options options_;
  std::shared_ptr<hadoop::ApplicationMasterClient> resource_manager_;
  ContainerBook book_;
  Preparations preparations_;
  MasterTurns turns_;
  std::map<hadoop::NodeId, std::shared_ptr<Node>> nodes_;
  std::uint16_t port_ = 0;
  std::function<void()> after_call_;
  net::DeadlineTimer timer_;
  net::DeadlineTimer look_timer_;  // at preparations
  net::Workers resource_manager_worker_;
  net::Workers node_workers_;  // last: what runs on them uses the others
};

}  // namespace gangrun::yarn
