#pragma once

#include <cstdint>
#include <optional>

#include "gang/gang.h"
#include "job/spec.h"
#include "simulation/random.h"

namespace gangrun::simulation {

// The longest latency of one message.
inline constexpr std::int64_t kMaxLatencyMs = 900;

// How bad the world is. Chances are out of a thousand.
struct Mischief {
  int slow_place = 0;       // allocation takes up to longer than its limit
  int no_report = 0;        // an agent that never reports
  int failing = 0;          // of a run: it fails
  int port_lost = 0;        // of a run
  int could_not_start = 0;  // of a run
  int agent_death = 0;      // of an agent: it dies some time
  int evicted = 0;          // of such a death: the place has taken the agent away
  int broken = 0;           // of a run whose peer was taken away: it fails for want of it
  int session_break = 0;    // of an agent: its session breaks some time
  int partition = 0;        // of an agent: nothing reaches it for a while
  int host_lost = 0;        // of a partition: it never ends
  int disobedient = 0;      // of a run: it ignores SIGTERM
  int hung = 0;             // of an agent: it ignores commands
  int unkillable = 0;       // of a hung agent: Kill does not help
  int duplicate = 0;        // of a message: it comes twice
  int same_port = 0;        // of a new agent: it gets the wanted address
  int stop_request = 0;     // of the job
  int cluster_gone = 0;     // of the job
  int replay = 0;           // of a step: the journal is replayed beside it
  int master_death = 0;     // of a write or a decision: the master dies in it
  int master_killed = 0;    // of the job: the master is killed some time
  int disk_full = 0;        // of the job: for a while
};

// Everything that is settled before a job starts.
struct Schedule {
  std::uint64_t seed = 0;
  job::JobSpec spec;
  gang::Gang::Limits limits;
  Mischief mischief;
  std::int64_t longest_run_ms = 0;
  int tasks = 0;
  int struck = 0;             // trouble of its own befalls about so many tasks; 0: any
  int most_masters = 12;      // a job in which no master lives long enough does not end
  std::int64_t lease_ms = 0;  // of the agents: timeouts.master_lost
  std::int64_t heartbeat_ms = 0;
};

// Makes a schedule of `tasks` tasks, or of as many as the seed says: mostly up to 8; 2 of a hundred
// schedules have up to 64, and 1 of kLargeOneOf up to 10,000.
inline constexpr int kLargeOneOf = 4000;
inline constexpr int kManyTasks = 64;
Schedule make_schedule(std::uint64_t seed, Random& random, std::optional<int> tasks = {});

}  // namespace gangrun::simulation
