#include "client/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "client/agent_program.h"
#include "client/test_context.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "local/commands/local_place.h"
#include "local/commands/machine_checks.h"
#include "places/places.h"
#include "spark/spark_place.h"
#include "yarn/yarn_options.h"

namespace gangrun::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kJob =
    "tasks: {worker: {instances: 2}}\ncommand: [./run, now]\nfiles: [data.csv]\n";

class PrepareTest : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text, mode_t mode = 0600) {
    const std::string path = test_.folder() + "/" + name;
    ASSERT_TRUE(base::make_folders(path.substr(0, path.rfind('/')), 0700).ok());
    ASSERT_TRUE(base::write_file_atomically(path, text, mode).ok());
  }
  base::Result<> check(const job::JobSpec& spec) {
    return local::commands::check_on_this_machine(
        spec, machine_, {{"PATH", test_.folder() + "/bin"}}, test_.folder());
  }

  TestContext test_;
  const Places places_{places::all()};
  local::Machine machine_{.memory_mib = 4096, .vcores = 4, .gpus = 0};
};

TEST_F(PrepareTest, PathsInAJobFileAreRelativeToIt) {
  write("jobs/job.yaml", kJob);
  RunOptions options;
  options.spec_path = "jobs/job.yaml";
  options.flags.job_lists["files"] = {"other.csv"};
  const auto spec = read_job(options, test_.folder(), places_.rules());
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->name, "job");
  EXPECT_THAT(spec->files, testing::Contains("other.csv"));
  options.flags.job_lists.clear();
  EXPECT_THAT(read_job(options, test_.folder(), places_.rules())->files,
              ElementsAre(test_.folder() + "/jobs/data.csv"));
  // One that is known as it was is not read again.
  options.spec_text = "tasks: {worker: 1}\ncommand: \"true\"\nfiles: [then.csv]\n";
  EXPECT_THAT(read_job(options, test_.folder(), places_.rules())->files,
              ElementsAre(test_.folder() + "/jobs/then.csv"));
}

// The contents of an image cannot be checked from here.
TEST_F(PrepareTest, ProgramsOfImagesAreTheImages) {
  RunOptions options;
  options.flags.roles = {"worker:1"};
  options.flags.command = {"no-such-program"};
  const auto without = read_job(options, test_.folder(), places_.rules());
  EXPECT_THAT(check(*without).error().message, HasSubstr("'no-such-program'"));
  options.flags.job_fields["image"] = "tf:2";
  const auto with = read_job(options, test_.folder(), places_.rules());
  EXPECT_TRUE(check(*with).ok());
}

TEST_F(PrepareTest, ImagesNeedAnEngineAndTheHostsOwnNetwork) {
  RunOptions options;
  options.flags.roles = {"worker:1"};
  options.flags.command = {"x"};
  std::vector<std::string> folders = {test_.folder()};
  const auto images_of = [&] {
    return local::commands::check_images_of(*read_job(options, test_.folder(), places_.rules()),
                                            {{"PATH", test_.folder()}}, folders, {});
  };
  EXPECT_TRUE(images_of().ok());
  options.flags.job_fields["image"] = "tf:2";
  EXPECT_THAT(images_of().error().message,
              HasSubstr("image: 'tf:2': there is no container engine"));
  options.flags.hosts = {"a"};
  EXPECT_THAT(images_of().error().message, HasSubstr("hosts"));
  folders.emplace_back("/a\xff");
  EXPECT_THAT(images_of().error().message, HasSubstr("not UTF-8, and engines take nothing else"));
}

