#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/described.h"
#include "base/json.h"
#include "base/pause.h"
#include "base/unique_fd.h"
#include "cluster/brought_files.h"
#include "net/interfaces.h"
#include "net/relay.h"
#include "ssh/outputs_report.h"
#include "ssh/ssh_launcher.h"

namespace gangrun::ssh {

// Before a broken link is opened again; twice as long each time, up to the second.
inline constexpr std::chrono::milliseconds kFirstPause(500);
inline constexpr std::chrono::milliseconds kLongestPause(10'000);

// The bytes from one position to another one; none where that does not lie behind it.
constexpr std::uint64_t beyond(std::uint64_t from, std::uint64_t to) {
  return to - std::min(from, to);
}

// The handle of an agent, which is journalled for the next master of the job.
struct AgentHandle {
  std::string host;  // as the user calls it
  std::string run_folder;
  bool works_here = false;
  std::string address;  // of the host; older versions did not write it
  std::uint64_t out_base = 0;
  std::uint64_t error_base = 0;
  base::Json keeper;  // the keeper's own handle

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, AgentHandle, host, run_folder, works_here),
                      base::late_row("address", &AgentHandle::address),
                      GANGRUN_EACH(base::row, AgentHandle, out_base, error_base, keeper));
  }
};

struct SshLauncher::Agent {
  enum class State { kWaiting, kStarting, kRuns };
  // One of its logs, in bytes.
  struct Log {
    // The position at which it begins in ours: of the task's earlier agents there is something
    // before.
    std::uint64_t base = 0;
    std::uint64_t told = 0;  // how much of it has come
    std::uint64_t size = 0;  // how long it is; once the agent has ended

    [[nodiscard]] std::uint64_t missing() const { return beyond(told, size); }
  };

  std::uint32_t number = 0;
  job::TaskId task;
  int attempt = 0;
  State state = State::kWaiting;
  cluster::Launch launch;
  Host* host = nullptr;
  base::Json handle;        // of the keeper; from kRuns on
  std::array<Log, 2> logs;  // of standard output and of standard error
  // A later agent of the task writes to the log behind these lines: what still comes is not kept.
  bool is_superseded = false;
  std::uint64_t late_bytes = 0;                         // of what came then
  std::optional<std::chrono::milliseconds> stop_grace;  // once it was asked to stop
  bool are_logs_gone = false;                           // were removed on the host

  // Whether all of its logs has come, once it has ended.
  [[nodiscard]] bool is_told() const { return logs[0].missing() == 0 && logs[1].missing() == 0; }
};

struct SshLauncher::Host {
  enum class State { kDown, kBeginning, kCopying, kReady };
  enum class Bringing { kNotYet, kAwaited, kGoesOn, kOver };

  std::size_t index = 0;
  HostLink* link = nullptr;
  State state = State::kDown;
  std::unique_ptr<net::Relay> relay;
  std::string run_folder;  // empty: none was made there yet
  // The others know it by this one, where ssh reached it by a loopback address.
  std::optional<net::ChosenAddress> address;
  // Whether its tasks work in the client's folder: as it was when the first of them was to start.
  std::optional<bool> works_here;
  std::string folder_path;  // where it is
  bool had_tasks = false;
  std::set<std::string> types;  // of those
  bool had_others = false;      // of an earlier master, of any type
  bool has_files = false;       // all of them, in that folder
  std::size_t next_file = 0;
  base::UniqueFd file;
  std::uint64_t file_left = 0;
  std::uint64_t agent_log_seen = 0;
  std::string agent_log_part;  // what has come of its last line
  bool is_agent_log_full = false;
  std::string waits_for;
  int waits_told = 0;      // on this connection
  int pings = 0;           // on this connection, that were not answered
  bool is_prompt = false;  // its keeper has answered all pings, since it is ready
  int silent_pings = 0;    // since it last said something
  base::Instant last_heard = base::Instant::min();
  std::uint64_t log_bytes = 0;      // that came since the keeper was last told so
  std::uint64_t all_log_bytes = 0;  // that ever came
  bool is_folder_gone = false;      // was removed there, and that was told
  bool has_said_room = false;       // that its lines wait for room
  bool has_refused = false;
  std::string trouble;     // why it is down
  bool was_up = false;     // ever
  bool has_begun = false;  // was told the job, on this connection
  int tries = 0;
  base::Pause pause{kFirstPause, kLongestPause};
  net::Timer again;
  net::Timer lease;
  Bringing bringing = Bringing::kNotYet;  // of what its tasks have written
  std::unique_ptr<cluster::BroughtFiles> outputs;
  HostReport report;
  net::Timer bring_limit;
  net::Timer return_limit;  // pending: it is awaited, so that its folder goes with the job
  int times_asked = 0;
  // The message to it at the end; it has not been asked, or has not brought all.
  Kept kept = Kept::kWritten;
  bool is_clear = false;  // it has said that nothing is left there
  std::string left;       // after the end: what may be

  [[nodiscard]] const std::string& name() const { return link->host(); }
  // Whether what its tasks have written is to come yet.
  [[nodiscard]] bool is_to_bring() const {
    return bringing == Bringing::kAwaited || bringing == Bringing::kGoesOn;
  }
  // An earlier master had tasks there, in this folder.
  void had_before(std::string folder, bool in_client_folder) {
    run_folder = std::move(folder);
    works_here = in_client_folder;
    has_files = had_tasks = had_others = true;
  }
};

}  // namespace gangrun::ssh
