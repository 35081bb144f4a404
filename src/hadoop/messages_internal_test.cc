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

TEST(MasterMessages, AnAllocationAsksReleasesAndDenies) {
  const AllocateRequest request{
      .asks = {{.priority = 4, .capability = {.memory_mib = 64}, .containers = 2}},
      .releases = {kContainer},
      .denied_hosts = {"bad"},
      .hosts_allowed_again = {"good"},
      .progress = 0.5F};
  yarn::AllocateRequestProto message;
  write(request, message);
  EXPECT_EQ(message.ask(0).num_containers(), 2);
  EXPECT_EQ(read(message.release(0)), kContainer);
  EXPECT_EQ(message.progress(), 0.5F);
  // Fields 3, 1 and 2: the two hosts.
  EXPECT_THAT(message.SerializeAsString(), testing::HasSubstr("\x1a\x0b\x0a\x03"
                                                              "bad\x12\x04"
                                                              "good"));
}

TEST(MasterMessages, OnePerNodeIsAConstraintOnTheTag) {
  SchedulingRequest request;
  request.allocation_request_id = 5;
  request.priority = 1;
  request.capability.memory_mib = 64;
  request.tag = "ps";
  yarn::SchedulingRequestProto message;
  write(request, message);
  const yarn::SimplePlacementConstraintProto& constraint =
      message.placementconstraint().simpleconstraint();
  EXPECT_EQ(constraint.scope(), "node");
  EXPECT_TRUE(constraint.has_maxcardinality());
  EXPECT_EQ(constraint.maxcardinality(), 0);
  EXPECT_EQ(constraint.targetexpressions(0).targetkey(), "self");
  EXPECT_EQ(constraint.targetexpressions(0).targetvalues(0), "ps");
  EXPECT_EQ(constraint.targetexpressions_size(), 1);
  EXPECT_EQ(message.allocationrequestid(), 5);
  EXPECT_EQ(message.priority().priority(), 1);
  EXPECT_EQ(message.allocationtags(0), "ps");
  EXPECT_EQ(read(message.resourcesizing().resources()), request.capability);
  EXPECT_EQ(message.resourcesizing().numallocations(), 1);
}

TEST(MasterMessages, ALabelIsAnotherTargetOfTheConstraint) {
  SchedulingRequest request;
  request.capability.memory_mib = 64;
  request.tag = "ps";
  request.node_label = "gpu";
  yarn::SchedulingRequestProto message;
  write(request, message);
  const yarn::PlacementConstraintTargetProto& label =
      message.placementconstraint().simpleconstraint().targetexpressions(1);
  EXPECT_EQ(label.targettype(), yarn::PlacementConstraintTargetProto::NODE_ATTRIBUTE);
  EXPECT_EQ(label.targetkey(), "yarn_node_partition/");
  EXPECT_EQ(label.targetvalues(0), "gpu");
}

TEST(MasterMessages, AnAnswerGivesContainersTokensAndWarnings) {
  yarn::AllocateResponseProto message;
  yarn::ContainerProto& container = *message.add_allocated_containers();
  write(kContainer, *container.mutable_id());
  container.mutable_nodeid()->set_host("node1");
  container.mutable_nodeid()->set_port(45);
  container.set_allocation_request_id(9);
  write(Token{.identifier = "i", .password = base::Secret("p"), .kind = "k", .service = "s"},
        *container.mutable_container_token());
  message.add_nm_tokens()->mutable_nodeid()->set_host("node1");
  write(kContainer, *message.mutable_preempt()->mutable_contract()->add_container()->mutable_id());
  const ContainerId other{.attempt = kContainer.attempt, .id = 4};
  write(other, *message.mutable_preempt()->mutable_strictcontract()->add_container()->mutable_id());
  yarn::ContainerStatusProto& status = *message.add_completed_container_statuses();
  write(kContainer, *status.mutable_container_id());
  status.set_state(yarn::C_COMPLETE);
  status.set_exit_status(kExitPreempted);
  message.add_rejected_scheduling_requests()->mutable_request()->set_allocationrequestid(6);
  const AllocateResponse response = read(message);
  ASSERT_EQ(response.allocated.size(), 1U);
  EXPECT_EQ(response.allocated[0].node, (NodeId{"node1", 45}));
  EXPECT_EQ(response.allocated[0].allocation_request_id, 9);
  EXPECT_EQ(response.allocated[0].token.password.reveal(), "p");
  EXPECT_EQ(response.node_tokens.at(0).node.host, "node1");
  EXPECT_THAT(response.preempted, testing::ElementsAre(other, kContainer));
  EXPECT_EQ(response.completed.at(0).exit_status, kExitPreempted);
  EXPECT_EQ(response.completed.at(0).state, ContainerState::kComplete);
  EXPECT_THAT(response.rejected, testing::ElementsAre(6));
}

TEST(MasterMessages, ARegistrationTellsOfEarlierContainers) {
  yarn::RegisterApplicationMasterResponseProto message;
  write(kContainer, *message.add_containers_from_previous_attempts()->mutable_id());
  message.add_nm_tokens_from_previous_attempts()->mutable_nodeid()->set_host("node1");
  message.set_queue("root.default");
  const Registered registered = read(message);
  EXPECT_EQ(registered.containers.at(0).id, kContainer);
  EXPECT_EQ(registered.node_tokens.at(0).node.host, "node1");
  EXPECT_EQ(registered.queue, "root.default");
}

}  // namespace
}  // namespace gangrun::hadoop