// On a cluster: what is there already is neither looked for here nor relative to anything.
TEST_F(PrepareTest, FilesOfAClusterAreTakenAsTheyAre) {
  write("jobs/job.yaml",
        "tasks: {worker: }\ncommand: [no-such-program]\non: yarn\n"
        "files: ['hdfs://nn//a/../b.csv#c', 'data.csv#d', data.csv]\n"
        "archives: {a: 'hdfs://nn/a.zip', env: env.tgz}\n");
  RunOptions options;
  options.spec_path = "jobs/job.yaml";
  const auto spec = read_job(options, test_.folder(), places_.rules());
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(spec->files,
              ElementsAre("hdfs://nn//a/../b.csv#c", test_.folder() + "/jobs/data.csv#d",
                          test_.folder() + "/jobs/data.csv"));
  EXPECT_THAT(spec->archives, ElementsAre(testing::Pair("a", "hdfs://nn/a.zip"),
                                          testing::Pair("env", test_.folder() + "/jobs/env.tgz")));
  EXPECT_THAT(check_files(*spec, test_.folder(), true).error().message,
              HasSubstr("jobs/data.csv': there is no such file or folder"));
  write("jobs/data.csv", "1\n");
  EXPECT_THAT(check_files(*spec, test_.folder(), true).error().message,
              AllOf(HasSubstr("archives.env: "), HasSubstr("there is no such file")));
  write("jobs/env.tgz", "1\n");
  EXPECT_TRUE(check_files(*spec, test_.folder(), true).ok());
}

// If nothing is brought, tasks find what is there.
TEST_F(PrepareTest, AFileHasToBeThereByTheNameThatItGetsOnACluster) {
  job::JobSpec spec;
  spec.files = {"data.csv#conf.csv"};
  write("data.csv", "1\n");
  EXPECT_TRUE(check_files(spec, test_.folder(), true).ok());
  EXPECT_THAT(check_files(spec, test_.folder(), false).error().message,
              HasSubstr("your own folder here, where nothing is put for them, and it has no "
                        "'conf.csv'"));
  write("conf.csv", "2\n");
  EXPECT_TRUE(check_files(spec, test_.folder(), false).ok());
}

TEST_F(PrepareTest, OnThisMachineAMirrorNeedsHosts) {
  job::JobSpec spec;
  const RunOptions options;
  spec.zookeeper.emplace();
  EXPECT_THAT(places_.check_flags(options, spec).error().message,
              HasSubstr("zookeeper.hosts is not given"));
  spec.zookeeper->hosts = {"zk1"};
  EXPECT_TRUE(places_.check_flags(options, spec).ok());
  spec.zookeeper->hosts.clear();
  spec.on = yarn::kYarn;
  EXPECT_TRUE(places_.check_flags(options, spec).ok());
}

TEST_F(PrepareTest, OptionsOfThisMachineAreRefusedOnACluster) {
  job::JobSpec spec;
  RunOptions options;
  options.of_place["--host"] = "127.0.0.1";
  EXPECT_TRUE(places_.check_flags(options, spec).ok());
  spec.on = yarn::kYarn;
  EXPECT_EQ(places_.check_flags(options, spec).error().message,
            "--host: '127.0.0.1' is not allowed with `on: yarn`, where the master is not on this "
            "machine; allowed with `on: local` and `on: spark`");
  spec.on = kubernetes::pods::kKubernetes;
  const std::string why =
      ", where pods do not connect to the master; allowed with `on: local` and ";
  EXPECT_EQ(places_.check_flags(options, spec).error().message,
            "--host: '127.0.0.1' is not allowed with `on: kubernetes`" + why + "`on: spark`");
  options.of_place.clear();
  EXPECT_TRUE(places_.check_flags(options, spec).ok());
  options.switches_of_place["--serve-tls"] = true;
  EXPECT_EQ(places_.check_flags(options, spec).error().message,
            "--serve-tls is not allowed with `on: kubernetes`" + why + "`on: spark`");
  spec.on = yarn::kYarn;
  EXPECT_EQ(places_.check_flags(options, spec).error().message,
            "--serve-tls is not allowed with `on: yarn`, where the master is not on this machine; "
            "allowed with `on: local` and `on: spark`");
}

