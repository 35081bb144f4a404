#include "ssh/ssh_options.h"

#include <gtest/gtest.h>

namespace gangrun::ssh {
namespace {

job::JobSpec workers(int count, int gpus) {
  job::JobSpec spec;
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = count;
  worker.resources.gpus = gpus;
  spec.tasks = {worker};
  return spec;
}

TEST(GpusOfHosts, MustBeEnoughForAllAndForEach) {
  EXPECT_TRUE(check_gpus(workers(4, 0), {}).ok());
  EXPECT_TRUE(check_gpus(workers(4, 4), {8, 8}).ok());
  const auto all = check_gpus(workers(5, 4), {8, 8});
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().message, "the job asks for 20 GPUs; there are 16 on 2 hosts");
  const auto one = check_gpus(workers(1, 9), {8, 8});
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().message, "worker:0 asks for 9 GPUs; the host with the most has 8");
}

TEST(EngineOfAHost, IsNeededByImagesOnly) {
  job::JobSpec spec = workers(2, 0);
  HelloMessage hello;
  hello.engine_lack = "there is no container engine";
  EXPECT_TRUE(check_engine(spec, "gpu1", hello).ok());
  spec.tasks.front().image = "wine:1";
  const auto lacking = check_engine(spec, "gpu1", hello);
  ASSERT_FALSE(lacking.ok());
  EXPECT_EQ(lacking.error().message,
            "image: 'wine:1': host gpu1: \"there is no container engine\"");
  hello.engine = "/usr/bin/docker";
  EXPECT_TRUE(check_engine(spec, "gpu1", hello).ok());
}

TEST(SshRules, TakeOneSourceOfHosts) {
  const jobfile::PlaceRules place = ssh_rules();
  job::JobSpec spec = workers(1, 0);
  spec.hosts = {{"gpu1", 8}};
  EXPECT_EQ(place.check(spec), std::nullopt);
  edit_ssh(spec).hostfile = "hosts";
  const auto found = place.check(spec);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "ssh.hostfile");
}

TEST(SshRules, AFolderOfAHostIsAbsolute) {
  job::JobSpec spec = workers(1, 0);
  edit_ssh(spec).folder = "scratch";
  const auto found = ssh_rules().check(spec);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "ssh.folder");
  EXPECT_EQ(found->text, "'scratch' is not an absolute path");
}

}  // namespace
}  // namespace gangrun::ssh
