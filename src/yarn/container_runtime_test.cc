#include "yarn/container_runtime.h"

#include <gmock/gmock.h>

#include "yarn/yarn_options.h"

namespace gangrun::yarn {
namespace {

using testing::ElementsAre;
using testing::Pair;

hadoop::Configuration allowing(const std::string& runtimes) {
  hadoop::Configuration configuration;
  configuration.set("yarn.nodemanager.runtime.linux.allowed-runtimes", runtimes);
  return configuration;
}

TEST(ContainerRuntime, IsWhatHadoopsConfigurationSaysUnlessTheJobDoes) {
  job::JobSpec spec;
  EXPECT_EQ(container_runtime_of(spec, {}), ContainerRuntime::kNone);
  EXPECT_EQ(container_runtime_of(spec, allowing("default,javasandbox")), ContainerRuntime::kNone);
  EXPECT_EQ(container_runtime_of(spec, allowing("default, docker")), ContainerRuntime::kDocker);
  edit_yarn(spec).container_runtime = ContainerRuntime::kNone;
  EXPECT_EQ(container_runtime_of(spec, allowing("docker")), ContainerRuntime::kNone);
  edit_yarn(spec).container_runtime = ContainerRuntime::kDocker;
  EXPECT_EQ(container_runtime_of(spec, {}), ContainerRuntime::kDocker);
}

TEST(ContainerRuntime, IsToldByVariables) {
  job::JobSpec spec;
  EXPECT_THAT(runtime_variables(spec, "tf:2"),
              ElementsAre(Pair("YARN_CONTAINER_RUNTIME_DOCKER_CONTAINER_NETWORK", "host"),
                          Pair("YARN_CONTAINER_RUNTIME_DOCKER_IMAGE", "tf:2"),
                          Pair("YARN_CONTAINER_RUNTIME_TYPE", "docker")));
  spec.mounts = {{"/a", true}, {"/b", false}};
  EXPECT_EQ(runtime_variables(spec, "tf:2").at("YARN_CONTAINER_RUNTIME_DOCKER_MOUNTS"),
            "/a:/a:ro,/b:/b:rw");
}

}  // namespace
}  // namespace gangrun::yarn
