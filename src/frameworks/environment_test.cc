#include "frameworks/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frameworks/jobs_for_tests.h"

namespace gangrun::frameworks {
namespace {

using job::Framework;
using test::cluster_of;
using test::job_of;
using test::only;
using test::task_of;
using test::variables_of;
using ::testing::HasSubstr;

TEST(Environment, WithFrameworkNoneItIsTheOwnPlaceAndNothingElse) {
  auto job = job_of({task_of("worker", 2, 2), task_of("evaluator", 1), task_of("ps", 1)});
  job.frameworks = std::vector<Framework>{};
  const auto cluster = cluster_of(job, 7);
  const auto found = environment_of(
      {.job = job, .cluster = cluster, .job_id = "wine-1", .restarts = 4}, {"worker", 1}, 1);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->variables,
            Variables({{"GANGRUN_JOB_ID", "wine-1"},
                       {"GANGRUN_TASK_TYPE", "worker"},
                       {"GANGRUN_TASK_INDEX", "1"},
                       {"GANGRUN_GENERATION", "7"},
                       {"GANGRUN_HOST", "h1"},
                       {"GANGRUN_PORT", "1001"},
                       {"GANGRUN_PORTS", "1001"},
                       {"GANGRUN_PROCESS", "1"},
                       {"GANGRUN_PROCESSES", "2"},
                       {"GANGRUN_RESTARTS", "4"},
                       {"PYTHONUNBUFFERED", "1"},
                       {"GANGRUN_CLUSTER_SPEC",
                        R"({"worker":["h1:1000","h1:1001"],"ps":["h3:3000"]})"}}));
  EXPECT_EQ(found->cluster_spec_file_content, "");
}

TEST(Environment, WhoSaysHowPythonWritesIsNotOverruled) {
  const auto job = job_of({task_of("worker", 1)});
  const auto cluster = cluster_of(job);
  const Inputs inputs{
      .job = job, .cluster = cluster, .job_id = "j1", .inherits_python_unbuffered = true};
  const auto found = environment_of(inputs, {"worker", 0}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->variables.contains("PYTHONUNBUFFERED"));
}

TEST(Environment, AllPortsOfTheTaskAndThoseThatHaveNames) {
  auto job = job_of({task_of("web", 2)});
  job.tasks[0].ports = {2, {"http", "grpc-web"}};
  const auto cluster = cluster_of(job);
  const Inputs inputs{.job = job, .cluster = cluster, .job_id = "j1", .more_ports = {4712}};
  const auto found = environment_of(inputs, {"web", 1}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(only(found->variables, {"GANGRUN_PORT"}),
            Variables({{"GANGRUN_PORT", "1001"},
                       {"GANGRUN_PORTS", "1001,4712"},
                       {"GANGRUN_PORT_HTTP", "1001"},
                       {"GANGRUN_PORT_GRPC_WEB", "4712"}}));
}

TEST(Environment, ATaskKnowsWhereItsNoticeWillBe) {
  const auto job = job_of({task_of("worker", 1)});
  const auto cluster = cluster_of(job);
  const Inputs inputs{.job = job, .cluster = cluster, .job_id = "j1", .notice_file = "/n"};
  const auto found = environment_of(inputs, {"worker", 0}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->variables.at("GANGRUN_NOTICE_FILE"), "/n");
}

// A "host:port" has brackets around an IPv6 address; an address alone has none.
TEST(Environment, Ipv6AddressesAsEachFrameworkReadsThem) {
  const auto job = job_of({task_of("worker", 2)});
  const job::ClusterSpec cluster{.generation = 1,
                                 .tasks = {{"worker", {{"fd00::5", 4000}, {"fd00::6", 4001}}}}};
  const Inputs inputs{.job = job, .cluster = cluster, .job_id = "j1"};
  const auto found = environment_of(inputs, {"worker", 1}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(
      only(found->variables, {"GANGRUN_HOST", "GANGRUN_CLUSTER_SPEC", "TF_CONFIG", "MASTER",
                              "JAX_COORD", "DTF_WORKER"}),
      Variables({{"GANGRUN_HOST", "fd00::6"},
                 {"GANGRUN_CLUSTER_SPEC", R"({"worker":["[fd00::5]:4000","[fd00::6]:4001"]})"},
                 {"TF_CONFIG", R"({"cluster":{"worker":["[fd00::5]:4000","[fd00::6]:4001"]},)"
                               R"("task":{"type":"worker","index":1}})"},
                 {"MASTER_ADDR", "fd00::5"},
                 {"MASTER_PORT", "4000"},
                 {"JAX_COORDINATOR_ADDRESS", "[fd00::5]:4000"},
                 {"DTF_WORKER_HOSTS", "[fd00::5]:4000,[fd00::6]:4001"}}));
}

TEST(Environment, ByTheFrameworksThatAreNamed) {
  struct Case {
    std::optional<std::vector<Framework>> frameworks;
    std::vector<std::string> present;
  };
  const std::vector<std::string> all{"TF_CONFIG", "DTF_TASK_INDEX", "WORKER_NUMBER", "RANK",
                                     "JAX_PROCESS_ID"};
  const std::vector<Case> cases{
      {std::nullopt, all},
      {{{}}, {}},
      {{{Framework::kTensorflow}}, {"TF_CONFIG", "DTF_TASK_INDEX", "WORKER_NUMBER"}},
      {{{Framework::kPytorch}}, {"RANK"}},
      {{{Framework::kJax}}, {"JAX_PROCESS_ID"}},
      {{{Framework::kJax, Framework::kPytorch}}, {"JAX_PROCESS_ID", "RANK"}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto job = job_of({task_of("worker", 1)});
    job.frameworks = cases[i].frameworks;
    const Variables found = variables_of(job, {"worker", 0});
    for (const std::string& name : all) {
      const bool expected = std::find(cases[i].present.begin(), cases[i].present.end(), name) !=
                            cases[i].present.end();
      EXPECT_EQ(found.contains(name), expected) << name << " in case " << i;
    }
  }
}

TEST(Environment, OfAnOutlineItHasAllButTheClusterSpec) {
  auto job = job_of({task_of("chief", 1), task_of("worker", 100, 2)});
  job.frameworks = {Framework::kPytorch, Framework::kJax};
  EXPECT_TRUE(is_content_with_outline(job));
  const job::TaskId task{"worker", 40};
  const job::ClusterSpec whole = cluster_of(job);
  const auto outline = job::cluster_spec_from_outline(job::outline_to_json(whole, task));
  ASSERT_TRUE(outline.ok()) << outline.error().message;
  auto expected = environment_of({.job = job, .cluster = whole, .job_id = "j1"}, task, 1);
  const auto found = environment_of({.job = job, .cluster = *outline, .job_id = "j1"}, task, 1);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(expected->variables.erase("GANGRUN_CLUSTER_SPEC"), 1U);
  EXPECT_EQ(*found, *expected);
}

TEST(Environment, OnlyWhoReadsNoAddressesIsContentWithAnOutline) {
  auto job = job_of({task_of("worker", 2)});
  EXPECT_FALSE(is_content_with_outline(job));  // the variables of all frameworks
  for (const auto& [named, content] : std::vector<std::pair<std::vector<Framework>, bool>>{
           {{}, false},
           {{Framework::kPytorch}, true},
           {{Framework::kJax}, true},
           {{Framework::kTensorflow}, false},
           {{Framework::kPytorch, Framework::kTensorflow}, false},
           {{Framework::kHorovod}, false}}) {
    job.frameworks = named;
    EXPECT_EQ(is_content_with_outline(job), content);
  }
}

// A spare, worker:4, has the place of worker:1, and worker:2 is not there: the process sees places.
TEST(Environment, TheIndexIsThePlaceInTheGeneration) {
  auto spec = task_of("worker", 4);
  spec.spares = 1;
  spec.min_instances = 2;
  const auto job = job_of({spec});
  const job::ClusterSpec cluster{.generation = 2,
                                 .tasks = {{"worker", {{"a", 1}, {"b", 2}, {"c", 3}}}},
                                 .members = {{"worker", {0, 4, 3}}}};
  const Inputs inputs{.job = job, .cluster = cluster, .job_id = "j1"};
  const auto found = environment_of(inputs, {"worker", 4}, 0);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(only(found->variables, {"GANGRUN_TASK", "GANGRUN_HOST", "TF_CONFIG", "RANK",
                                    "WORLD_SIZE", "JAX_P", "WORKER_", "TOT_", "DTF_TASK_I"}),
            Variables({{"GANGRUN_TASK_TYPE", "worker"},
                       {"GANGRUN_TASK_INDEX", "1"},
                       {"GANGRUN_HOST", "b"},
                       {"TF_CONFIG", R"({"cluster":{"worker":["a:1","b:2","c:3"]},)"
                                     R"("task":{"type":"worker","index":1}})"},
                       {"RANK", "1"},
                       {"WORLD_SIZE", "3"},
                       {"JAX_PROCESS_ID", "1"},
                       {"WORKER_NUMBER", "1"},
                       {"TOT_WORKERS", "3"},
                       {"DTF_TASK_INDEX", "1"}}));
  const auto last = environment_of(inputs, {"worker", 3}, 0);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->variables.at("RANK"), "2");
  for (const int absent : {1, 2}) {
    EXPECT_FALSE(environment_of(inputs, {"worker", absent}, 0).ok()) << absent;
  }
}

TEST(Environment, APlaceThatIsNoneIsAnError) {
  const auto job = job_of({task_of("worker", 2, 2)});
  EXPECT_EQ(variables_of(job, {"worker", 2}).at("error"),
            "worker:2 has no place in generation 1 of the cluster spec");
  EXPECT_EQ(variables_of(job, {"ps", 0}).at("error"),
            "ps:0 has no place in generation 1 of the cluster spec");
  EXPECT_EQ(variables_of(job, {"worker", 1}, 2).at("error"),
            "worker:1 has 2 processes, none with the number 2");
  EXPECT_EQ(variables_of(job, {"worker", 1}, -1).at("error"),
            "worker:1 has 2 processes, none with the number -1");
}

// TensorBoard was never started: the gang publishes no sidecars, so that none holds up the others.
TEST(Environment, ASidecarIsNotInTheClusterSpecAndHasAnAddressAllTheSame) {
  const auto job = job_of({task_of("worker", 1), task_of("tensorboard", 1)});
  auto cluster = cluster_of(job);
  cluster.tasks.erase("tensorboard");
  Inputs inputs{.job = job, .cluster = cluster, .job_id = "j1"};
  const job::TaskId sidecar{"tensorboard", 0};
  EXPECT_FALSE(environment_of(inputs, sidecar, 0).ok());

  inputs.own_address = job::Address{"here", 6006};
  const auto found = environment_of(inputs, sidecar, 0);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->variables.at("GANGRUN_HOST"), "here");
  EXPECT_EQ(found->variables.at("GANGRUN_PORT"), "6006");
  EXPECT_EQ(found->variables.at("GANGRUN_CLUSTER_SPEC"), R"({"worker":["h1:1000"]})");
  EXPECT_EQ(only(found->variables, {"TF_CONFIG", "RANK", "JAX_"}), Variables{});
  EXPECT_FALSE(environment_of(inputs, {"tensorboard", 1}, 0).ok());
}

TEST(Environment, AnOwnAddressNeverReplacesThePublishedOne) {
  const auto job = job_of({task_of("worker", 2)});
  auto cluster = cluster_of(job);
  Inputs inputs{.job = job, .cluster = cluster, .job_id = "j1"};
  inputs.own_address = job::Address{"elsewhere", 9};
  EXPECT_EQ(environment_of(inputs, {"worker", 0}, 0)->variables.at("GANGRUN_HOST"), "h1");
  cluster.tasks["worker"].pop_back();
  EXPECT_FALSE(environment_of(inputs, {"worker", 1}, 0).ok());
}

// 3,000 tasks fit into TF_CONFIG but not into GANGRUN_CLUSTER_SPEC, 10,000 into neither.
job::ClusterSpec many_workers(int count) {
  job::ClusterSpec cluster{.generation = 1, .tasks = {}};
  for (int i = 0; i < count; ++i) {
    cluster.tasks["worker"].push_back({"node.example.org", static_cast<std::uint16_t>(20000 + i)});
  }
  return cluster;
}

TEST(Environment, ALargeClusterSpecGoesIntoAFile) {
  const auto job = job_of({task_of("worker", 3000)});
  const auto cluster = many_workers(3000);
  const auto found = environment_of({.job = job,
                                     .cluster = cluster,
                                     .job_id = "j1",
                                     .restarts = 0,
                                     .cluster_spec_file = "/run/spec.json"},
                                    {"worker", 0}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->variables.at("GANGRUN_CLUSTER_SPEC_FILE"), "/run/spec.json");
  EXPECT_FALSE(found->variables.contains("GANGRUN_CLUSTER_SPEC"));
  EXPECT_TRUE(found->variables.contains("TF_CONFIG"));
  const auto content = base::parse_json(found->cluster_spec_file_content, std::size_t{1} << 20U);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->at("worker").size(), 3000U);
}

TEST(Environment, TheLimitItselfStillFits) {
  auto job = job_of({task_of("worker", 1)});
  job.frameworks = std::vector<Framework>{};
  job::ClusterSpec cluster{.generation = 1, .tasks = {{"worker", {{"", 8}}}}};
  const std::size_t rest = std::string(R"({"worker":[":8"]})").size();
  for (const std::size_t more : {0U, 1U}) {
    cluster.tasks["worker"][0].host = std::string(kMaxClusterSpecInEnvironment - rest + more, 'h');
    const auto found = environment_of(
        {.job = job, .cluster = cluster, .job_id = "j1", .restarts = 0, .cluster_spec_file = "f"},
        {"worker", 0}, 0);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->variables.contains("GANGRUN_CLUSTER_SPEC"), more == 0) << more;
    EXPECT_EQ(found->cluster_spec_file_content.empty(), more == 0) << more;
  }
}

