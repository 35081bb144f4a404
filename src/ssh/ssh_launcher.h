#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/log_times.h"
#include "cluster/launcher.h"
#include "net/event_loop.h"
#include "net/interfaces.h"
#include "net/posts.h"
#include "ssh/host_links.h"
#include "ssh/host_records.h"
#include "ssh/host_slots.h"
#include "ssh/keeper_messages.h"

namespace gangrun::ssh {

// A file of this machine that the hosts are to have.
struct HostFile {
  std::string path;
  std::string name;        // in the working folder
  std::uint64_t size = 0;  // when the job was made
  bool is_executable = false;
  bool is_folder = false;  // without what is in it
};

// The most that a host brings of what no `outputs` names, by default.
inline constexpr std::int64_t kDefaultOutputsMib = 256;

// Tasks on hosts that ssh reaches. Each host has a keeper (node/keeper.h), which starts its agents
// and carries their connections to the master's socket, and their logs. A link that breaks is
// opened again; only when the lease of a host's agents must be over are they told as lost with it.
// Destroying it ends what the hosts have of the job, and waits for it.
class SshLauncher final : public cluster::Launcher {
 public:
  struct Options {
    std::string job_id;
    std::vector<job::Host> hosts;  // as the links are
    int tasks = 0;                 // how many there will be, with spares
    std::string master_socket;
    std::string log_folder;  // where the logs of tasks go, as agents beside the master write them
    std::string master_log;  // where that goes which agents say of themselves
    // How long agents go on without the master.
    std::chrono::milliseconds master_lost{0};
    bool agents_outlive_us = false;
    // Whether there can be no agents yet, so that none is adopted.
    bool is_first_master = true;
    // For hosts that have the working folder; others get the files.
    std::map<std::string, std::string> environment;
    std::vector<HostFile> files;
    std::string interface;  // of the hosts' addresses; empty: the job asks for none
    // The files that are brought from hosts without the working folder: by task type what is kept
    // of its files; absent: what is new or has changed, up to a limit in bytes for each host.
    std::map<std::string, std::optional<std::vector<std::string>>> outputs;
    std::uint64_t outputs_limit = 0;
    bool keep_folders = false;  // on their hosts
    std::string remark{};       // in which folders of the working folder tasks work; empty: in it
    std::string output_folder;  // for what is brought, with a folder for each host
    std::string hosts_file;     // for the record of what hosts have (host_records.h)
  };

  // Links that are not up are opened.
  SshLauncher(net::EventLoop& loop, base::Logger& logger, std::unique_ptr<HostLinks> links,
              Options options);
  ~SshLauncher() override;

  // Ends the job on all hosts, once; the last call. An error: what may be left on which of them,
  // for the user.
  base::Result<> end();
  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    outbox_.on_event(std::move(listener));
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override;
  void adopt(const job::TaskId& task, int attempt, const base::Json& handle) override;
  void release_others() override;
  void stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) override;
  // Waits for lines that tasks have written and that are still on their way, and then for files.
  void hurry() override;
  void settle(std::function<void()> done) override;
  void cut_short() override;
  [[nodiscard]] std::int64_t pid_here(const job::TaskId& /*task*/,
                                      std::int64_t /*pid*/) const override {
    return 0;
  }

 private:
  struct Agent;
  struct Host;
  using Key = std::pair<job::TaskId, int>;

  void emit(cluster::LaunchEvent event) { outbox_.tell(std::move(event)); }
  void look_for_places();
  std::string place(Agent& agent);
  [[nodiscard]] std::set<std::string> unusable_hosts() const;
  void send_start(Agent& agent);
  void supersede_earlier(const Agent& agent);
  void send_adopt(Agent& agent);
  void ended(const Key& key, job::Why why, std::optional<job::RunEnd> run = {});

