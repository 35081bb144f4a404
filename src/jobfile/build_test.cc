#include "jobfile/build.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "jobfile/spec_yaml.h"

namespace gangrun::jobfile {
namespace {

using std::chrono::milliseconds;

base::Result<job::JobSpec> build_from(std::string_view yaml, const Flags& flags,
                                      const Defaults& defaults = {"job.yaml"}) {
  std::optional<JobDraft> draft;
  if (!yaml.empty()) {
    GANGRUN_ASSIGN(draft, parse_spec(yaml, "job.yaml"));
  }
  return build(draft, flags, draft ? defaults : Defaults{"", defaults.places});
}

job::JobSpec built(std::string_view yaml, const Flags& flags) {
  auto spec = build_from(yaml, flags);
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  return spec.value_or(job::JobSpec{});
}

std::string build_error(std::string_view yaml, const Flags& flags) {
  const auto spec = build_from(yaml, flags);
  return spec.ok() ? "" : spec.error().message;
}

TEST(Build, OneWorkerWithoutRolesAndFile) {
  job::JobSpec expected;
  expected.name = "train";
  expected.tasks.emplace_back().type = "worker";
  expected.command.words = {"python", "src/train.py", "--fast"};
  expected.success = "all";
  EXPECT_EQ(built("", {.command = {"python", "src/train.py", "--fast"}}), expected);
}

TEST(Build, DefaultsFollowTheNamesOfTheTypes) {
  const job::JobSpec spec =
      built("tasks: {chief: {}, ps: {}, evaluator: {}, other: {}}\ncommand: x\n",
            {.tensorboard = "out dir"});
  EXPECT_EQ(spec.name, "job");
  EXPECT_EQ(spec.find("chief")->policy, job::Policy::kTracked);
  EXPECT_EQ(spec.find("ps")->policy, job::Policy::kService);
  EXPECT_EQ(spec.find("other")->policy, job::Policy::kTracked);
  EXPECT_EQ(spec.find("evaluator")->policy, job::Policy::kObserver);
  EXPECT_EQ(spec.find("evaluator")->grace, milliseconds(120'000));
  const job::TaskSpec& board = *spec.find("tensorboard");
  EXPECT_EQ(board.policy, job::Policy::kSidecar);
  EXPECT_EQ(board.grace, milliseconds(0));
  EXPECT_THAT(board.command.shell_line,
              testing::StartsWith("set -- 'out dir' --host 127.0.0.1 --port \"$GANGRUN_PORT\"\n"));
  EXPECT_EQ(spec.find("chief")->resources, (job::Resources{0, 1, 0}));
  EXPECT_FALSE(spec.frameworks.has_value());
  EXPECT_EQ(spec.timeouts, job::Timeouts{});
  EXPECT_EQ(spec.restarts, job::Restarts{});
}

TEST(Build, TheNameComesFromTheFileOrTheCommand) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"python", "-u", "a/my train.v2.py"}, "my-train.v2"},
      {{"/bin/true"}, "true"},
      {{"bash", "./run.sh"}, "run"},
      // A whole line was taken for the path of a script.
      {{"bash", "-c", "export NCCL_DEBUG=INFO OMP_NUM_THREADS=4; python3 train.py"}, "train"},
      {{"/usr/bin/env", "sh", "-ec", "cd x&&exec python3 'a/fit.py'>log"}, "fit"},
      {{"bash", "-lc", "python -m fit"}, "bash"},
      {{"python", "-c", "import a; a.fit()"}, "python"},
      {{"../../"}, "job"},
      {{"ü"}, "job"},
      {{std::string(200, 'x')}, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}};
  for (const auto& [command, name] : cases) EXPECT_EQ(built("", {.command = command}).name, name);
  const auto spec =
      build_from("tasks: {w: {}}\ncommand: python t.py\n", {}, {"/x/wine 1.yaml", {}});
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->name, "wine-1");
  const auto line = build_from("tasks: {w: {}}\ncommand: 'A=1; python t.py;'\n", {}, {"", {}});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->name, "t");
}

