#include "hadoop/messages_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::hadoop {
namespace {

const ContainerId kContainer{
    .attempt = {.application = {.cluster_timestamp = 1700000000000, .id = 7}, .attempt = 2},
    .id = 3};

TEST(Messages, IdsAndResourcesAreReadAsTheyWereWritten) {
  yarn::ContainerIdProto id;
  write(kContainer, id);
  EXPECT_EQ(read(id), kContainer);
  const Resource resource{.memory_mib = 64, .vcores = 2, .others = {{"yarn.io/gpu", 1}}};
  yarn::ResourceProto message;
  write(resource, message);
  EXPECT_EQ(read(message), resource);
}

TEST(Messages, MemoryAndCoresAmongTheOthersAreNotReadTwice) {
  yarn::ResourceProto message;
  message.set_memory(64);
  for (const char* name : {"memory-mb", "vcores", "yarn.io/gpu"}) {
    message.add_resource_value_map()->set_key(name);
  }
  EXPECT_THAT(read(message).others, testing::ElementsAre(testing::Key("yarn.io/gpu")));
}

TEST(Messages, AnAskIsNeverNegative) {
  yarn::ResourceRequestProto message;
  write(ResourceRequest{.capability = {.memory_mib = 64}, .containers = -1}, message);
  EXPECT_TRUE(message.has_num_containers());
  EXPECT_EQ(message.num_containers(), 0);
  EXPECT_EQ(message.resource_name(), "*");
  EXPECT_FALSE(message.has_node_label_expression());
  EXPECT_EQ(message.allocation_request_id(), -1);
}

TEST(Messages, ALaunchContextKeepsAllItSays) {
  LaunchContext context{.command = {"exec", "x"}, .credentials = {}};
  context.local_resources["link"] = {.host = "twin", .path = "/a", .size = 5, .timestamp = 9};
  context.environment["A"] = "b";
  context.view_acl = "*";
  context.credentials.secrets["s"] = base::Secret("v");
  yarn::ContainerLaunchContextProto message;
  write(context, message);
  const yarn::LocalResourceProto& file = message.localresources(0).value();
  EXPECT_EQ(message.localresources(0).key(), "link");
  EXPECT_EQ(file.resource().scheme(), "hdfs");
  EXPECT_EQ(file.resource().port(), -1);  // absent would be port 0, which fails
  EXPECT_EQ(file.timestamp(), 9);
  EXPECT_EQ(file.type(), yarn::FILE);
  EXPECT_EQ(file.visibility(), yarn::PRIVATE);
  EXPECT_EQ(message.environment(0).value(), "b");
  EXPECT_EQ(message.command_size(), 2);
  ASSERT_EQ(message.application_acls_size(), 1);
  EXPECT_EQ(message.application_acls(0).accesstype(), yarn::APPACCESS_VIEW_APP);
  const auto credentials = parse_credentials(message.tokens());
  ASSERT_TRUE(credentials.ok());
  EXPECT_EQ(credentials->secrets.at("s").reveal(), "v");
  yarn::ContainerLaunchContextProto empty;
  write(LaunchContext{.command = {}, .credentials = {}}, empty);
  EXPECT_FALSE(empty.has_tokens());
}

TEST(Messages, WhatIsLeftOutHasItsDefault) {
  const ContainerStatus status = read(yarn::ContainerStatusProto());
  EXPECT_EQ(status.state, ContainerState::kNew);
  EXPECT_EQ(status.exit_status, kExitInvalid);
  EXPECT_EQ(status.diagnostics, "");
  EXPECT_EQ(read(yarn::NodeReportProto()).state, NodeState::kNew);
}

// As NodeManagers say it: running in any case, and from Hadoop 3 on, as field 8, more of it.
TEST(Messages, AContainerThatIsBeingPreparedIsTold) {
  const auto is_being_prepared = [](const std::string& bytes) {
    yarn::ContainerStatusProto message;
    EXPECT_TRUE(message.ParseFromString(bytes));
    const ContainerStatus status = read(message);
    EXPECT_EQ(status.state, ContainerState::kRunning);
    return status.is_being_prepared;
  };
  EXPECT_FALSE(is_being_prepared("\x10\x02"));
  EXPECT_TRUE(is_being_prepared("\x10\x02\x40\x01"));
  EXPECT_FALSE(is_being_prepared("\x10\x02\x40\x02"));
}

TEST(Messages, AnAnswerThatIsNoMessageIsAnError) {
  const auto answer = parse_answer<yarn::ResourceTypeInfoProto>("\x08", "getResourceTypeInfo");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "YARN's answer to getResourceTypeInfo cannot be read");
}

}  // namespace
}  // namespace gangrun::hadoop
