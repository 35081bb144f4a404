#include "jobfile/spec_yaml.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "jobfile/task_fields.h"

namespace gangrun::jobfile {
namespace {

using std::chrono::milliseconds;

std::string spec_yaml_error(std::string_view text) {
  const auto draft = parse_spec(text, "job.yaml");
  return draft.ok() ? "" : draft.error().message;
}

constexpr std::string_view kWhole = R"(name: wine
tasks:
  chief:     {memory: 2 GiB, vcores: 1}
  worker:    {instances: 2, processes: 4, memory: 2g, vcores: 3, gpus: 1, env: {OMP_NUM_THREADS: 1}}
  ps:        {instances: 1, memory: 1 GiB, overrides: {0: {memory: 2 GiB, vcores: 2, gpus: 0}}}
  evaluator: {memory: 1536, grace: 2 min, policy: sidecar, command: [python, "eval it.py"]}
  tensorboard: {logdir: out/model, expose: host, image: ""}
  bare:
command: python train.py --out out
env: {A: "", B: "x=y"}
framework: [tensorflow, pytorch]
success: chief
restarts: {max: 3, scope: gang}
timeouts: {allocation: 10 min, roll_call: 90, job: 12 h, stop: 500 ms, master_lost: 0}
files: [train.py, conf/]
image: "repo:5000/train:1"
mounts: [/data:ro, /out]
zookeeper: {hosts: [zk1, "zk2:2182"], root: /services, readable_by: job}
on: local
containment: cgroup
notice_signal: TERM
)";

TEST(ParseSpec, ReadsTheTaskTypes) {
  auto draft = parse_spec(kWhole, "job.yaml");
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  std::vector<std::string> types;
  for (const job::TaskSpec& task : draft->spec.tasks) types.push_back(task.type);
  EXPECT_THAT(types,
              testing::ElementsAre("chief", "worker", "ps", "evaluator", "tensorboard", "bare"));
  const job::TaskSpec& worker = *draft->find("worker");
  EXPECT_EQ(worker.instances, 2);
  EXPECT_EQ(worker.processes, 4);
  EXPECT_EQ(worker.resources, (job::Resources{2048, 3, 1}));
  EXPECT_EQ(worker.environment.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(draft->find("ps")->overrides.at(0), (job::ResourceOverride{2048, 2, 0}));
  const job::TaskSpec& evaluator = *draft->find("evaluator");
  EXPECT_EQ(evaluator.resources.memory_mib, 1536);
  EXPECT_EQ(evaluator.grace, milliseconds(120'000));
  EXPECT_EQ(evaluator.policy, job::Policy::kSidecar);
  EXPECT_EQ(evaluator.command, (job::Command{{"python", "eval it.py"}, ""}));
  EXPECT_EQ(draft->find("tensorboard")->logdir, "out/model");
  EXPECT_EQ(draft->find("tensorboard")->expose, job::Expose::kHost);
  EXPECT_EQ(draft->find("tensorboard")->image, "");
  EXPECT_EQ(draft->find("none"), nullptr);
}

TEST(ParseSpec, ReadsTheJob) {
  const auto draft = parse_spec(kWhole, "job.yaml");
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(draft->spec.name, "wine");
  EXPECT_EQ(draft->spec.command, (job::Command{{}, "python train.py --out out"}));
  EXPECT_EQ(draft->spec.environment, (std::map<std::string, std::string>{{"A", ""}, {"B", "x=y"}}));
  EXPECT_THAT(*draft->spec.frameworks,
              testing::ElementsAre(job::Framework::kTensorflow, job::Framework::kPytorch));
  EXPECT_EQ(draft->spec.success, "chief");
  EXPECT_EQ(draft->spec.restarts, (job::Restarts{3, job::RestartScope::kGang}));
  EXPECT_EQ(draft->spec.timeouts.allocation, milliseconds(600'000));
  EXPECT_EQ(draft->spec.timeouts.roll_call, milliseconds(90'000));
  EXPECT_EQ(draft->spec.timeouts.job, milliseconds(43'200'000));
  EXPECT_EQ(draft->spec.timeouts.stop, milliseconds(500));
  EXPECT_EQ(draft->spec.timeouts.master_lost, milliseconds(0));
  EXPECT_THAT(draft->spec.files, testing::ElementsAre("train.py", "conf/"));
  EXPECT_EQ(draft->spec.image, "repo:5000/train:1");
  EXPECT_THAT(draft->spec.mounts,
              testing::ElementsAre(job::Mount{"/data", true}, job::Mount{"/out", false}));
  EXPECT_EQ(draft->spec.zookeeper, (job::ZooKeeper{{"zk1", "zk2:2182"}, "/services", false}));
  EXPECT_EQ(draft->spec.on, "local");
  EXPECT_EQ(draft->spec.containment, job::Containment::kCgroup);
  EXPECT_EQ(draft->spec.notice_signal, job::NoticeSignal::kTerm);
}

TEST(ParseSpec, TellsWhatWasNotGiven) {
  const auto draft = parse_spec("tasks: {worker: }\nframework: none\nrestarts: 2\n", "job.yaml");
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(draft->origins.size(), 5U);  // with those of the type and of restarts.max
  EXPECT_TRUE(draft->is_given("tasks.worker") && draft->is_given("framework"));
  EXPECT_FALSE(draft->is_given("name") || draft->is_given("tasks.worker.instances"));
  EXPECT_TRUE(draft->spec.frameworks.has_value() && draft->spec.frameworks->empty());
  EXPECT_EQ(draft->spec.restarts, (job::Restarts{2, job::RestartScope::kTask}));
}

TEST(ParseSpec, ANumberForATaskTypeIsHowManyThereAre) {
  const auto draft = parse_spec("tasks: {ps: 2, worker: {instances: 4}}\n", "job.yaml");
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  EXPECT_EQ(draft->spec.tasks[0].instances, 2);
  EXPECT_EQ(draft->spec.tasks[1].instances, 4);
}

TEST(ParseSpec, RemembersWhereFieldsStand) {
  const auto draft = parse_spec(kWhole, "job.yaml");
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(draft->origins.at("tasks.worker"), "job.yaml:4:3: ");
  EXPECT_EQ(draft->origins.at("tasks.worker.env.OMP_NUM_THREADS"), "job.yaml:4:81: ");
  EXPECT_EQ(draft->origins.at("success"), "job.yaml:12:10: ");
}

struct Bad {
  std::string text;
  std::string message;
};

void expect_errors(const std::vector<Bad>& cases) {
  for (const Bad& bad : cases) EXPECT_EQ(spec_yaml_error(bad.text), bad.message) << bad.text;
}

std::string all_keys() { return base::format("{}", base::join(keys_of(task_fields()), ", ")); }

// P8: one line that names place, field, value and what is allowed.
TEST(BadSpec, UnknownKeys) {
  const std::string task_keys = all_keys();
  expect_errors({
      {"tasks:\n  worker: {memmory: 2 GiB}\n",
       "job.yaml:2:12: tasks.worker: 'memmory' is not a known key; did you mean 'memory'? "
       "allowed: " +
           task_keys},
      {"tasks: {worker: {zzzzzz: 1}}\n",
       "job.yaml:1:18: tasks.worker: 'zzzzzz' is not a known key; allowed: " + task_keys},
      {"task: {worker: {}}\n",
       "job.yaml:1:1: 'task' is not a known key; did you mean 'tasks'? allowed: name, tasks, "
       "command, env, framework, success, restarts, timeouts, files, archives, image, mounts, "
       "zookeeper, on, outputs, outputs_limit, keep_folders, log_limit, hosts, interface, "
       "containment, stop_signal, stop_signal_to, notice_signal"},
      {"tasks: {w: 1}\nmemory: 2 GiB\n",
       "job.yaml:2:1: 'memory' is not a key of a job; did you mean tasks.TYPE.memory?"},
      {"cpus: 2\ntasks: {w: 1}\n",
       "job.yaml:1:1: 'cpus' is not a key of a job; did you mean tasks.TYPE.vcores?"},
      {"cmd: [train]\ntasks: {w: 1}\n",
       "job.yaml:1:1: 'cmd' is not a known key; did you mean 'command'? allowed: name, tasks, "
       "command, env, framework, success, restarts, timeouts, files, archives, image, mounts, "
       "zookeeper, on, outputs, outputs_limit, keep_folders, log_limit, hosts, interface, "
       "containment, stop_signal, stop_signal_to, notice_signal"},
      {"tasks: {w: 1}\nworkers: 2\n",
       "job.yaml:2:1: 'workers' is not a key of a job; did you mean tasks.TYPE.instances?"},
      {"tasks: {w: 1}\nworker: 2\n",
       "job.yaml:2:1: 'worker' is not a key of a job; did you mean tasks.worker?"},
      {"tasks: {w: {restarts: 2}}\n",
       "job.yaml:1:13: tasks.w: 'restarts' is not a key here; did you mean restarts?"},
      {"tasks: {w: 1}\ntimeouts: {grace: 1 s}\n",
       "job.yaml:2:12: timeouts: 'grace' is not a key here; did you mean tasks.TYPE.grace?"},
      {"roles: {w: 1}\n",
       "job.yaml:1:1: 'roles' is not a known key; did you mean 'tasks'? allowed: name, tasks, "
       "command, env, framework, success, restarts, timeouts, files, archives, image, mounts, "
       "zookeeper, on, outputs, outputs_limit, keep_folders, log_limit, hosts, interface, "
       "containment, stop_signal, stop_signal_to, notice_signal"},
      {"tasks: {w: 1}\nroll_call: 3\n",
       "job.yaml:2:1: 'roll_call' is not a key of a job; did you mean timeouts.roll_call?"},
      {"tasks: {ps: {overrides: {0: {cores: 1}}}}\n",
       "job.yaml:1:30: tasks.ps.overrides.0: 'cores' is not a known key; did you mean 'vcores'? "
       "allowed: memory, vcores, gpus, resources"},
      {"tasks: {w: {ports: {number: 2}}}\n",
       "job.yaml:1:21: tasks.w.ports: 'number' is not a known key; allowed: n, names, hold"},
      {"tasks: {w: {}}\nrestarts: {maxx: 3}\n",
       "job.yaml:2:12: restarts: 'maxx' is not a known key; did you mean 'max'? allowed: max, "
       "scope, pause, max_pause"},
      {"tasks: {w: {}}\nrestarts: {pause: 10 sek}\n",
       "job.yaml:2:19: restarts.pause: '10 sek' is not a time (unknown unit 'sek'; did you mean "
       "'sec'?); allowed: a number with ms, s, min (or m), h or d, at most 365 d, for example 10 "
       "min; a bare number is in seconds"},
      {"tasks: {w: {}}\ntimeouts: {rollcall: 3}\n",
       "job.yaml:2:12: timeouts: 'rollcall' is not a known key; did you mean 'roll_call'? allowed: "
       "allocation, hold, roll_call, job, stop, shrink, master_lost"},
  });
}

TEST(BadSpec, WrongTypes) {
  expect_errors({
      {"tasks: {worker: [3]}\n",
       "job.yaml:1:17: tasks.worker: a list is not allowed; allowed: a map of " + all_keys()},
      {"tasks: {worker: three}\n",
       "job.yaml:1:17: tasks.worker: 'three' is not allowed; allowed: a whole number from 1 to "
       "10000"},
      {"tasks: [worker]\n",
       "job.yaml:1:8: tasks: a list is not allowed; allowed: a map of task types, for example "
       "{worker: {instances: 2}}"},
      {"tasks: {worker: {memory: [2]}}\n",
       "job.yaml:1:26: tasks.worker.memory: a list is not allowed; allowed: an amount of memory, "
       "for example 2 GiB"},
      {"tasks: {worker: {instances: two}}\n",
       "job.yaml:1:29: tasks.worker.instances: 'two' is not allowed; allowed: a whole number from "
       "1 "
       "to 10000"},
      {"tasks: {worker: {env: [A=1]}}\n",
       "job.yaml:1:23: tasks.worker.env: a list is not allowed; allowed: a map of variables to "
       "texts"},
      {"tasks: {worker: {}}\nenv: {A: }\n",
       "job.yaml:2:10: env.A: nothing is not allowed; allowed: a text; an empty one is written "
       "\"\""},
      {"tasks: {worker: {}}\nfiles: train.py\n",
       "job.yaml:2:8: files: 'train.py' is not allowed; allowed: a list of paths"},
      {"tasks: {worker: {}}\ncommand: {a: b}\n",
       "job.yaml:2:10: command: a map is not allowed; allowed: a line for the shell, or a list of "
       "words"},
      {"just a text\n",
       "job.yaml:1:1: 'just a text' is not allowed; allowed: a map of name, tasks, command, env, "
       "framework, success, restarts, timeouts, files, archives, image, mounts, zookeeper, on, "
       "outputs, outputs_limit, keep_folders, log_limit, hosts, interface, "
       "containment, stop_signal, stop_signal_to, notice_signal"},
  });
}

TEST(BadSpec, Ports) {
  expect_errors({
      {"tasks: {w: {ports: 2}}\n",
       "job.yaml:1:20: tasks.w.ports: '2' is not allowed; allowed: a map of n, names, hold"},
      {"tasks: {w: {ports: {n: 0}}}\n",
       "job.yaml:1:24: tasks.w.ports.n: '0' is not allowed; allowed: a whole number from 1 to 64"},
      {"tasks: {w: {ports: {names: http}}}\n",
       "job.yaml:1:28: tasks.w.ports.names: 'http' is not allowed; allowed: a list of names"},
      {"tasks: {w: {ports: {names: []}}}\n",
       "job.yaml:1:28: tasks.w.ports.names: no port is named; allowed: one name or more"},
      {"tasks: {w: {ports: {hold: bind}}}\n",
       "job.yaml:1:27: tasks.w.ports.hold: 'bind' is not a time until which ports are held; "
       "allowed: until-bind, until-exec"},
      {"tasks: {w: {}}\ninterface: [eth0]\n",
       "job.yaml:2:12: interface: a list is not allowed; allowed: the name of an interface, or a "
       "network as 10.0.0.0/8"},
      {"tasks: {w: {}}\ninterface: 'eth 0'\n",
       "job.yaml:2:12: interface: 'eth 0' is neither an interface nor a network; allowed: a name "
       "as eth0, or a network as 10.0.0.0/8 or fd00::/8"},
  });
}

TEST(BadSpec, NegativeAndAbsurdNumbers) {
  expect_errors({
      {"tasks: {worker: {instances: -1}}\n",
       "job.yaml:1:29: tasks.worker.instances: '-1' is not allowed; allowed: a whole number from 1 "
       "to 10000"},
      {"tasks: {worker: {instances: 0}}\n",
       "job.yaml:1:29: tasks.worker.instances: '0' is not allowed; allowed: a whole number from 1 "
       "to 10000"},
      {"tasks: {worker: {instances: 99999999999999999999}}\n",
       "job.yaml:1:29: tasks.worker.instances: '99999999999999999999' is not allowed; allowed: a "
       "whole number from 1 to 10000"},
      {"tasks: {worker: {gpus: 5000}}\n",
       "job.yaml:1:24: tasks.worker.gpus: '5000' is not allowed; allowed: a whole number from 0 to "
       "1024"},
      {"tasks: {worker: {vcores: 1.5}}\n",
       "job.yaml:1:26: tasks.worker.vcores: '1.5' is not allowed; allowed: a whole number from 0 "
       "to 4096"},
      {"tasks: {worker: {memory: -2 GiB}}\n",
       "job.yaml:1:26: tasks.worker.memory: '-2 GiB' is not an amount of memory (negative); "
       "allowed: a number with MiB (or m), GiB (g) or TiB (t), at most 64 TiB, for example 2 GiB; "
       "a bare number is in MiB"},
      {"tasks: {worker: {}}\nrestarts: 1001\n",
       "job.yaml:2:11: restarts: '1001' is not allowed; allowed: a whole number from 0 to 1000"},
  });
}

TEST(BadSpec, UnitsAndChoices) {
  expect_errors({
      {"tasks:\n  worker:\n    memory: 2 GBB\n",
       "job.yaml:3:13: tasks.worker.memory: '2 GBB' is not an amount of memory (unknown unit "
       "'GBB'; "
       "did you mean 'GiB'?); allowed: a number with MiB (or m), GiB (g) or TiB (t), at most 64 "
       "TiB, "
       "for example 2 GiB; a bare number is in MiB"},
      {"tasks: {w: {}}\ntimeouts: {stop: 10 sek}\n",
       "job.yaml:2:18: timeouts.stop: '10 sek' is not a time (unknown unit 'sek'; did you mean "
       "'sec'?); allowed: a number with ms, s, min (or m), h or d, at most 365 d, for example 10 "
       "min; a bare number is in seconds"},
      {"tasks: {w: {policy: trackd}}\n",
       "job.yaml:1:21: tasks.w.policy: 'trackd' is not a policy; did you mean 'tracked'? allowed: "
       "tracked, service, observer, sidecar"},
      {"tasks: {w: {}}\nframework: tensorflo\n",
       "job.yaml:2:12: framework: 'tensorflo' is not a framework; did you mean 'tensorflow'? "
       "allowed: tensorflow, pytorch, jax, horovod, none"},
      {"tasks: {w: {}}\nframework: [jax, none]\n",
       "job.yaml:2:12: framework: 'none' stands alone or not at all"},
      {"tasks: {w: {}}\nframework: [jax, jax]\n", "job.yaml:2:12: framework: 'jax' is named twice"},
      {"tasks: {w: {}}\nframework: []\n",
       "job.yaml:2:12: framework: no framework is named; allowed: tensorflow, pytorch, jax, "
       "horovod, none"},
      {"tasks: {w: {}}\nstop_signal: SIGKILL\n",
       "job.yaml:2:14: stop_signal: 'SIGKILL' is not a signal to stop by; allowed: TERM, INT, HUP, "
       "QUIT, USR1, USR2"},
      {"tasks: {w: {}}\nstop_signal_to: groups\n",
       "job.yaml:2:17: stop_signal_to: 'groups' is not who gets the signal to stop; did you mean "
       "'group'? allowed: process, group"},
      {"tasks: {w: {}}\nnotice_signal: KILL\n",
       "job.yaml:2:16: notice_signal: 'KILL' is not a signal for notices; allowed: USR1, USR2, "
       "TERM, "
       "INT, none"},
      {"tasks: {w: {}}\ncontainment: docker\n",
       "job.yaml:2:14: containment: 'docker' is not a containment; allowed: auto, pid_namespace, "
       "cgroup, subreaper"},
      {"tasks: {w: {}}\nrestarts: {scope: all}\n",
       "job.yaml:2:19: restarts.scope: 'all' is not a scope of restarts; allowed: task, gang, "
       "none"},
  });
}

TEST(BadSpec, NamesCommandsAndNothing) {
  expect_errors({
      {"", "job.yaml: is empty; a job file has at least `tasks`"},
      {"name: x\n", "job.yaml:1:1: `tasks` is missing; a job needs at least one task"},
      {"tasks: {}\n", "job.yaml:1:8: tasks: a job needs at least one task"},
      {"tasks: {3d: {}}\n",
       "job.yaml:1:9: tasks: '3d' is not a task type; allowed: a letter, then at most 39 letters, "
       "digits, '_' or '-'"},
      {"tasks: {w: {}, w: {}}\n", "job.yaml:1:16: key 'w' is given twice; the first is in line 1"},
      {"tasks: {w: {command: ''}}\n", "job.yaml:1:22: tasks.w.command: the command is empty"},
      {"tasks: {w: {}}\ncommand: []\n", "job.yaml:2:10: command: the command is empty"},
      {"tasks: {w: {env: {1A: x}}}\n",
       "job.yaml:1:19: tasks.w.env: '1A' is not the name of a variable; allowed: letters, digits "
       "and '_', no digit first"},
      {"tasks: {w: {}}\nenv: {GANGRUN_PORT: 1}\n",
       "job.yaml:2:7: env: 'GANGRUN_PORT' is set by gangrun itself, as are all names that begin "
       "with GANGRUN_"},
      {"tasks: {w: {overrides: {first: {}}}}\n",
       "job.yaml:1:25: tasks.w.overrides: index 'first' is not allowed; allowed: a whole number "
       "from 0 to 9999"},
      {"tasks: {w: {overrides: {1: {}, 01: {}}}}\n",
       "job.yaml:1:32: tasks.w.overrides: index 1 is given twice"},
  });
}

TEST(DraftFromJson, HasNoPlacesInItsErrors) {
  const auto draft = draft_from_json(base::Json::parse(R"({"tasks": {"w": {"gpus": -1}}})"));
  ASSERT_FALSE(draft.ok());
  EXPECT_EQ(draft.error().message,
            "tasks.w.gpus: '-1' is not allowed; allowed: a whole number from 0 to 1024");
}

}  // namespace
}  // namespace gangrun::jobfile
