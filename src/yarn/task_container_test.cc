#include "yarn/task_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(ContainerResource, WhatATaskAsksForIsItsContainer) {
  const hadoop::Resource resource =
      resource_of({.memory_mib = 2048, .vcores = 2, .gpus = 1, .others = {{"fpga", 3}}});
  EXPECT_EQ(resource,
            (hadoop::Resource{
                .memory_mib = 2048, .vcores = 2, .others = {{"fpga", 3}, {"yarn.io/gpu", 1}}}));
  EXPECT_EQ(resource_of({}).memory_mib, kDefaultMemoryMib);
}

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

TEST(WhereContainersWork, WithoutOutputsItSaysWhatGoes) {
  job::JobSpec spec;
  spec.tasks.resize(1);
  const std::string words =
      "tasks work in the folders of their containers, which YARN removes at the end: write what is "
      "to stay to a file system that all see, or name it in `outputs`";
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
  spec.outputs.emplace();
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
}

TEST(WhereContainersWork, OutputsOfTheJobOrOfATypeHaveAPlace) {
  const std::string words =
      "tasks work in the folders of their containers, which YARN removes at the end: what "
      "`outputs` names goes to hdfs://nn/outputs, for `gangrun fetch`";
  job::JobSpec spec;
  spec.tasks.resize(2);
  spec.tasks.back().outputs = {"model"};
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
  spec.tasks.back().outputs.reset();
  spec.outputs = {"model"};
  EXPECT_EQ(where_containers_work(spec, "hdfs://nn/outputs"), words);
}

}  // namespace
}  // namespace gangrun::yarn
