#pragma once

#include <google/protobuf/repeated_field.h>
#include <proto/hadoop/security.pb.h>
#include <proto/hadoop/yarn_client.pb.h>
#include <proto/hadoop/yarn_master.pb.h>
#include <proto/hadoop/yarn_records.pb.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "hadoop/application_master.h"
#include "hadoop/records.h"
#include "hadoop/rpc_round.h"

// Between our records and the messages of the wire, for the clients' own sources. What a message
// leaves out has its default in the record.
namespace gangrun::hadoop {

namespace common = ::hadoop::common;
namespace yarn = ::hadoop::yarn;

void write(const ApplicationId& id, yarn::ApplicationIdProto& out);
void write(const AttemptId& id, yarn::ApplicationAttemptIdProto& out);
void write(const ContainerId& id, yarn::ContainerIdProto& out);
void write(const Resource& resource, yarn::ResourceProto& out);
void write(const Token& token, common::TokenProto& out);
void write(const LaunchContext& context, yarn::ContainerLaunchContextProto& out);
void write(const ResourceRequest& request, yarn::ResourceRequestProto& out);
void write(const SchedulingRequest& request, yarn::SchedulingRequestProto& out);
// But for the number of the last response, which the client knows.
void write(const AllocateRequest& request, yarn::AllocateRequestProto& out);
void write(const Submission& submission, yarn::ApplicationSubmissionContextProto& out);

ApplicationId read(const yarn::ApplicationIdProto& in);
AttemptId read(const yarn::ApplicationAttemptIdProto& in);
ContainerId read(const yarn::ContainerIdProto& in);
NodeId read(const yarn::NodeIdProto& in);
Resource read(const yarn::ResourceProto& in);
ResourceType read(const yarn::ResourceTypeInfoProto& in);
Token read(const common::TokenProto& in);
ContainerStatus read(const yarn::ContainerStatusProto& in);
NodeReport read(const yarn::NodeReportProto& in);
Container read(const yarn::ContainerProto& in);
NodeToken read(const yarn::NMTokenProto& in);
Registered read(const yarn::RegisterApplicationMasterResponseProto& in);
AllocateResponse read(const yarn::AllocateResponseProto& in);
ApplicationReport read(const yarn::ApplicationReportProto& in);
QueueInfo read(const yarn::QueueInfoProto& in);

// Each by `read_one`, which is one of the read() here.
template <typename Record, typename Message>
std::vector<Record> read_all(const google::protobuf::RepeatedPtrField<Message>& messages,
                             Record (*read_one)(const Message&)) {
  std::vector<Record> records;
  records.reserve(static_cast<std::size_t>(messages.size()));
  for (const Message& message : messages) records.push_back(read_one(message));
  return records;
}

// The values of a record's enum are those of the message's, where they are known there.
template <typename Record, typename Message>
Record read_enum(bool is_set, Message value, Record otherwise) {
  return is_set ? static_cast<Record>(value) : otherwise;
}

// The message of the answer to `method`; kDataLoss.
template <typename Response>
base::Result<Response> parse_answer(const std::string& body, std::string_view method) {
  Response response;
  if (!response.ParseFromString(body)) {
    return base::Error{base::Code::kDataLoss,
                       base::format("YARN's answer to {} cannot be read", method)};
  }
  return response;
}

// Calls `method` at one of the servers of `round`.
template <typename Response>
base::Result<Response> ask(RpcRound& round, std::string_view method,
                           const google::protobuf::MessageLite& request, base::Instant deadline) {
  const RpcOutcome outcome = round.call(method, request.SerializeAsString(), deadline);
  if (outcome.error) return round.to_error(*outcome.error);
  return parse_answer<Response>(outcome.body, method);
}

}  // namespace gangrun::hadoop
