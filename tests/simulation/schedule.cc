#include "simulation/schedule.h"

#include <algorithm>
#include <string>

namespace gangrun::simulation {

namespace {

using std::chrono::milliseconds;

int task_count(Random& random) {
  // A large gang costs as much as thousands of small ones. As many of them are between 100 and 200
  // as between 5,000 and 10,000.
  if (random.between(1, kLargeOneOf) == 1) {
    std::int64_t most = job::kMaxTasks;
    while (most > 2 * kManyTasks && random.chance(500)) most /= 2;
    return static_cast<int>(random.between(std::max<std::int64_t>(most / 2, kManyTasks + 1), most));
  }
  if (random.chance(20)) return static_cast<int>(random.between(9, 64));
  return static_cast<int>(random.between(1, 8));
}

job::TaskSpec task_spec(const std::string& type, int instances) {
  job::TaskSpec task;
  task.type = type;
  task.instances = instances;
  task.policy = job::default_policy(type);
  return task;
}

// Some of the types may be smaller than the job wants them, or have spares.
void make_flexible(job::JobSpec& spec, Random& random) {
  for (job::TaskSpec& task : spec.tasks) {
    const job::Policy policy = job::effective_policy(spec, task);
    if (policy != job::Policy::kTracked && policy != job::Policy::kService) continue;
    if (random.chance(600)) {
      task.min_instances = static_cast<int>(random.between(1, task.instances));
    }
    if (random.chance(500)) task.spares = static_cast<int>(random.between(1, 3));
  }
}

job::JobSpec make_spec(int tasks, Random& random) {
  job::JobSpec spec;
  spec.name = "simulated";
  spec.success = "all";
  spec.command.shell_line = "python train.py";
  int left = tasks;
  const auto add = [&](const std::string& type, int instances) {
    spec.tasks.push_back(task_spec(type, instances));
    left -= instances;
  };
  if (left > 1 && random.chance(500)) {
    add("chief", 1);
    if (random.chance(300)) spec.success = "chief";
  }
  if (left > 1 && random.chance(400)) {
    add("ps", static_cast<int>(random.between(1, std::max(1, left / 2))));
  }
  if (left > 1 && random.chance(400)) {
    add("evaluator", 1);
    const bool awaited = random.chance(800);
    spec.tasks.back().grace = milliseconds(awaited ? random.between(1, 120'000) : 0);
  }
  if (left > 1 && random.chance(300)) {
    add("tensorboard", 1);
    spec.tasks.back().logdir = "runs";
    const bool lingers = random.chance(600);
    spec.tasks.back().grace = milliseconds(lingers ? random.between(1, 200'000) : 0);
  }
  // A job of observers only has them as its tracked tasks.
  add(tasks == 1 && random.chance(50) ? "evaluator" : "worker", left);
  spec.restarts.max = static_cast<int>(random.between(0, 3));
  spec.restarts.scope = static_cast<job::RestartScope>(random.between(0, 2));
  if (spec.restarts.scope == job::RestartScope::kNone) spec.restarts.max = 0;
  spec.restarts.pause = milliseconds(random.chance(500) ? 0 : random.between(1, 20'000));
  spec.timeouts.allocation = milliseconds(random.between(5'000, 600'000));
  spec.timeouts.roll_call = milliseconds(random.between(5'000, 120'000));
  spec.timeouts.stop = milliseconds(random.between(1, 60'000));
  spec.timeouts.shrink = milliseconds(random.between(1, 60'000));
  if (random.chance(400)) make_flexible(spec, random);
  if (random.chance(150)) spec.timeouts.job = milliseconds(random.between(1'000, 900'000));
  return spec;
}

// Most schedules have some kinds of trouble only: everything at once hides what one alone does.
Mischief make_mischief(Random& random) {
  Mischief bad;
  const auto some = [&](int& chance, int most) {
    if (random.chance(300)) chance = static_cast<int>(random.between(1, most));
  };
  some(bad.slow_place, 100);
  some(bad.no_report, 60);
  some(bad.failing, 400);
  some(bad.port_lost, 300);
  some(bad.could_not_start, 60);
  some(bad.agent_death, 300);
  some(bad.evicted, 1000);
  some(bad.broken, 1000);
  some(bad.session_break, 600);
  some(bad.partition, 300);
  some(bad.host_lost, 500);
  some(bad.disobedient, 500);
  some(bad.hung, 100);
  some(bad.unkillable, 500);
  some(bad.duplicate, 300);
  some(bad.stop_request, 600);
  some(bad.cluster_gone, 100);
  some(bad.replay, 20);
  some(bad.master_death, 60);
  some(bad.master_killed, 1000);
  if (random.chance(60)) bad.disk_full = static_cast<int>(random.between(0, 1000));
  bad.same_port = static_cast<int>(random.between(0, 1000));
  return bad;
}

}  // namespace

Schedule make_schedule(std::uint64_t seed, Random& random, std::optional<int> tasks) {
  Schedule schedule;
  schedule.seed = seed;
  schedule.tasks = tasks ? *tasks : task_count(random);
  schedule.spec = make_spec(schedule.tasks, random);
  schedule.limits.max_uncounted_restarts = static_cast<int>(random.between(0, 6));
  schedule.mischief = make_mischief(random);
  schedule.longest_run_ms = random.between(10, random.chance(800) ? 60'000 : 300'000);
  schedule.lease_ms = random.chance(150) ? 0 : random.between(20'000, 90'000);
  schedule.heartbeat_ms = schedule.lease_ms == 0 ? 20'000 : schedule.lease_ms / 3;
  constexpr std::int64_t kAllowanceMs = 5'000;  // what the master adds
  schedule.limits.silence = milliseconds(schedule.lease_ms + kAllowanceMs);
  Mischief& bad = schedule.mischief;
  if (schedule.tasks > kManyTasks) {
    bad.replay = 0;
    schedule.most_masters = 4;
    if (random.chance(700)) schedule.struck = static_cast<int>(random.between(1, 30));
  }
  // Nobody can end what nobody can reach and no force ends.
  if (bad.master_death > 0 || bad.master_killed > 0) bad.unkillable = 0;
  return schedule;
}

}  // namespace gangrun::simulation