TEST(Environment, ALargeClusterSpecWithoutAFileIsAnError) {
  const auto job = job_of({task_of("worker", 3000)});
  const auto cluster = many_workers(3000);
  const auto found =
      environment_of({.job = job, .cluster = cluster, .job_id = "j1"}, {"worker", 0}, 0);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, base::Code::kResourceExhausted);
  EXPECT_THAT(found.error().message, HasSubstr("there is no file to put it in"));
}

TEST(Environment, NoVariableIsLargerThanTheKernelTakes) {
  auto job = job_of({task_of("worker", 10000)});
  const auto cluster = many_workers(10000);
  const Inputs inputs{.job = job,
                      .cluster = cluster,
                      .job_id = "j1",
                      .restarts = 0,
                      .cluster_spec_file = "/run/spec.json"};
  const auto unnamed = environment_of(inputs, {"worker", 0}, 0);
  ASSERT_TRUE(unnamed.ok());
  EXPECT_FALSE(unnamed->variables.contains("TF_CONFIG"));
  EXPECT_FALSE(unnamed->variables.contains("DTF_WORKER_HOSTS"));
  EXPECT_EQ(unnamed->variables.at("WORLD_SIZE"), "10000");
  for (const auto& [name, value] : unnamed->variables) {
    EXPECT_LE(name.size() + value.size() + 2, kMaxVariableBytes) << name;
  }
  job.frameworks = {{Framework::kTensorflow}};
  const auto named = environment_of(inputs, {"worker", 0}, 0);
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.error().code, base::Code::kResourceExhausted);
  EXPECT_THAT(named.error().message, HasSubstr("framework: tensorflow: TF_CONFIG would have"));
}