TEST_F(PrepareTest, AJobOnSparkEndsWithItsDriver) {
  job::JobSpec spec;
  spec.on = spark::kSpark;
  RunOptions options;
  options.of_place["--host"] = "127.0.0.1";
  EXPECT_TRUE(places_.check_flags(options, spec).ok());
  options.of_place["--port"] = "4711";
  EXPECT_TRUE(places_.check_flags(options, spec).ok());
  spec.on = local::commands::kLocal;
  EXPECT_EQ(places_.check_flags(options, spec).error().message,
            "--port: '4711' is not allowed with `on: local`; allowed with `on: spark`");
  options.of_place.erase("--host");
  spec.on = yarn::kYarn;
  EXPECT_EQ(places_.check_flags(options, spec).error().message,
            "--port: '4711' is not allowed with `on: yarn`; allowed with `on: spark`");
  spec.on = spark::kSpark;
  options.detach = true;
  EXPECT_THAT(places_.check_flags(options, spec).error().message,
              HasSubstr("--detach is not allowed with `on: spark`"));
}

TEST_F(PrepareTest, ANumberOfTasksIsNoNamespace) {
  const Place& place = *places_.find(kubernetes::pods::kKubernetes);
  const auto told = [&](const std::string& given, const std::string& file, const std::string& why) {
    RunOptions options;
    options.flags.job_fields["kubernetes.namespace"] = given;
    options.spec_path = file;
    return place.launch.explain(base::invalid_argument(why), options).message;
  };
  const std::string refused = "kubernetes.namespace is not allowed";
  EXPECT_EQ(told("4", "", refused),
            "-n 4: -n is the namespace on Kubernetes; to start 4 tasks, use -r worker:4");
  EXPECT_EQ(told("p", "4", "there is no 4"),
            "-np 4: -n is the namespace on Kubernetes; to start 4 tasks, use -r worker:4");
  EXPECT_EQ(told("p", "job.yaml", refused), refused);
  EXPECT_EQ(told("team", "4", refused), refused);
  EXPECT_EQ(told("0", "", refused), refused);
  EXPECT_EQ(told("4", "", "there is no job.yaml"), "there is no job.yaml");
}

TEST_F(PrepareTest, FilesAndProgramsAreLookedFor) {
  write("job.yaml", kJob);
  RunOptions options;
  options.spec_path = "job.yaml";
  const auto spec = read_job(options, test_.folder(), places_.rules());
  ASSERT_TRUE(spec.ok());
  const auto missing = check_files(*spec, test_.folder(), false);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(missing.error().message, HasSubstr("data.csv"));
  write("data.csv", "1\n");
  EXPECT_TRUE(check_files(*spec, test_.folder(), false).ok());
  EXPECT_THAT(check(*spec).error().message, HasSubstr("there is no"));
  write("run", "#!/bin/sh\n");
  EXPECT_THAT(check(*spec).error().message, HasSubstr("not an executable file"));
  write("run", "#!/bin/sh\n", 0700);
  EXPECT_TRUE(check(*spec).ok());
}

TEST_F(PrepareTest, ProgramsWithoutASlashAreFoundInPath) {
  RunOptions options;
  options.flags.roles = {"worker:1"};
  options.flags.command = {"tool"};
  const auto spec = read_job(options, test_.folder(), places_.rules());
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(check(*spec).error().message, HasSubstr("not found in PATH"));
  write("tool", "#!/bin/sh\n", 0700);
  EXPECT_THAT(check(*spec).error().message, testing::EndsWith("; use ./tool"));
  write("bin/tool", "#!/bin/sh\n", 0700);
  EXPECT_TRUE(check(*spec).ok());
}

TEST_F(PrepareTest, WhatTheMachineDoesNotHaveIsRefused) {
  RunOptions options;
  options.flags.roles = {"worker:1"};
  options.flags.fields["gpus"] = {"1"};
  options.flags.command = {"/bin/sh"};
  const auto spec = read_job(options, test_.folder(), places_.rules());
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const auto checked = check(*spec);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, base::Code::kInvalidArgument);
  machine_.gpus = 1;
  EXPECT_TRUE(check(*spec).ok());
}

