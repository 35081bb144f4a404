#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gang/gang.h"
#include "journal/recorded_gang.h"
#include "master/agent_places.h"
#include "master/call_back.h"
#include "master/decision_gate.h"
#include "master/direct_runs.h"
#include "master/line_files.h"
#include "master/master.h"
#include "master/result_store.h"
#include "master/task_facts.h"
#include "master/zookeeper_copy.h"
#include "registry/join.h"
#include "registry/server.h"

namespace gangrun::master {

// To stop a task without any grace.
inline constexpr std::chrono::milliseconds kAtOnce(0);

class Master::Impl {
 public:
  Impl(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
       cluster::Cluster& cluster, journal::Writer& journal, Listener& listener, Settings settings)
      : loop_(loop),
        clock_(clock),
        logger_(logger),
        cluster_(cluster),
        journal_(journal),
        listener_(listener),
        settings_(std::move(settings)),
        recorded_(settings_.past ? std::move(settings_.past->gang)
                                 : gang::Gang(settings_.spec, gang_limits(settings_.master_lost)),
                  journal, settings_.can_be_followed),
        gang_(recorded_.gang()),
        state_(gang_.state()),
        gate_(settings_.far_copy, [this](const gang::Decision& decision) { carry_out(decision); }),
        places_(settings_.past ? std::move(settings_.past->places) : AgentPlaces::Places()),
        results_(settings_.result_folder, settings_.far_results),
        submitted_(base::to_iso8601(settings_.past ? settings_.past->submitted : clock.wall_now())),
        server_(loop, settings_.secret,
                {.heartbeat = registry::heartbeat_of(
                     static_cast<int>(settings_.spec.task_ids().size()), settings_.master_lost),
                 .master_lost = settings_.master_lost},
                callbacks(), logger),
        call_back_(loop, logger, [this](const auto& task) { return server_.is_connected(task); }) {}

  base::Result<> start();
  void set_tokens(base::Secret file) { server_.set_tokens(std::move(file)); }
  void set_trouble(std::string sentence) { trouble_ = std::move(sentence); }
  void request_stop(std::string by, bool at_once) {
    if (is_settling_) return cluster_.cut_short();
    const bool is_urgent = at_once || gang_.state() == job::JobState::kStopping;
    handle(gang::StopRequested{std::move(by), at_once});
    // Behind all that is decided for it.
    if (is_urgent) cluster_.hurry();
  }
  int give_notice(const std::string& by);
  [[nodiscard]] job::JobStatus status() const;
  [[nodiscard]] std::uint16_t tls_port() const { return tls_port_; }
  [[nodiscard]] bool lines_are_told() const { return server_.lines_are_told(); }
  [[nodiscard]] bool is_settling() const { return is_settling_; }

 private:
  registry::ServerCallbacks callbacks();

  base::Result<std::uint16_t> listen_tls();
  void resume();
  void handle(gang::Event event, std::optional<journal::PlaceRecord> place = {});
  void act_upon(const journal::RecordedGang::Handled& handled);
  void tell_of_journal();
  void on_time();
  void conclude();
  void carry_out(const gang::Decision& decision);
  void arm_timer();

  void on_cluster(const cluster::Event& event);
  void on(const cluster::Waiting& event);
  void on(const cluster::Allocated& event);
  void on(const cluster::PreemptionNotice& event);
  void on(const job::AgentEnded& event);
  void on(const cluster::Gone& event);
  void on(const cluster::HostSilent& event);
  void on(const cluster::Remark& event);
  void on_direct(const cluster::DirectEvent& event);
  void on_run(const cluster::RunStarted& event);
  void on_run(const cluster::RunLine& event);
  void on_run(const job::Exited& event);
  void on_run(const cluster::RunWarning& event);
  void report_slot(const job::TaskId& task, int attempt);
  void run_direct(const gang::Start& decision);
  void tell_notice(const job::TaskId& task);
  registry::JoinAnswer on_join(const registry::JoinRequest& request);
  void on_desk(registry::DeskEvent event);
  void on(const registry::Reported& event);
  void on(const registry::Reattached& event);
  void on(const registry::Started& event);
  void on(const job::Exited& event);
  void on(const registry::Heartbeat& event);
  void on(registry::LogLines& event);
  void on(const registry::PortLost& event);
  void on(const registry::SessionLost& event);
  void note_lost_outputs(const job::TaskId& task);
  void end_if_given_up(const job::TaskId& task);
  void tell_line(const job::TaskId& task, bool is_error, const std::string& line,
                 std::optional<base::WallTime> time = {});
  void on(registry::FiguresTold& event);
  void on(const registry::ResultPart& event);

  void publish(const job::ClusterSpec& spec);
  void obey(const gang::Allocate& decision);
  void obey(const gang::Publish& decision);
  void obey(const gang::Start& decision);
  void obey(const gang::Stop& decision);
  void obey(const gang::End& decision);
  void obey(const gang::Kill& decision);
  void obey(const gang::Warn& decision);
  void obey(const gang::Finish& decision);
  void note_all_started();
  void record(const base::Result<>& written);
  [[nodiscard]] job::TaskStatus status_of(const gang::Task& task) const;

  net::EventLoop& loop_;
  const base::Clock& clock_;
  base::Logger& logger_;
  cluster::Cluster& cluster_;
  journal::Writer& journal_;
  Listener& listener_;
  Settings settings_;
  journal::RecordedGang recorded_;
  const gang::Gang& gang_;
  job::JobState state_;  // that was recorded last
  DecisionGate gate_;
  AgentPlaces places_;
  ResultStore results_;
  std::optional<LineFiles> line_files_;  // where the tasks write none that we could read
  std::string submitted_;
  std::string ended_;
  std::optional<base::Instant> finished_at_;
  std::optional<job::Cause> cause_;
  std::string trouble_;
  std::vector<std::string> remarks_;  // of the place
  net::Timer remarks_timer_;
  std::int64_t all_started_ms_ = -1;
  std::uint16_t tls_port_ = 0;
  bool journal_failed_ = false;
  bool was_behind_ = false;
  std::map<job::TaskId, TaskFacts> facts_;
  DirectRuns direct_runs_;
  std::shared_ptr<const job::ClusterSpec>
      direct_cluster_;  // what the runs of this generation are told
  bool handling_ = false;
  bool is_settling_ = false;  // the place brings what the tasks have written
  net::Timer timer_;
  registry::Server server_;
  CallBack call_back_;
  std::unique_ptr<ZooKeeperCopy> zookeeper_;  // where the job asks for one
};

}  // namespace gangrun::master
