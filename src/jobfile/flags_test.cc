#include "jobfile/flags.h"

#include <gmock/gmock.h>

#include "base/format.h"

namespace gangrun::jobfile {
namespace {

TEST(ParseFlags, RolesKeepTheirOrder) {
  const auto parsed = parse_flags({.roles = {"ps:2, worker:4", "chief"}}, plain_job_fields());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  using Role = std::pair<std::string, int>;
  EXPECT_THAT(parsed->roles,
              testing::ElementsAre(Role{"ps", 2}, Role{"worker", 4}, Role{"chief", 1}));
}

// "worker[0]=8 GiB": target and value of each.
std::vector<std::string> shown(const ParsedFlags& parsed, std::string_view path) {
  std::vector<std::string> texts;
  for (const FieldAssignments& given : parsed.fields) {
    if (given.field->path != path) continue;
    for (const auto& assignment : given.assignments) {
      std::string text = assignment.target.type;
      if (assignment.target.index) text += base::format("[{}]", *assignment.target.index);
      texts.push_back(text + "=" + text_of(given.field->row->info, assignment.value));
    }
  }
  return texts;
}

TEST(ParseFlags, ResourcesInThreeForms) {
  const auto parsed = parse_flags({.fields = {{"memory", {"4g", "ps:2g, worker[0]:8g"}},
                                              {"vcores", {"worker:2"}},
                                              {"gpus", {"w[10]:1"}}}},
                                  plain_job_fields());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(shown(*parsed, "memory"),
              testing::ElementsAre("=4 GiB", "ps=2 GiB", "worker[0]=8 GiB"));
  EXPECT_EQ(parsed->fields[0].assignments[2].text, "worker[0]:8g");
  EXPECT_THAT(shown(*parsed, "vcores"), testing::ElementsAre("worker=2"));
  EXPECT_THAT(shown(*parsed, "gpus"), testing::ElementsAre("w[10]=1"));
}

TEST(ParseFlags, TheRest) {
  const auto parsed = parse_flags({.fields = {{"processes", {"2,worker:3"}},
                                              {"min_instances", {"worker:2"}},
                                              {"spares", {"worker:1,ps:0"}},
                                              {"policy", {"evaluator:sidecar"}},
                                              {"grace", {"evaluator:5m"}}},
                                   .job_fields = {{"containment", "subreaper"},
                                                  {"stop_signal", "SIGUSR1"},
                                                  {"stop_signal_to", "group"}},
                                   .env = {"A=b:c=d", "ps:B="},
                                   .timeouts = {"allocation=10m,job=2 h", "stop=500ms"},
                                   .framework = "tensorflow,jax",
                                   .restarts = "3:gang"},
                                  plain_job_fields());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(shown(*parsed, "processes"), testing::ElementsAre("=2", "worker=3"));
  EXPECT_THAT(shown(*parsed, "min_instances"), testing::ElementsAre("worker=2"));
  EXPECT_THAT(shown(*parsed, "spares"), testing::ElementsAre("worker=1", "ps=0"));
  EXPECT_THAT(shown(*parsed, "policy"), testing::ElementsAre("evaluator=sidecar"));
  EXPECT_THAT(shown(*parsed, "grace"), testing::ElementsAre("evaluator=5 min"));
  ASSERT_EQ(parsed->env.size(), 2U);
  EXPECT_EQ(parsed->env[0].target.type, "");
  EXPECT_EQ(parsed->env[0].value.name, "A");
  EXPECT_EQ(parsed->env[0].value.value, "b:c=d");
  EXPECT_EQ(parsed->env[1].target.type, "ps");
  EXPECT_EQ(parsed->env[1].value.name, "B");
  EXPECT_EQ(parsed->env[1].value.value, "");
  EXPECT_THAT(
      parsed->timeouts,
      testing::ElementsAre(std::pair(std::string("allocation"), FieldValue(std::int64_t{600'000})),
                           std::pair(std::string("job"), FieldValue(std::int64_t{7'200'000})),
                           std::pair(std::string("stop"), FieldValue(std::int64_t{500}))));
  EXPECT_THAT(*parsed->frameworks,
              testing::ElementsAre(job::Framework::kTensorflow, job::Framework::kJax));
  EXPECT_EQ(parsed->restarts, (job::Restarts{3, job::RestartScope::kGang}));
  std::vector<std::string> of_job;
  for (const auto& [field, value] : parsed->job_fields) {
    of_job.push_back(field->path + "=" + text_of(field->row->info, value));
  }
  EXPECT_THAT(of_job, testing::ElementsAre("containment=subreaper", "stop_signal=USR1",
                                           "stop_signal_to=group"));
}

TEST(ParseFlags, ErrorsBeginWithTheFlag) {
  const std::string memory =
      "; allowed: a number with MiB (or m), GiB (g) or TiB (t), at most 64 TiB, for example 2 GiB; "
      "a bare number is in MiB";
  const std::string type = " allowed: a letter, then at most 39 letters, digits, '_' or '-'";
  const std::pair<Flags, std::string> cases[] = {
      {{.roles = {"ps:2,worker:x"}},
       "-r: 'worker:x': 'x' is not allowed; allowed: a whole number from 1 to 10000"},
      {{.roles = {"worker:-4"}},
       "-r: 'worker:-4': '-4' is not allowed; allowed: a whole number from 1 to 10000"},
      {{.roles = {"worker:2,"}},
       "-r: '': '' is not a task type;" + type + ", then ':' and how many"},
      {{.roles = {"2"}}, "-r: '2': has no task type; use -r worker:2"},
      {{.roles = {"worker=2"}},
       "-r: 'worker=2': has '='; it is written type:number, for example worker:2"},
      {{.roles = {"worker:2", "worker:3"}}, "-r: 'worker:3': this type is given twice"},
      {{.fields = {{"memory", {"worker:4gg"}}}},
       "-m: 'worker:4gg': '4gg' is not an amount of memory (unknown unit 'gg'; did you mean "
       "'g'?)" +
           memory},
      {{.fields = {{"memory", {"worker[x]:4g"}}}},
       "-m: 'worker[x]:4g': index 'x' is not allowed; allowed: a whole number from 0 to 9999"},
      {{.fields = {{"memory", {"worker[0:4g"}}}},
       "-m: 'worker[0:4g': 'worker[0' has no closing bracket; one task is written type[index], for "
       "example worker[0]"},
      {{.fields = {{"vcores", {"[0]:4"}}}}, "-c: '[0]:4': '' is not a task type;" + type},
      {{.fields = {{"gpus", {"-1"}}}},
       "--gpus: '-1': '-1' is not allowed; allowed: a whole number from 0 to 1024"},
      {{.fields = {{"processes", {"worker[0]:2"}}}},
       "--processes: 'worker[0]:2': cannot be given to one task, only to a type"},
      {{.env = {"NAME"}}, "-e: 'NAME': has no '='; it is written NAME=value or type:NAME=value"},
      {{.env = {"A-B=1"}},
       "-e: 'A-B=1': 'A-B' is not the name of a variable; allowed: letters, digits and '_', no "
       "digit first"},
      {{.fields = {{"policy", {"sidecar"}}}},
       "--policy: 'sidecar': has no task type; it is written type:value"},
      {{.fields = {{"policy", {"ps:services"}}}},
       "--policy: 'ps:services': 'services' is not a policy; did you mean 'service'? allowed: "
       "tracked, service, observer, sidecar"},
      {{.timeouts = {"10m"}},
       "--timeout: '10m': has no '='; it is written name=time, for example job=2h"},
      {{.timeouts = {"jobs=2h"}},
       "--timeout: 'jobs=2h': 'jobs' is not a time limit; did you mean 'job'? allowed: allocation, "
       "hold, roll_call, job, stop, shrink, master_lost"},
      {{.framework = "pytroch"},
       "--framework: 'pytroch' is not a framework; did you mean 'pytorch'? allowed: tensorflow, "
       "pytorch, jax, horovod, none"},
      {{.restarts = "many"},
       "--restarts: 'many' is not allowed; allowed: a whole number from 0 to 1000, or "
       "number:scope, for example 3:gang"},
      {{.restarts = "3:all"},
       "--restarts: 'all' is not a scope of restarts; allowed: task, gang, none"},
      {{.job_fields = {{"containment", "vm"}}},
       "--containment: 'vm' is not a containment; allowed: auto, pid_namespace, cgroup, subreaper"},
      {{.job_fields = {{"stop_signal", "SIGKILL"}}},
       "--stop-signal: 'SIGKILL' is not a signal to stop by; allowed: TERM, INT, HUP, QUIT, USR1, "
       "USR2"},
      {{.job_fields = {{"stop_signal_to", "all"}}},
       "--stop-signal-to: 'all' is not who gets the signal to stop; allowed: process, group"},
  };
  for (const auto& [flags, message] : cases) {
    const auto parsed = parse_flags(flags, plain_job_fields());
    ASSERT_FALSE(parsed.ok()) << message;
    EXPECT_EQ(parsed.error().message, message);
  }
}

TEST(ParseFlags, AFieldThatNoFlagGivesIsOurFault) {
  for (const Flags& flags :
       {Flags{.fields = {{"memroy", {"1g"}}}}, Flags{.fields = {{"instances", {"w:1"}}}},
        Flags{.job_fields = {{"yarn.queue", "q"}}}}) {
    const auto parsed = parse_flags(flags, plain_job_fields());
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().code, base::Code::kInternal);
  }
}

TEST(ParseFlags, ErrorsOfPortsAndInterfaces) {
  const std::pair<Flags, std::string> cases[] = {
      {{.ports = {"worker:0"}},
       "--ports: 'worker:0': '0' is not allowed; allowed: a whole number from 1 to 64"},
      {{.ports = {"worker:a+"}},
       "--ports: 'worker:a+': '' is not the name of a port; allowed: a letter, then at most 39 "
       "letters, digits, '_' or '-'"},
      {{.ports = {"worker[0]:2"}},
       "--ports: 'worker[0]:2': cannot be given to one task, only to a type"},
      {{.fields = {{"ports.hold", {"worker:exec"}}}},
       "--hold: 'worker:exec': 'exec' is not a time until which ports are held; allowed: "
       "until-bind, until-exec"},
      {{.job_fields = {{"interface", ""}}},
       "--interface: '' is neither an interface nor a network; allowed: a name as eth0, or a "
       "network as 10.0.0.0/8 or fd00::/8"},
  };
  for (const auto& [flags, message] : cases) {
    const auto parsed = parse_flags(flags, plain_job_fields());
    ASSERT_FALSE(parsed.ok()) << message;
    EXPECT_EQ(parsed.error().message, message);
  }
}

}  // namespace
}  // namespace gangrun::jobfile
