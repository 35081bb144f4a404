#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "cluster/cluster.h"
#include "cluster/yarn/allocation.h"
#include "hadoop/application_master.h"
#include "hadoop/node_manager.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::cluster {

// The first look for an answer after an ask, doubled from look to look up to the other; between
// them an answer takes hardly longer than the scheduler does.
inline constexpr std::chrono::milliseconds kFirstPoll{10};
inline constexpr std::chrono::milliseconds kLongestPoll{1000};
// One call to a daemon, and for how long a ResourceManager may be away before it is given up.
inline constexpr std::chrono::seconds kCallTimeout{20};
inline constexpr std::chrono::minutes kResourceManagerTimeout{15};
// Nodes that are spoken to at the same time.
inline constexpr int kNodeThreads = 8;

// Tasks as containers of one YARN application, whose ApplicationMaster this process is. The
// ResourceManager is spoken to by one thread, the NodeManagers by others, so that one which does
// not answer delays only its own containers.
class YarnCluster final : public Cluster {
 public:
  struct Options {
    job::JobSpec spec;
    std::string job_id;
    std::string host;          // of this process, as agents and clients reach it
    std::string tracking_url;  // of the job's page; empty: none
    std::string logs_url;      // where YARN leads when the job has ended; empty: to its own page
    // The nodes as the client saw them, for asks that name hosts.
    std::vector<hadoop::NodeReport> nodes;
    // What every container gets beside its credentials.
    std::map<std::string, hadoop::LocalResource> files;
    // What those of one task type get besides.
    std::map<std::string, std::map<std::string, hadoop::LocalResource>> archives;
    std::map<std::string, std::string> environment;
    std::vector<std::string> agent_command;  // with "{name}" for the task's name
    hadoop::Credentials credentials;         // without the master's own token
    std::function<double()> random;          // from 0 to 1
    // From the ResourceManager's notice of a preemption to the preemption.
    std::chrono::milliseconds preemption_wait{std::chrono::seconds(15)};
  };
  // Under which the agent finds its configuration among the container's credentials.
  static constexpr const char* kAgentConfigSecret = "gangrun.agent";
  // Of the container: yarn.application.classpath as it is configured, for the agent to make the
  // task's CLASSPATH of what the node has.
  static constexpr const char* kClassPathVariable = "GANGRUN_APPLICATION_CLASSPATH";

  YarnCluster(net::EventLoop& loop, base::Logger& logger,
              std::unique_ptr<hadoop::ApplicationMasterClient> resource_manager, Options options);
  ~YarnCluster() override;

  // Registers the application's master, to be reached at `port`. What start() and adopt() were
  // asked for waits for it.
  void begin(std::uint16_t port);
  // Tells YARN how the application has ended, then calls `done`. Nothing is asked for any more.
  void finish(hadoop::FinalStatus status, std::string diagnostics,
              std::function<void(base::Result<>)> done);
  // Containers that are started from now on get these tokens.
  void set_tokens(std::map<std::string, hadoop::Token> tokens) {
    options_.credentials.tokens = std::move(tokens);
  }
  // This attempt has been replaced or killed: its process has to end, without a verdict.
  [[nodiscard]] bool is_unwanted() const { return unwanted_; }

  void on_event(std::function<void(Event)> listener) override;
  void start(const job::TaskId& task, int attempt, Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override;
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t) const override { return 0; }

 private:
  using Key = std::pair<job::TaskId, int>;
  struct Asked {
    Key key;
    Launch launch;
  };
  struct Running {
    Key key;
    hadoop::NodeId node;
    bool adopted = false;
    int looks = 0;  // answers of the ResourceManager without it, for an adopted one
    std::optional<base::Instant> preempted_at{};  // as was told
  };
  struct Node;
  struct Exchange;
  struct Answer;

  [[nodiscard]] std::int64_t number_of(const job::TaskId& task) const;
  [[nodiscard]] ContainerWish wish_of(const job::TaskId& task, const Launch& launch) const;
  void emit(Event event);
  void end(const hadoop::ContainerId& id, job::Why why);

  void poll_soon();
  void arm(std::chrono::milliseconds delay);
  void exchange();
  void on_answer(Answer answer);
  void on_registered(const hadoop::Registered& registered);
  void on_allocated(const hadoop::AllocateResponse& response);
  void on_failed(const base::Error& error);
  void give_up_asking();
  void on_completed(const hadoop::ContainerStatus& status);
  void take_over(const std::vector<hadoop::Container>& containers);
  void look_for_adopted();
  void tell_preemption(const hadoop::Preemption& preemption);
  void tell_waiting(const hadoop::AllocateResponse& response);

  void use_tokens(const std::vector<hadoop::NodeToken>& tokens);
  void launch(const Allocation::Granted& granted);
  hadoop::LaunchContext context_of(const Asked& asked, const hadoop::NodeId& node) const;
  void work_on(const std::shared_ptr<Node>& node);
  void on_started(const hadoop::ContainerId& id, const base::Result<>& result);

  net::EventLoop& loop_;
  base::Logger& logger_;
  Options options_;
  std::map<job::TaskId, std::int64_t> numbers_;
  std::shared_ptr<hadoop::ApplicationMasterClient> resource_manager_;
  std::function<void(Event)> listener_;
  Allocation allocation_;
  std::map<std::int64_t, Asked> asked_;
  std::map<hadoop::ContainerId, Running> running_;
  std::set<hadoop::ContainerId> others_;  // live containers of earlier attempts that nobody adopted
  bool others_are_released_ = false;
  std::map<hadoop::NodeId, std::shared_ptr<Node>> nodes_;

  std::uint16_t port_ = 0;
  bool began_ = false;
  bool registered_ = false;
  bool busy_ = false;  // a call to the ResourceManager is under way
  bool unwanted_ = false;
  bool finishing_ = false;
  std::optional<hadoop::AllocateRequest> unsent_;  // until it has succeeded
  std::chrono::milliseconds pause_ = kFirstPoll;
  std::optional<base::Instant> silent_since_;
  bool told_silent_ = false;
  std::string queue_;  // as YARN calls it
  std::string waits_for_;
  std::function<void()> after_call_;
  net::Timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  net::Workers resource_manager_worker_;
  net::Workers node_workers_;  // last: what runs on them uses the others
};

}  // namespace gangrun::cluster