TEST(Build, RolesReplaceInstancesAndAddTypes) {
  const job::JobSpec spec =
      built("tasks: {worker: {instances: 2, memory: 1g}, ps: {}}\ncommand: x\n",
            {.roles = {"worker:5,chief:1"}});
  std::vector<std::string> types;
  for (const job::TaskSpec& task : spec.tasks) types.push_back(task.type);
  EXPECT_THAT(types, testing::ElementsAre("worker", "ps", "chief"));
  EXPECT_EQ(spec.find("worker")->instances, 5);
  EXPECT_EQ(spec.find("worker")->resources.memory_mib, 1024);
  EXPECT_EQ(spec.find("chief")->instances, 1);
}

TEST(Build, TheMoreSpecificResourceWinsWhateverTheOrder) {
  std::vector<std::string> flags = {"4g", "ps:2g", "worker[0]:8g"};
  std::sort(flags.begin(), flags.end());
  do {
    const job::JobSpec spec = built(
        "", {.roles = {"ps:2,worker:2,chief:1"}, .fields = {{"memory", flags}}, .command = {"x"}});
    EXPECT_EQ(spec.find("chief")->resources_of(0).memory_mib, 4096);
    EXPECT_EQ(spec.find("ps")->resources_of(1).memory_mib, 2048);
    EXPECT_EQ(spec.find("worker")->resources_of(0).memory_mib, 8192);
    EXPECT_EQ(spec.find("worker")->resources_of(1).memory_mib, 4096);
  } while (std::next_permutation(flags.begin(), flags.end()));
}

