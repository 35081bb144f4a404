#include "agent/image_run.h"

#include <gmock/gmock.h>

#include <csignal>

namespace gangrun::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

ImageRun example() {
  ImageRun run;
  run.engine = "/usr/bin/docker";
  run.name = "gangrun-j-worker-0-1";
  run.image = "tf:2.15";
  run.agent_program = "/opt/gangrun-agent";
  run.working_folder = "/home/ann/wine";
  run.environment_file = "/logs/worker-0.environment";
  run.report_file = "/logs/worker-0.container";
  run.mounts = {{"/home/ann/wine", false}, {"/data", true}};
  run.user = 1000;
  run.group = 100;
  run.command = {"python", "train.py"};
  return run;
}

TEST(ImageRun, IsOneCommandOfTheEngine) {
  EXPECT_THAT(
      engine_argv(example()),
      ElementsAre("/usr/bin/docker", "run", "--rm", "--interactive", "--name",
                  "gangrun-j-worker-0-1", "--network", "host", "--ipc", "host", "--log-driver",
                  "none", "--workdir", "/home/ann/wine", "--user", "1000:100", "--mount",
                  "type=bind,source=/home/ann/wine,target=/home/ann/wine", "--mount",
                  "type=bind,source=/data,target=/data,readonly", "--mount",
                  "type=bind,source=/opt/gangrun-agent,target=/.gangrun-agent,readonly",
                  "--entrypoint", "/.gangrun-agent", "tf:2.15", "inside",
                  "/logs/worker-0.environment", "/logs/worker-0.container", "TERM", "process",
                  "python", "train.py"));
}

TEST(ImageRun, HasTheCallersGroupsAndItsGpus) {
  ImageRun run = example();
  run.more_groups = {27, 44};
  run.gpus.list = {{"0", "gpu-0", "", ""}, {"GPU-5f", "GPU-5f", "", ""}};
  EXPECT_THAT(engine_argv(run), IsSupersetOf({"--group-add", "27", "44", "\"device=0,GPU-5f\""}));
}

TEST(ImageRun, HasTheDevicesOfItsAmdGpus) {
  ImageRun run = example();
  run.gpus = {job::GpuMaker::kAmd, {{"GPU-5f", "GPU-5f", "", "dri/renderD129"}}};
  EXPECT_THAT(engine_argv(run), IsSupersetOf({"--device", "/dev/kfd", "/dev/dri/renderD129"}));
}

TEST(ImageRun, CountsItsGpusFromZero) {
  const job::Gpus given{
      job::GpuMaker::kNvidia,
      {{"2", "gpu-2", "", ""}, {"GPU-5f", "GPU-5f", "", ""}, {"7", "gpu-7", "", ""}}};
  EXPECT_EQ(job::names_of(as_seen_inside(given)), "0,GPU-5f,2");
}

TEST(ImageRun, QuotesWhatAPathMayHave) {
  ImageRun run = example();
  run.mounts = {{"/a,b \"c\"", true}};
  EXPECT_THAT(engine_argv(run), Contains("type=bind,\"source=/a,b \"\"c\"\"\",\"target=/a,b "
                                         "\"\"c\"\"\",readonly"));
}

TEST(ImageRun, KeepsTheUsersNumbersUnderPodmanWithoutRoot) {
  ImageRun run = example();
  run.engine = "/usr/bin/podman";
  EXPECT_THAT(engine_argv(run), Contains("keep-id"));
  run.user = 0;
  EXPECT_THAT(engine_argv(run), Not(Contains("keep-id")));
}

TEST(ImageRun, LeavesTheImageItsOwnVariables) {
  for (const char* name : {"HADOOP_HOME", "HADOOP_CONF_DIR", "JAVA_HOME", "CLASSPATH", "USER",
                           "PYTHONPATH", "LOCAL_DIRS", "CONTAINER_ID", "LC_ALL"}) {
    EXPECT_TRUE(passes_into_image(name)) << name;
  }
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "DOCKER_HOST", "TMPDIR", "SECRET"}) {
    EXPECT_FALSE(passes_into_image(name)) << name;
  }
}

TEST(ImageRun, SeesWhatTheLinksInAContainerOfYarnLeadTo) {
  EXPECT_THAT(mounts_of_yarn("/d1/nm/usercache/ann/appcache/application_1_2", "/l/a/c,/l/b/c"),
              ElementsAre(job::Mount{"/d1/nm/usercache/ann/appcache/application_1_2", false},
                          job::Mount{"/d1/nm/usercache/ann/filecache", true},
                          job::Mount{"/d1/nm/filecache", true}, job::Mount{"/l/a/c", false},
                          job::Mount{"/l/b/c", false}));
  EXPECT_THAT(mounts_of_yarn("", ""), testing::IsEmpty());
  EXPECT_THAT(mounts_of_yarn("odd", ""), ElementsAre(job::Mount{"odd", false}));
}

TEST(ImageRun, MountsAPathOnce) {
  EXPECT_THAT(merged({{"/a", false}, {"/b", false}, {"/a", true}}),
              ElementsAre(job::Mount{"/b", false}, job::Mount{"/a", true}));
}

process::Exit exited(int code) { return {.code = code}; }
process::Exit killed(int number) { return {.signal = number}; }

TEST(ImageExit, IsWhatTheContainerTells) {
  EXPECT_EQ(image_exit(exited(139), process::ContainerReport{{}, killed(SIGSEGV), ""}, {})
                .exit.to_words(),
            "was killed by signal 11 (segmentation fault)");
  EXPECT_EQ(image_exit(exited(139), process::ContainerReport{{}, exited(139), ""}, {}).exit.code,
            139);
  EXPECT_EQ(image_exit(exited(127), process::ContainerReport{{}, {}, "cannot start x"}, {})
                .could_not_start,
            "cannot start x");
}

TEST(ImageExit, IsNoSuccessWhereTheContainerToldNoEnd) {
  const process::ContainerReport running;
  EXPECT_FALSE(image_exit(exited(0), running, {}).exit.succeeded());
  EXPECT_EQ(image_exit(exited(137), running, {}).exit.signal, SIGKILL);
  EXPECT_EQ(image_exit(killed(SIGKILL), std::nullopt, {}).exit.signal, SIGKILL);
}

TEST(ImageExit, IsTheEnginesComplaintWhereNothingRan) {
  EXPECT_EQ(image_exit(exited(125), std::nullopt,
                       {"Unable to find image 'x:1' locally", "docker: pull access denied", "",
                        "Run 'docker run --help'"})
                .could_not_start,
            "docker: pull access denied");
  EXPECT_EQ(image_exit(exited(125), std::nullopt, {}).could_not_start,
            "the container engine exited with status 125");
}

}  // namespace
}  // namespace gangrun::agent