TEST(Check, WhatCannotBeServedIsNamed) {
  auto job = job_of({task_of("worker", 2, 2), task_of("tensorboard", 1)});
  EXPECT_TRUE(check(job).ok());
  job.frameworks = {{Framework::kPytorch, Framework::kJax}};
  EXPECT_TRUE(check(job).ok());
  job.frameworks = {{Framework::kTensorflow}};
  const auto refused = check(job);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "tasks.worker.processes: 2 cannot be used with framework: tensorflow, which has one "
            "process for each task (processes: 1); use instances: instead");
  job.tasks[0].processes = 1;
  job.tasks[1].processes = 2;  // a sidecar is no part of the cluster
  EXPECT_TRUE(check(job).ok());
}

TEST(Environment, ATaskThatIsFedHasTheKeysOfTheJob) {
  auto job = test::job_of({test::task_of("worker", 1), test::task_of("tensorboard", 1)});
  EXPECT_FALSE(needs_rendezvous(job, {"worker", 0}));
  const auto cluster = test::cluster_of(job);
  const auto found = environment_of({.job = job,
                                     .cluster = cluster,
                                     .job_id = "j1",
                                     .rendezvous_port = 4711,
                                     .tells_rendezvous = true},
                                    {"worker", 0}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->variables.at("GANGRUN_RENDEZVOUS"), "127.0.0.1:4711");
  EXPECT_FALSE(found->variables.contains("HOROVOD_GLOO_RENDEZVOUS_PORT"));
}

TEST(Environment, NamesOfOursAreReservedButForWhereJobsAreKept) {
  for (const char* name : {"GANGRUN_TASK", "GANGRUN_CLUSTER_SPEC", "GANGRUN_", "GANGRUN_HOMES"}) {
    EXPECT_TRUE(is_reserved(name)) << name;
  }
  for (const char* name : {"GANGRUN_HOME", "GANGRUN", "HOME", "gangrun_task"}) {
    EXPECT_FALSE(is_reserved(name)) << name;
  }
}

}  // namespace
}  // namespace gangrun::frameworks