TEST(HostForTasks, IsLoopbackOrOneOfThisMachine) {
  const base::Instant deadline = base::SystemClock().now() + base::seconds(10);
  EXPECT_EQ(host_for_tasks({}, std::nullopt, deadline)->address, "127.0.0.1");
  EXPECT_EQ(host_for_tasks({}, "127.0.0.2", deadline)->address, "127.0.0.2");
  const auto foreign = host_for_tasks({}, "192.0.2.1", deadline);
  ASSERT_FALSE(foreign.ok());
  EXPECT_THAT(foreign.error().message, HasSubstr("--host"));
}

TEST(HostForTasks, IsOfTheInterfaceThatTheJobNames) {
  const base::Instant deadline = base::SystemClock().now() + base::seconds(10);
  job::JobSpec spec;
  spec.interface = "127.0.0.0/8";
  const auto chosen = host_for_tasks(spec, std::nullopt, deadline);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(*chosen, (net::ChosenAddress{"127.0.0.1", "of lo, in 127.0.0.0/8"}));
  EXPECT_THAT(host_for_tasks(spec, "localhost", deadline).error().message,
              HasSubstr("'localhost' and interface '127.0.0.0/8' are both given"));
  spec.interface = "gangrun-none";
  const auto none = host_for_tasks(spec, std::nullopt, deadline);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(none.error().message, HasSubstr("interface: no interface 'gangrun-none' is up"));
  // An interface of the hosts, not of this machine.
  spec.hosts = {{"h1", 1}};
  EXPECT_EQ(host_for_tasks(spec, std::nullopt, deadline)->address, "127.0.0.1");
}

TEST_F(PrepareTest, TheAgentStandsBesideOrInLibexec) {
  const auto missing = find_agent(test_.context());
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("libexec"));
  write("libexec/gangrun-agent", "#!/bin/sh\necho gangrun-agent 9\n", 0700);
  EXPECT_EQ(*find_agent(test_.context()), test_.folder() + "/libexec/gangrun-agent");
  write("bin/gangrun-agent", "#!/bin/sh\nexit 3\n", 0700);
  EXPECT_EQ(*find_agent(test_.context()), test_.folder() + "/bin/gangrun-agent");
  test_.context().environment["GANGRUN_AGENT"] = test_.folder() + "/none";
  EXPECT_THAT(find_agent(test_.context()).error().message, HasSubstr("GANGRUN_AGENT"));
}

TEST_F(PrepareTest, AJobTakesNoAgentOfAnotherVersion) {
  write("bin/gangrun-agent", "#!/bin/sh\necho gangrun-agent 9.8.7\n", 0700);
  const auto other = find_agent_of_this_version(test_.context());
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message,
            test_.folder() + "/bin/gangrun-agent is gangrun-agent 9.8.7, and this is gangrun " +
                GANGRUN_VERSION + ": install both from the same release");
  write("bin/gangrun-agent", "#!/bin/sh\necho gangrun-agent " GANGRUN_VERSION "\n", 0700);
  EXPECT_EQ(*find_agent_of_this_version(test_.context()), test_.folder() + "/bin/gangrun-agent");
}

TEST_F(PrepareTest, AnAgentThatFailsHasNoVersion) {
  write("good", "#!/bin/sh\necho gangrun-agent 9\n", 0700);
  write("bad", "#!/bin/sh\nexit 3\n", 0700);
  const base::Instant deadline = base::SystemClock().now() + base::seconds(30);
  EXPECT_EQ(*agent_version(test_.folder() + "/good", deadline), "gangrun-agent 9");
  const auto failed = agent_version(test_.folder() + "/bad", deadline);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("exited with status 3"));
}

}  // namespace
}  // namespace gangrun::client