  void on_up(Host& host);
  void ping();
  void ping_all();
  void lose_silent_keepers();
  [[nodiscard]] bool is_silent(const Host& host) const;
  void tell_silent();
  void begin_known();
  base::Result<> choose_addresses_of_all();
  void choose_address_of(Host& host);
  void begin(Host& host);
  void say_where_tasks_work();
  void on_down(Host& host, const base::Error& why, bool can_pass);
  void give_up(Host& host);
  void tell_lost_lines(const Host& host, const std::vector<Key>& lost);
  void on_frame(Host& host, const Frame& frame);
  void on_message(Host& host, const base::Json& json);
  void on_log(Host& host, const LogFrame& frame);
  bool keep_lines(Host& host, const LogFrame& frame);
  void heard_lines(Host& host, std::uint64_t bytes);
  void take_lines(Host& host);
  void keep_tail(Host& host, Agent& agent, const EndedMessage& end);
  void tell_late(const Agent& agent);
  void look_at_tails();
  void give_up_tails(const Host* only);
  void tails_over();
  [[nodiscard]] bool has_tail(const job::TaskId& task) const;
  void on(Host& host, const BegunMessage& message);
  void on(Host& host, const WaitingMessage& message);
  void on(Host& host, const AllocatedMessage& message);
  void on(Host& host, const EndedMessage& message);
  void on(Host& host, const RefusedMessage& message);
  void on(Host& host, const OutputMessage& message);
  void on(Host& host, const FileFrame& frame);
  void on(Host& host, const BroughtMessage& message);
  void on(Host& host, const LogsGoneMessage& message);
  void recall_hosts();
  void record_hosts() const;
  static Rest rest_of(const Host& host);
  [[nodiscard]] BringMessage bring_of(const Host& host) const;
  void bring_outputs();
  void ask_for_outputs(Host& host);
  void await_more(Host& host);
  [[nodiscard]] bool is_bringing(const Host& host) const;
  void check_output(Host& host, const base::Result<>& done);
  void fail_bringing(Host& host, std::string why);
  void end_bringing(Host& host);
  void settle_if_over();
  void await_return(Host& host);
  void lose_folder(Host& host);
  void send_files(Host& host);
  base::Result<> open_file(Host& host, const HostFile& file);
  void ready(Host& host);
  [[nodiscard]] static net::ChosenAddress address_of(const Host& host);
  [[nodiscard]] std::string log_path(const job::TaskId& task, bool is_error) const;
  void refuse_message(Host& host, std::string_view op);
  // None: there is none of that name.
  Host* host_of(const std::string& name);
  // None: the host has no such agent, whoever else has.
  Agent* find(const Host& host, std::uint32_t number);

  net::EventLoop& loop_;
  net::Outbox<cluster::LaunchEvent> outbox_;
  base::Logger& logger_;
  const Options options_;
  std::unique_ptr<HostLinks> links_;
  HostSlots slots_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::function<void()> settled_;  // of settle(), until it is called
  std::map<Key, std::unique_ptr<Agent>> agents_;
  std::uint32_t next_agent_ = 1;
  // Agents that have ended, by their numbers, of which lines are still to come; and until when.
  std::map<std::uint32_t, std::unique_ptr<Agent>> tails_;
  net::Timer lines_limit_;
  std::uint64_t all_log_bytes_ = 0;  // that came
  net::Timer room_look_;             // while lines wait for room on our disk
  bool are_lines_awaited_ = false;   // of settle(), before files are brought
  net::Timer ping_timer_;
  const base::Instant begun_at_;
  std::optional<base::Instant> hurried_at_;  // first
  net::Timer hurry_limit_;
  bool has_said_where_ = false;
  bool has_addresses_ = false;
  bool released_;                                // what is not adopted by now, need not go on
  std::string waits_for_;                        // what was last told
  std::set<std::string> changed_files_;          // of which that was told
  std::set<std::string> broken_logs_;            // that could not be written
  std::map<std::string, base::LogTimes> times_;  // by the logs that are written here
  bool is_ended_ = false;
};

}  // namespace gangrun::ssh