TEST(Build, AFlagWinsOverEveryLevelOfTheFile) {
  const std::string_view file =
      "tasks: {worker: {instances: 3, memory: 1g, vcores: 2, overrides: {1: {memory: 2g, vcores: "
      "5}, 2: {memory: 3g}}}}\ncommand: x\n";
  const job::JobSpec general = built(file, {.fields = {{"memory", {"4g"}}}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(general.tasks[0].resources_of(i).memory_mib, 4096);
  EXPECT_EQ(general.tasks[0].resources_of(1).vcores, 5);
  EXPECT_EQ(general.tasks[0].overrides.size(), 1U);
  const job::JobSpec one = built(file, {.fields = {{"memory", {"worker[1]:7g"}}}});
  EXPECT_EQ(one.tasks[0].resources_of(0).memory_mib, 1024);
  EXPECT_EQ(one.tasks[0].resources_of(1), (job::Resources{7168, 5, 0}));
  EXPECT_EQ(one.tasks[0].resources_of(2).memory_mib, 3072);
}

TEST(Build, ElasticTypesAndSpares) {
  const std::string_view file =
      "tasks: {worker: {instances: 4, min_instances: 2, spares: 1}, ps: {}}\ncommand: x\n"
      "timeouts: {shrink: 3 s}\n";
  const job::JobSpec spec = built(file, {});
  const job::TaskSpec& worker = *spec.find("worker");
  EXPECT_EQ(std::tuple(worker.needed(), worker.spares, worker.slots()), std::tuple(2, 1, 5));
  EXPECT_EQ(spec.find("ps")->needed(), 1);
  EXPECT_EQ(spec.timeouts.shrink, std::chrono::seconds(3));
  EXPECT_EQ(spec.task_count(), 5);
  EXPECT_EQ(spec.task_ids().size(), 6U);
  const job::JobSpec flagged = built(file, {.fields = {{"memory", {"worker[5]:1g"}},
                                                       {"min_instances", {"worker:3"}},
                                                       {"spares", {"worker:2,ps:1"}}},
                                            .timeouts = {"shrink=5"}});
  EXPECT_EQ(flagged.find("worker")->needed(), 3);
  EXPECT_EQ(flagged.find("worker")->resources_of(5).memory_mib, 1024);  // of its second spare
  EXPECT_EQ(flagged.find("ps")->slots(), 2);
  EXPECT_EQ(flagged.timeouts.shrink, std::chrono::seconds(5));
}

TEST(Build, PortsAndHowLongTheyAreHeld) {
  const char* file =
      "tasks:\n"
      "  web: {ports: {names: [http, grpc]}}\n"
      "  worker: {ports: {n: 3, hold: until-exec}}\n"
      "  ps:\n"
      "command: x\ninterface: eth0\n";
  const job::JobSpec spec = built(file, {});
  EXPECT_EQ(spec.find("web")->ports, (job::Ports{2, {"http", "grpc"}, job::Hold::kUntilBind}));
  EXPECT_EQ(spec.find("worker")->ports, (job::Ports{3, {}, job::Hold::kUntilExec}));
  EXPECT_EQ(spec.find("ps")->ports, job::Ports{});
  EXPECT_EQ(spec.interface, "eth0");
  const job::JobSpec changed =
      built(file, {.fields = {{"ports.hold", {"until-exec", "worker:until-bind"}}},
                   .job_fields = {{"interface", "10.0.0.0/8"}},
                   .ports = {"web:4,worker:a+b", "2"}});
  EXPECT_EQ(changed.find("web")->ports, (job::Ports{4, {}, job::Hold::kUntilExec}));
  EXPECT_EQ(changed.find("worker")->ports, (job::Ports{2, {"a", "b"}, job::Hold::kUntilBind}));
  EXPECT_EQ(changed.find("ps")->ports, (job::Ports{2, {}, job::Hold::kUntilExec}));
  EXPECT_EQ(changed.interface, "10.0.0.0/8");
}

TEST(Build, GpusAndProcessesForAllSkipThoseThatDoNotTrain) {
  const job::JobSpec spec = built("", {.roles = {"ps,worker,evaluator,tensorboard"},
                                       .fields = {{"gpus", {"2"}}, {"processes", {"4"}}},
                                       .tensorboard = "out",
                                       .command = {"x"}});
  EXPECT_EQ(spec.find("worker")->resources.gpus, 2);
  EXPECT_EQ(spec.find("evaluator")->resources.gpus, 2);
  EXPECT_EQ(spec.find("ps")->resources.gpus, 0);
  EXPECT_EQ(spec.find("tensorboard")->resources.gpus, 0);
  EXPECT_EQ(spec.find("worker")->processes, 4);
  EXPECT_EQ(spec.find("evaluator")->processes, 1);
  EXPECT_EQ(built("", {.roles = {"ps,worker"}, .fields = {{"gpus", {"ps:1"}}}, .command = {"x"}})
                .find("ps")
                ->resources.gpus,
            1);
}

TEST(Build, FlagsWinOverTheFile) {
  const std::string_view file =
      "name: a\ntasks: {worker: {env: {A: file, B: file}, command: old}, tensorboard: {command: "
      "tb}, "
      "ev: {policy: observer, grace: 1s}}\ncommand: old\nenv: {A: file}\nframework: jax\n"
      "success: all\nrestarts: 1\ntimeouts: {job: 1h, stop: 1s}\nfiles: [f]\n"
      "containment: cgroup\n";
  const job::JobSpec spec = built(
      file, {.fields = {{"policy", {"ev:sidecar"}}, {"grace", {"ev:9s"}}},
             .job_fields =
                 {{"name", "b"}, {"success", "worker"}, {"on", "local"}, {"containment", "auto"}},
             .job_lists = {{"files", {"g"}}},
             .env = {"A=flag", "ev:C=flag"},
             .timeouts = {"job=2h"},
             .framework = "none",
             .restarts = "2:gang",
             .tensorboard = "out",
             .command = {"new"}});
  EXPECT_EQ(spec.name, "b");
  EXPECT_EQ(spec.environment.at("A"), "flag");
  EXPECT_EQ(spec.find("worker")->environment, (std::map<std::string, std::string>{{"B", "file"}}));
  EXPECT_EQ(spec.find("ev")->environment.at("C"), "flag");
  EXPECT_EQ(spec.find("ev")->policy, job::Policy::kSidecar);
  EXPECT_EQ(spec.find("ev")->grace, milliseconds(9000));
  EXPECT_EQ(spec.timeouts.job, milliseconds(7'200'000));
  EXPECT_EQ(spec.timeouts.stop, milliseconds(1000));
  EXPECT_THAT(spec.files, testing::ElementsAre("f", "g"));
  EXPECT_TRUE(spec.frameworks.has_value() && spec.frameworks->empty());
  EXPECT_EQ(spec.success, "worker");
  EXPECT_EQ(spec.restarts, (job::Restarts{2, job::RestartScope::kGang}));
  EXPECT_EQ(spec.containment, job::Containment::kAuto);
  EXPECT_EQ(spec.command_of(*spec.find("worker")).words, std::vector<std::string>{"new"});
  EXPECT_EQ(spec.find("tensorboard")->command.shell_line, "tb");
  EXPECT_EQ(spec.find("tensorboard")->logdir, "out");
}

TEST(Build, AnImageIsTheJobsOrATypesOwn) {
  const job::JobSpec spec = built("tasks: {worker: {image: own}, ps: {image: \"\"}, chief: }",
                                  {.job_fields = {{"image", "job"}},
                                   .job_lists = {{"mounts", {"/in:ro", "/out"}}},
                                   .command = {"x"}});
  EXPECT_EQ(spec.image_of(*spec.find("worker")), "own");
  EXPECT_EQ(spec.image_of(*spec.find("ps")), "");
  EXPECT_EQ(spec.image_of(*spec.find("chief")), "job");
  EXPECT_THAT(spec.mounts,
              testing::ElementsAre(job::Mount{"/in", true}, job::Mount{"/out", false}));
}

TEST(Build, TensorboardListensForAllWhereItIsExposed) {
  const job::JobSpec spec = built(
      "", {.fields = {{"expose", {"tensorboard:host"}}}, .tensorboard = "out", .command = {"x"}});
  EXPECT_THAT(spec.find("tensorboard")->command.shell_line,
              testing::StartsWith("set -- out --bind_all --port \"$GANGRUN_PORT\"\n"));
}

TEST(Build, NoJobIsCalledAsCommandsCallTheNewest) {
  EXPECT_EQ(build_error("", {.job_fields = {{"name", "last"}}, .command = {"x"}}),
            "--name: 'last' cannot be a job's name: commands take it for the newest job");
  EXPECT_EQ(built("", {.job_fields = {{"name", "lasting"}}, .command = {"x"}}).name, "lasting");
  EXPECT_EQ(built("", {.command = {"python", "last.py"}}).name, "job");
  EXPECT_EQ(built("", {.command = {"./last"}}).name, "job");
}

TEST(Build, ALineForTheShellIsACommandToo) {
  const job::JobSpec spec = built("", {.command_line = "a | b"});
  EXPECT_EQ(spec.command, (job::Command{{}, "a | b"}));
}

TEST(Build, HostsOfZooKeeperByFlagsLeaveTheFilesOtherKeys) {
  const std::string file = "tasks: {worker: }\ncommand: x\nzookeeper: {hosts: [a], root: /r}\n";
  const job::JobSpec spec = built(file, {.zookeeper = {"b:1,c"}});
  EXPECT_EQ(spec.zookeeper, (job::ZooKeeper{{"b:1", "c"}, "/r", true}));
  EXPECT_EQ(built("", {.mirrors_in_zookeeper = true, .command = {"x"}}).zookeeper,
            job::ZooKeeper{});
  EXPECT_EQ(built("", {.command = {"x"}}).zookeeper, std::nullopt);
}

TEST(Build, ErrorsSayWhichFlagAndWhatExists) {
  const std::string_view file = "tasks: {worker: {instances: 2}, ps: {}}\ncommand: x\n";
  const std::pair<Flags, const char*> cases[] = {
      {{.fields = {{"memory", {"wroker[0]:8g"}}}},
       "-m: 'wroker[0]:8g': unknown task type 'wroker'; did you mean 'worker'? this job has: "
       "worker, ps"},
      {{.fields = {{"vcores", {"chief:8"}}}},
       "-c: 'chief:8': unknown task type 'chief'; this job has: worker, ps"},
      {{.fields = {{"gpus", {"worker[2]:1"}}}},
       "--gpus: 'worker[2]:1': there is no worker:2; worker has 2 tasks, with index 0 to 1"},
      {{.fields = {{"memory", {"ps[1]:1g"}}}},
       "-m: 'ps[1]:1g': there is no ps:1; ps has 1 task, with index 0"},
      {{.env = {"chief:A=1"}},
       "-e: 'chief:A=1': unknown task type 'chief'; this job has: worker, ps"},
      {{.job_fields = {{"success", "ps"}}},
       "--success: 'ps' is not a tracked task type of this job; allowed: all, worker"},
      {{.fields = {{"min_instances", {"worker:3"}}}},
       "--min-instances: tasks.worker.min_instances: 3 is not allowed; allowed: 1 to 2, its "
       "instances"},
      {{.roles = {"worker:1"}, .fields = {{"spares", {"evaluator:1"}}}},
       "--spares: 'evaluator:1': unknown task type 'evaluator'; this job has: worker, ps"},
      {{.fields = {{"spares", {"ps:1"}}, {"policy", {"ps:sidecar"}}}},
       "--spares: tasks.ps.spares: only the policies tracked and service have spares; ps is "
       "sidecar"},
      {{.fields = {{"grace", {"ps:3s"}}}},
       "--grace: tasks.ps.grace: only the policies observer and sidecar have a grace; ps is "
       "service"},
      {{.job_fields = {{"name", "a/b"}}},
       "--name: 'a/b' is not a name; allowed: a letter or digit, then at most 62 letters, "
       "digits, '.', '_' or '-'"},
      {{.job_lists = {{"files", {""}}}}, "-f: files.0: the path is empty"},
      {{.command = {""}}, "after --: command: the command is empty"},
      {{.command = {std::string("a\0b", 3)}}, "after --: command: has a NUL character"},
      {{.timeouts = {"stop=0"}},
       "--timeout: timeouts.stop: '0 s' is not allowed; allowed: more than 0 s, at most 365 d"},
  };
  for (const auto& [flags, message] : cases) EXPECT_EQ(build_error(file, flags), message);
}

TEST(Build, ErrorsSayWhereInTheFile) {
  const std::pair<const char*, const char*> cases[] = {
      {"tasks:\n  ps: {instances: 1, overrides: {3: {memory: 2g}}}\n  w: {}\ncommand: x\n",
       "job.yaml:2:34: tasks.ps.overrides.3: there is no ps:3; ps has one task, with index 0"},
      {"tasks: {w: {instances: 2, overrides: {2: {gpus: 1}}}}\ncommand: x\n",
       "job.yaml:1:39: tasks.w.overrides.2: there is no w:2; w has 2 tasks, with indexes 0 to 1"},
      {"tasks: {w: {}}\ncommand: x\nsuccess: cheif\n",
       "job.yaml:3:10: success: 'cheif' is not a tracked task type of this job; allowed: all, w"},
      {"tasks: {ps: {}}\ncommand: x\n",
       "job.yaml:1:8: tasks: nothing decides how this job ends: it needs a task with the policy "
       "tracked or observer beside services and sidecars"},
      {"tasks: {w: {}}\n",
       "job.yaml:1:9: tasks.w: w has no command; write it after --, or as `command` in the job "
       "file"},
      {"tasks: {w: {}, tensorboard: {}}\ncommand: x\n",
       "job.yaml:1:16: tasks.tensorboard: tensorboard has no folder to show; give it `logdir`, or "
       "its own `command`"},
      {"tasks: {w: {logdir: x}}\ncommand: x\n",
       "job.yaml:1:21: tasks.w.logdir: only the policy sidecar has a logdir; w is tracked"},
      {"tasks: {w: {}}\ncommand: '  '\n", "job.yaml:2:10: command: the command is empty"},
      {"tasks: {w: {}}\ncommand: x\nrestarts: {max: 2, scope: none}\n",
       "job.yaml:3:11: restarts: scope 'none' and max 2 contradict each other"},
      {"tasks: {a: {instances: 6000}, b: {instances: 6000}}\ncommand: x\n",
       "job.yaml:1:8: tasks: 12000 tasks are more than the limit of 10000"},
      {"tasks: {a: {instances: 9000, processes: 256}}\ncommand: x\n",
       "job.yaml:1:8: tasks: 2304000 processes of all tasks are more than the limit of 100000"},
      {"tasks: {all: {}}\ncommand: x\n",
       "job.yaml:1:9: tasks.all: 'all' cannot be a task type; `success: all` needs it"},
      {"name: ..\ntasks: {w: {}}\ncommand: x\n",
       "job.yaml:1:7: name: '..' is not a name; allowed: a letter or digit, then at most 62 "
       "letters, "
       "digits, '.', '_' or '-'"},
  };
  for (const auto& [file, message] : cases) EXPECT_EQ(build_error(file, {}), message) << file;
  EXPECT_EQ(
      build_error("", {.roles = {"worker,tensorboard"}, .command = {"x"}}),
      "-r: tasks.tensorboard: tensorboard has no folder to show; give it `logdir`, or its own "
      "`command`");
  EXPECT_EQ(build_error("", {}),
            "tasks.worker: worker has no command; write it after --, or as `command` in the job "
            "file");
}

TEST(Build, ErrorsOfNamesOfPorts) {
  const std::string name =
      " is not the name of a port; allowed: a letter, then at most 39 letters, digits, '_' or '-'";
  const std::pair<std::string_view, std::string> cases[] = {
      {"tasks: {w: {ports: {names: [a, 'b c']}}}\ncommand: x\n",
       "job.yaml:1:28: tasks.w.ports.names: 'b c'" + name},
      {"tasks: {w: {ports: {names: [\"\"]}}}\ncommand: x\n",
       "job.yaml:1:28: tasks.w.ports.names: ''" + name},
      {"tasks: {w: {ports: {names: [a-b, A_b]}}}\ncommand: x\n",
       "job.yaml:1:28: tasks.w.ports.names: 'a-b' and 'A_b' would both be GANGRUN_PORT_A_B; "
       "allowed: names that differ in more than case, '_' and '-'"},
      {"tasks: {w: {ports: {n: 3, names: [a, b]}}}\ncommand: x\n",
       "job.yaml:1:24: tasks.w.ports.n: 3 is not the number of the names, 2; allowed: either n or "
       "names, or as many names as n"},
  };
  for (const auto& [file, message] : cases) EXPECT_EQ(build_error(file, {}), message);
  EXPECT_EQ(build_error("", {.ports = {"worker:a+A"}, .command = {"x"}}),
            "--ports: tasks.worker.ports.names: 'a' and 'A' would both be GANGRUN_PORT_A; allowed: "
            "names that differ in more than case, '_' and '-'");
}

TEST(Build, ThePauseBeforeARestart) {
  const auto pauses = [](const std::string& keys, const Flags& flags) {
    const job::Restarts restarts = built("tasks: {w: }\ncommand: x\n" + keys, flags).restarts;
    return base::format("{} of {}: {} to {}", restarts.max, to_string(restarts.scope),
                        restarts.pause.count(), restarts.max_pause.count());
  };
  EXPECT_EQ(pauses("restarts: 3\n", {}), "3 of task: 1000 to 60000");
  EXPECT_EQ(pauses("restarts: {max: 3, pause: 5min}\n", {}), "3 of task: 300000 to 300000");
  const std::string file = "restarts: {max: 3, scope: gang, pause: 2s, max_pause: 5s}\n";
  EXPECT_EQ(pauses(file, {.restarts = "4"}), "4 of task: 2000 to 5000");
  EXPECT_EQ(pauses(file, {.restart_pause = "0"}), "3 of gang: 0 to 5000");
  EXPECT_EQ(pauses(file, {.restart_pause = "100ms:200ms"}), "3 of gang: 100 to 200");
  EXPECT_EQ(pauses("", {.restart_pause = "100ms"}), "0 of task: 100 to 60000");
  EXPECT_EQ(build_error("tasks: {w: }\ncommand: x\n", {.restart_pause = "2s:1s"}),
            "--restart-pause: restarts.max_pause: '1 s' is not allowed; allowed: no less than "
            "restarts.pause, 2 s");
  EXPECT_EQ(build_error("tasks: {w: }\ncommand: x\n", {.restart_pause = "soon"}).substr(0, 24),
            "--restart-pause: 'soon' ");
}

TEST(Build, ANoticeIsNoOrderToStop) {
  const auto notice_of = [](const std::string& keys) {
    return built("tasks: {w: }\ncommand: x\n" + keys, {}).notice_signal;
  };
  EXPECT_EQ(notice_of(""), job::NoticeSignal::kUsr1);
  EXPECT_EQ(notice_of("stop_signal: USR1\n"), job::NoticeSignal::kUsr2);
  EXPECT_EQ(notice_of("stop_signal: USR2\n"), job::NoticeSignal::kUsr1);
  EXPECT_EQ(notice_of("stop_signal: USR1\nnotice_signal: SIGINT\n"), job::NoticeSignal::kInt);
}

TEST(Build, AJobOfObserversOnlyIsAJob) {
  const job::JobSpec spec = built("", {.roles = {"evaluator:2"}, .command = {"x"}});
  EXPECT_EQ(job::effective_policy(spec, spec.tasks[0]), job::Policy::kTracked);
  EXPECT_EQ(
      built("",
            {.roles = {"evaluator"}, .job_fields = {{"success", "evaluator"}}, .command = {"x"}})
          .success,
      "evaluator");
}

}  // namespace
}  // namespace gangrun::jobfile
