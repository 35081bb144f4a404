#include "job/flags.h"

#include <gmock/gmock.h>

#include <type_traits>

#include "base/format.h"

namespace gangrun::job {
namespace {

using std::chrono::milliseconds;

TEST(ParseFlags, RolesKeepTheirOrder) {
  const auto parsed = parse_flags({.roles = {"ps:2, worker:4", "chief"}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  using Role = std::pair<std::string, int>;
  EXPECT_THAT(parsed->roles,
              testing::ElementsAre(Role{"ps", 2}, Role{"worker", 4}, Role{"chief", 1}));
}

// "worker[0]=8192": target and value of each.
template <typename T>
std::vector<std::string> shown(const std::vector<Assignment<T>>& assignments) {
  std::vector<std::string> texts;
  for (const Assignment<T>& assignment : assignments) {
    std::string text = assignment.target.type;
    if (assignment.target.index) text += base::format("[{}]", *assignment.target.index);
    if constexpr (std::is_same_v<T, Variable>) {
      text += base::format("={}={}", assignment.value.name, assignment.value.value);
    } else {
      text += base::format("={}", assignment.value);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(ParseFlags, ResourcesInThreeForms) {
  const auto parsed = parse_flags(
      {.memory = {"4g", "ps:2g, worker[0]:8g"}, .vcores = {"worker:2"}, .gpus = {"w[10]:1"}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(shown(parsed->memory), testing::ElementsAre("=4096", "ps=2048", "worker[0]=8192"));
  EXPECT_EQ(parsed->memory[2].text, "worker[0]:8g");
  EXPECT_THAT(shown(parsed->vcores), testing::ElementsAre("worker=2"));
  EXPECT_THAT(shown(parsed->gpus), testing::ElementsAre("w[10]=1"));
}

TEST(ParseFlags, TheRest) {
  const auto parsed = parse_flags({.processes = {"2,worker:3"},
                                   .min_instances = {"worker:2"},
                                   .spares = {"worker:1,ps:0"},
                                   .env = {"A=b:c=d", "ps:B="},
                                   .policies = {"evaluator:sidecar"},
                                   .graces = {"evaluator:5m"},
                                   .timeouts = {"allocation=10m,job=2 h", "stop=500ms"},
                                   .framework = "tensorflow,jax",
                                   .restarts = "3:gang",
                                   .containment = "subreaper",
                                   .stop_signal = "SIGUSR1",
                                   .stop_signal_to = "group"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(shown(parsed->processes), testing::ElementsAre("=2", "worker=3"));
  EXPECT_THAT(shown(parsed->min_instances), testing::ElementsAre("worker=2"));
  EXPECT_THAT(shown(parsed->spares), testing::ElementsAre("worker=1", "ps=0"));
  EXPECT_THAT(shown(parsed->env), testing::ElementsAre("=A=b:c=d", "ps=B="));
  EXPECT_EQ(parsed->policies.at(0).value, Policy::kSidecar);
  EXPECT_EQ(parsed->graces.at(0).value, milliseconds(300'000));
  EXPECT_EQ(parsed->timeouts.allocation, milliseconds(600'000));
  EXPECT_EQ(parsed->timeouts.job, milliseconds(7'200'000));
  EXPECT_EQ(parsed->timeouts.stop, milliseconds(500));
  EXPECT_FALSE(parsed->timeouts.roll_call || parsed->timeouts.master_lost);
  EXPECT_THAT(*parsed->frameworks, testing::ElementsAre(Framework::kTensorflow, Framework::kJax));
  EXPECT_EQ(parsed->restarts, (Restarts{3, RestartScope::kGang}));
  EXPECT_EQ(parsed->containment, Containment::kSubreaper);
  EXPECT_EQ(parsed->stop_signal, StopSignal::kUsr1);
  EXPECT_EQ(parsed->stop_signal_to, StopSignalTo::kGroup);
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
      {{.roles = {"worker:2", "worker:3"}}, "-r: 'worker:3': this type is given twice"},
      {{.memory = {"worker:4gg"}},
       "-m: 'worker:4gg': '4gg' is not an amount of memory (unknown unit 'gg'; did you mean "
       "'g'?)" +
           memory},
      {{.memory = {"worker[x]:4g"}},
       "-m: 'worker[x]:4g': index 'x' is not allowed; allowed: a whole number from 0 to 9999"},
      {{.memory = {"worker[0:4g"}},
       "-m: 'worker[0:4g': 'worker[0' has no closing bracket; one task is written type[index], for "
       "example worker[0]"},
      {{.vcores = {"[0]:4"}}, "-c: '[0]:4': '' is not a task type;" + type},
      {{.gpus = {"-1"}},
       "--gpus: '-1': '-1' is not allowed; allowed: a whole number from 0 to 1024"},
      {{.processes = {"worker[0]:2"}},
       "--processes: 'worker[0]:2': cannot be given to one task, only to a type"},
      {{.env = {"NAME"}}, "-e: 'NAME': has no '='; it is written NAME=value or type:NAME=value"},
      {{.env = {"A-B=1"}},
       "-e: 'A-B=1': 'A-B' is not the name of a variable; allowed: letters, digits and '_', no "
       "digit first"},
      {{.policies = {"sidecar"}},
       "--policy: 'sidecar': has no task type; it is written type:value"},
      {{.policies = {"ps:services"}},
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
      {{.containment = "vm"},
       "--containment: 'vm' is not a containment; allowed: auto, pid_namespace, cgroup, subreaper"},
      {{.stop_signal = "SIGKILL"},
       "--stop-signal: 'SIGKILL' is not a signal to stop by; allowed: TERM, INT, HUP, QUIT, USR1, "
       "USR2"},
      {{.stop_signal_to = "all"},
       "--stop-signal-to: 'all' is not who gets the signal to stop; allowed: process, group"},
  };
  for (const auto& [flags, message] : cases) {
    const auto parsed = parse_flags(flags);
    ASSERT_FALSE(parsed.ok()) << message;
    EXPECT_EQ(parsed.error().message, message);
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
      {{.holds = {"worker:exec"}},
       "--hold: 'worker:exec': 'exec' is not a time until which ports are held; allowed: "
       "until-bind, until-exec"},
      {{.interface = ""},
       "--interface: '' is neither an interface nor a network; allowed: a name as eth0, or a "
       "network as 10.0.0.0/8 or fd00::/8"},
  };
  for (const auto& [flags, message] : cases) {
    const auto parsed = parse_flags(flags);
    ASSERT_FALSE(parsed.ok()) << message;
    EXPECT_EQ(parsed.error().message, message);
  }
}

}  // namespace
}  // namespace gangrun::job
