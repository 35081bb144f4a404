#include "hadoop/resource_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_deadline.h"
#include "hadoop/configuration.h"
#include "hadoop/messages_internal.h"
#include "hadoop/test_server.h"

namespace gangrun::hadoop {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Answers one call that names `method`.
TestServer::Script method_answering(const std::string& method, const std::string& frame) {
  return [method, frame](TestPeer& peer) {
    (void)peer.take(7);
    EXPECT_THAT(peer.take_frame(), HasSubstr("alice"));
    EXPECT_THAT(peer.take_frame(), HasSubstr(method));
    peer.give(frame);
  };
}

ResourceManagerClient client_of(const TestServer& server) {
  Configuration configuration;
  configuration.set("yarn.resourcemanager.address", "127.0.0.1:" + std::to_string(server.port()));
  return ResourceManagerClient(configuration, std::string("alice"));
}

TEST(ResourceManagerClient, AReportIsReadWhole) {
  yarn::GetApplicationReportResponseProto response;
  yarn::ApplicationReportProto& report = *response.mutable_application_report();
  report.set_host("N/A");  // as long as no master is registered
  report.set_yarn_application_state(yarn::ACCEPTED);
  report.set_log_aggregation_status(yarn::LOG_RUNNING);
  report.add_applicationtags("tag");
  const TestServer server(
      method_answering("getApplicationReport", success_frame(0, response.SerializeAsString())));
  ResourceManagerClient client = client_of(server);
  EXPECT_EQ(client.address(), "");
  const auto read = client.report({.cluster_timestamp = 1, .id = 2}, base::soon());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->host, "");
  EXPECT_EQ(read->state, ApplicationState::kAccepted);
  EXPECT_EQ(read->final_status, FinalStatus::kUndefined);
  EXPECT_EQ(read->log_aggregation, LogAggregationStatus::kRunning);
  EXPECT_EQ(read->tags, std::vector<std::string>{"tag"});
  EXPECT_EQ(client.address(), "127.0.0.1:" + std::to_string(server.port()));
}

TEST(ResourceManagerClient, AnEmptyAnswerForAQueueMeansThatThereIsNone) {
  const TestServer server(method_answering("getQueueInfo", success_frame(0, "")));
  const auto queue = client_of(server).queue("nobody", base::soon());
  ASSERT_FALSE(queue.ok());
  EXPECT_EQ(queue.error().code, base::Code::kNotFound);
}

TEST(ResourceManagerClient, QueuesAreReadWithTheirChildren) {
  yarn::GetQueueInfoResponseProto response;
  yarn::QueueInfoProto& root = *response.mutable_queueinfo();
  root.set_state(yarn::Q_RUNNING);
  yarn::QueueInfoProto& child = *root.add_childqueues();
  child.set_queuepath("root.a");
  child.set_state(yarn::Q_DRAINING);
  child.mutable_queuestatistics()->set_numappspending(3);
  const TestServer server(
      method_answering("getQueueInfo", success_frame(0, response.SerializeAsString())));
  const auto queue = client_of(server).queue("root", base::soon());
  ASSERT_TRUE(queue.ok()) << queue.error().message;
  EXPECT_TRUE(queue->is_running);
  EXPECT_EQ(queue->children.at(0).path, "root.a");
  EXPECT_FALSE(queue->children.at(0).is_running);
  EXPECT_EQ(queue->children.at(0).pending_applications, 3);
}

TEST(ResourceManagerClient, OnlyQueuesForSubmissionsAreOwnOnes) {
  yarn::GetQueueUserAclsInfoResponseProto response;
  for (const auto acl : {yarn::QACL_ADMINISTER_QUEUE, yarn::QACL_SUBMIT_APPLICATIONS}) {
    yarn::QueueUserACLInfoProto& entry = *response.add_queueuseracls();
    entry.set_queuename(acl == yarn::QACL_SUBMIT_APPLICATIONS ? "mine" : "theirs");
    entry.add_useracls(acl);
  }
  const TestServer server(
      method_answering("getQueueUserAcls", success_frame(0, response.SerializeAsString())));
  const auto queues = client_of(server).own_queues(base::soon());
  ASSERT_TRUE(queues.ok());
  EXPECT_EQ(*queues, std::vector<std::string>{"mine"});
}

TEST(ResourceManagerClient, AWrongAddressIsToldByEveryCall) {
  Configuration configuration;
  configuration.set("yarn.resourcemanager.address", "nowhere:x");
  ResourceManagerClient client(configuration, std::string("alice"));
  const auto fresh = client.new_application(base::soon());
  ASSERT_FALSE(fresh.ok());
  EXPECT_THAT(fresh.error().message, HasSubstr("yarn.resourcemanager.address is \"nowhere:x\""));
}

TEST(ClientMessages, ASubmissionSaysWhatIsNotTheDefault) {
  Submission submission;
  submission.type = "a type of more than twenty bytes";
  submission.master_resource.memory_mib = 64;
  yarn::ApplicationSubmissionContextProto plain;
  write(submission, plain);
  EXPECT_EQ(plain.queue(), "default");
  EXPECT_TRUE(plain.has_am_container_spec());  // YARN fails without one
  EXPECT_EQ(plain.applicationtype().size(), 20U);
  EXPECT_TRUE(plain.keep_containers_across_application_attempts());
  EXPECT_EQ(plain.am_container_resource_request_size(), 0);
  EXPECT_FALSE(plain.has_priority());
  submission.priority = 3;
  submission.master_node_label = "gpu";
  yarn::ApplicationSubmissionContextProto special;
  write(submission, special);
  EXPECT_EQ(special.priority().priority(), 3);
  ASSERT_EQ(special.am_container_resource_request_size(), 1);
  EXPECT_EQ(special.am_container_resource_request(0).node_label_expression(), "gpu");
  EXPECT_EQ(special.am_container_resource_request(0).num_containers(), 1);
}

}  // namespace
}  // namespace gangrun::hadoop
