#include "hadoop/master_messages_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::hadoop {
namespace {

const ContainerId kContainer{.attempt = {.application = {.cluster_timestamp = 1, .id = 2}},
                             .id = 3};

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
  EXPECT_EQ(read(message), request);
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
  EXPECT_EQ(read(message), request);
}

TEST(MasterMessages, AnAnswerGivesContainersTokensAndWarnings) {
  yarn::AllocateResponseProto message;
  yarn::ContainerProto& container = *message.add_allocated_containers();
  write(kContainer, *container.mutable_id());
  container.mutable_nodeid()->set_host("node1");
  container.mutable_nodeid()->set_port(45);
  container.mutable_priority()->set_priority(4);
  container.set_allocation_request_id(9);
  write(Token{.identifier = "i", .password = base::Secret("p"), .kind = "k", .service = "s"},
        *container.mutable_container_token());
  message.add_nm_tokens()->mutable_nodeid()->set_host("node1");
  write(kContainer, *message.mutable_preempt()->mutable_contract()->add_container()->mutable_id());
  write(kContainer,
        *message.mutable_preempt()->mutable_strictcontract()->add_container()->mutable_id());
  yarn::ContainerStatusProto& status = *message.add_completed_container_statuses();
  write(kContainer, *status.mutable_container_id());
  status.set_state(yarn::C_COMPLETE);
  status.set_exit_status(kExitPreempted);
  message.set_num_cluster_nodes(2);
  const AllocateResponse response = read(message);
  ASSERT_EQ(response.allocated.size(), 1U);
  EXPECT_EQ(response.allocated[0].node, (NodeId{"node1", 45}));
  EXPECT_EQ(response.allocated[0].allocation_request_id, 9);
  EXPECT_EQ(response.allocated[0].token.password.reveal(), "p");
  EXPECT_EQ(response.node_tokens.at(0).node.host, "node1");
  EXPECT_THAT(response.preemption.candidates, testing::ElementsAre(kContainer));
  EXPECT_THAT(response.preemption.strict, testing::ElementsAre(kContainer));
  EXPECT_EQ(response.completed.at(0).exit_status, kExitPreempted);
  EXPECT_EQ(response.completed.at(0).state, ContainerState::kComplete);
  EXPECT_EQ(response.nodes, 2);
}

TEST(MasterMessages, ARegistrationTellsOfEarlierContainers) {
  yarn::RegisterApplicationMasterResponseProto message;
  write(kContainer, *message.add_containers_from_previous_attempts()->mutable_id());
  message.add_nm_tokens_from_previous_attempts()->mutable_nodeid()->set_host("node1");
  message.add_resource_types()->set_name("yarn.io/gpu");
  message.set_queue("root.default");
  const Registered registered = read(message);
  EXPECT_EQ(registered.containers.at(0).id, kContainer);
  EXPECT_EQ(registered.node_tokens.at(0).node.host, "node1");
  EXPECT_EQ(registered.resource_types.at(0).name, "yarn.io/gpu");
  EXPECT_EQ(registered.queue, "root.default");
}

}  // namespace
}  // namespace gangrun::hadoop
