#include "jobfile/validate.h"

#include <gmock/gmock.h>

#include <functional>

#include "base/format.h"
#include "job/limits.h"
#include "job/units.h"

namespace gangrun::jobfile {
namespace {

base::Result<> validate_at_home(const job::JobSpec& spec) {
  return validate(spec, RulesOfPlaces({PlaceRules{.name = std::string(job::kDefaultPlace)}}));
}

job::JobSpec good_job() {
  job::JobSpec spec;
  spec.name = "wine";
  spec.success = "all";
  spec.command.words = {"python", "train.py"};
  spec.tasks.resize(2);
  spec.tasks[0].type = "worker";
  spec.tasks[1].type = "evaluator";
  spec.tasks[1].policy = job::Policy::kObserver;
  return spec;
}

using JobChange = std::function<void(job::JobSpec&)>;
const std::pair<const char*, JobChange> kRefusedJobs[] = {
    {"name", [](job::JobSpec& job) { job.name = ""; }},
    {"name", [](job::JobSpec& job) { job.name = "."; }},
    {"name", [](job::JobSpec& job) { job.name = std::string(64, 'a'); }},
    {"name", [](job::JobSpec& job) { job.name = "a\nb"; }},
    {"on", [](job::JobSpec& job) { job.on = ""; }},
    {"tasks", [](job::JobSpec& job) { job.tasks.clear(); }},
    {"tasks", [](job::JobSpec& job) { job.tasks[0].type = "../x"; }},
    {"tasks.worker", [](job::JobSpec& job) { job.tasks[1].type = "worker"; }},
    {"tasks.worker.instances", [](job::JobSpec& job) { job.tasks[0].instances = 0; }},
    {"tasks.worker.instances",
     [](job::JobSpec& job) { job.tasks[0].instances = job::kMaxTasks + 1; }},
    {"tasks.worker.processes", [](job::JobSpec& job) { job.tasks[0].processes = 0; }},
    {"tasks.worker.min_instances", [](job::JobSpec& job) { job.tasks[0].min_instances = 0; }},
    {"tasks.worker.min_instances", [](job::JobSpec& job) { job.tasks[0].min_instances = 2; }},
    {"tasks.worker.spares", [](job::JobSpec& job) { job.tasks[0].spares = -1; }},
    {"tasks.evaluator.min_instances", [](job::JobSpec& job) { job.tasks[1].min_instances = 1; }},
    {"tasks.evaluator.spares", [](job::JobSpec& job) { job.tasks[1].spares = 1; }},
    {"tasks", [](job::JobSpec& job) { job.tasks[0].spares = job::kMaxTasks; }},
    {"tasks.worker.memory", [](job::JobSpec& job) { job.tasks[0].resources.memory_mib = -1; }},
    {"tasks.worker.vcores", [](job::JobSpec& job) { job.tasks[0].resources.vcores = -1; }},
    {"tasks.worker.gpus", [](job::JobSpec& job) { job.tasks[0].resources.gpus = 1 << 30; }},
    {"tasks.worker.overrides.-1", [](job::JobSpec& job) { job.tasks[0].overrides[-1].gpus = 1; }},
    {"tasks.worker.overrides.0.gpus",
     [](job::JobSpec& job) { job.tasks[0].overrides[0].gpus = -1; }},
    {"tasks.worker.env", [](job::JobSpec& job) { job.tasks[0].environment["A=B"] = "x"; }},
    {"tasks.worker.env.A",
     [](job::JobSpec& job) { job.tasks[0].environment["A"] = std::string(1, '\0'); }},
    {"tasks.worker.grace",
     [](job::JobSpec& job) { job.tasks[0].grace = std::chrono::milliseconds(1); }},
    {"tasks.evaluator.grace",
     [](job::JobSpec& job) { job.tasks[1].grace = std::chrono::milliseconds(-1); }},
    {"tasks.evaluator.logdir", [](job::JobSpec& job) { job.tasks[1].logdir = "x"; }},
    {"tasks.worker.command",
     [](job::JobSpec& job) {
       job.tasks[0].command.words = {"", "x"};
     }},
    {"command", [](job::JobSpec& job) { job.command.shell_line = "x"; }},
    {"command",
     [](job::JobSpec& job) {
       job.command.words = {"x", std::string(1, '\0')};
     }},
    {"command",
     [](job::JobSpec& job) { job.command.words.resize(job::kMaxCommandWords + 1, "x"); }},
    {"command",
     [](job::JobSpec& job) {
       job.command.words = {"x", std::string(job::kMaxTextBytes, 'x')};
     }},
    {"tasks.worker", [](job::JobSpec& job) { job.command = {}; }},
    {"env", [](job::JobSpec& job) { job.environment[""] = "x"; }},
    {"env.A", [](job::JobSpec& job) { job.environment["A"] = std::string(1, '\0'); }},
    {"env",
     [](job::JobSpec& job) {
       for (int i = 0; i <= 1000; ++i) job.environment[base::format("A{}", i)];
     }},
    {"framework",
     [](job::JobSpec& job) {
       job.frameworks = {job::Framework::kJax, job::Framework::kJax};
     }},
    {"success", [](job::JobSpec& job) { job.success = "evaluator"; }},
    {"success", [](job::JobSpec& job) { job.success = ""; }},
    {"tasks",
     [](job::JobSpec& job) {
       job.tasks.resize(1);
       job.tasks[0].policy = job::Policy::kSidecar;
     }},
    {"tasks.worker.ports.n", [](job::JobSpec& job) { job.tasks[0].ports.count = 0; }},
    {"tasks.worker.ports.n",
     [](job::JobSpec& job) { job.tasks[0].ports.count = job::kMaxPortsPerTask + 1; }},
    {"tasks.worker.ports.n", [](job::JobSpec& job) { job.tasks[0].ports.names = {"a", "b"}; }},
    {"tasks.worker.ports.names", [](job::JobSpec& job) { job.tasks[0].ports = {2, {"a", "A"}}; }},
    {"tasks.worker.ports.names", [](job::JobSpec& job) { job.tasks[0].ports.names = {"1"}; }},
    {"restarts.max", [](job::JobSpec& job) { job.restarts.max = job::kMaxRestarts + 1; }},
    {"restarts.max", [](job::JobSpec& job) { job.restarts.max = -1; }},
    {"timeouts.allocation",
     [](job::JobSpec& job) { job.timeouts.allocation = std::chrono::milliseconds(0); }},
    {"timeouts.roll_call",
     [](job::JobSpec&
            job) { job.timeouts.roll_call = job::kMaxDuration + std::chrono::milliseconds(1); }},
    {"timeouts.job", [](job::JobSpec& job) { job.timeouts.job = std::chrono::milliseconds(-1); }},
    {"timeouts.stop", [](job::JobSpec& job) { job.timeouts.stop = std::chrono::milliseconds(0); }},
    {"timeouts.master_lost",
     [](job::JobSpec& job) { job.timeouts.master_lost = std::chrono::milliseconds(-1); }},
    {"files", [](job::JobSpec& job) { job.files.resize(job::kMaxFiles + 1, "x"); }},
    {"files.1", [](job::JobSpec& job) { job.files = {"x", std::string("a\0", 2)}; }},
};

// A spec need not come from a file or flags: each rule holds for one that is built by hand too.
TEST(Validate, FindsEachProblemWithItsPath) {
  for (const auto& [path, change] : kRefusedJobs) {
    job::JobSpec job = good_job();
    ASSERT_FALSE(find_problem(job).has_value()) << find_problem(job)->text;
    change(job);
    const auto problem = find_problem(job);
    ASSERT_TRUE(problem.has_value()) << path;
    EXPECT_EQ(problem->path, path) << problem->text;
    EXPECT_FALSE(problem->text.empty());
  }
}

TEST(Validate, GivesPathAndTextInOneLine) {
  EXPECT_TRUE(validate_at_home(good_job()).ok());
  job::JobSpec job = good_job();
  job.restarts.max = 5000;
  const auto result = validate_at_home(job);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(result.error().message, "restarts.max: 5000 is not allowed; allowed: 0 to 1000");
}

}  // namespace
}  // namespace gangrun::jobfile
