#include "hadoop/resource_manager.h"

#include <utility>

#include "base/format.h"
#include "hadoop/delegation_token.h"
#include "hadoop/messages_internal.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kClientProtocol =
    "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";

base::Result<RpcRound> round_of(const Configuration& configuration, const Account& account) {
  GANGRUN_ASSIGN(auto servers, resource_manager_addresses(configuration));
  return RpcRound("the ResourceManager", std::move(servers), std::string(kClientProtocol),
                  login_of(account, configuration, kManagerPrincipal));
}

template <typename Response>
base::Result<Response> call(base::Result<RpcRound>& round, std::string_view method,
                            const google::protobuf::MessageLite& request, base::Instant deadline) {
  if (!round.ok()) return round.error();
  return ask<Response>(*round, method, request, deadline);
}

}  // namespace

ResourceManagerClient::ResourceManagerClient(const Configuration& configuration,
                                             const Account& account)
    : round_(round_of(configuration, account)) {}

std::string ResourceManagerClient::address() const {
  return round_.ok() ? round_->answered_by() : "";
}

base::Result<NewApplication> ResourceManagerClient::new_application(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response,
                 call<yarn::GetNewApplicationResponseProto>(
                     round_, "getNewApplication", yarn::GetNewApplicationRequestProto(), deadline));
  return NewApplication{.id = read(response.application_id()),
                        .largest = read(response.maximumcapability())};
}

base::Result<> ResourceManagerClient::submit(const Submission& submission, base::Instant deadline) {
  yarn::SubmitApplicationRequestProto request;
  write(submission, *request.mutable_application_submission_context());
  GANGRUN_TRY(
      call<yarn::SubmitApplicationResponseProto>(round_, "submitApplication", request, deadline));
  return {};
}

base::Result<ApplicationReport> ResourceManagerClient::report(const ApplicationId& id,
                                                              base::Instant deadline) {
  yarn::GetApplicationReportRequestProto request;
  write(id, *request.mutable_application_id());
  GANGRUN_ASSIGN(const auto response, call<yarn::GetApplicationReportResponseProto>(
                                          round_, "getApplicationReport", request, deadline));
  return read(response.application_report());
}

base::Result<std::vector<ApplicationReport>> ResourceManagerClient::applications(
    const Filter& filter, base::Instant deadline) {
  yarn::GetApplicationsRequestProto request;
  for (const std::string& type : filter.types) request.add_application_types(type);
  for (const ApplicationState state : filter.states) {
    request.add_application_states(static_cast<yarn::YarnApplicationStateProto>(state));
  }
  if (filter.own_only) request.set_scope(yarn::OWN);
  GANGRUN_ASSIGN(const auto response, call<yarn::GetApplicationsResponseProto>(
                                          round_, "getApplications", request, deadline));
  return read_all<ApplicationReport>(response.applications(), read);
}

base::Result<bool> ResourceManagerClient::kill(const ApplicationId& id,
                                               const std::string& diagnostics,
                                               base::Instant deadline) {
  yarn::KillApplicationRequestProto request;
  write(id, *request.mutable_application_id());
  if (!diagnostics.empty()) request.set_diagnostics(diagnostics);
  GANGRUN_ASSIGN(const auto response, call<yarn::KillApplicationResponseProto>(
                                          round_, "forceKillApplication", request, deadline));
  return response.is_kill_completed();
}

base::Result<std::vector<NodeReport>> ResourceManagerClient::running_nodes(base::Instant deadline) {
  yarn::GetClusterNodesRequestProto request;
  request.add_nodestates(yarn::NS_RUNNING);
  GANGRUN_ASSIGN(const auto response, call<yarn::GetClusterNodesResponseProto>(
                                          round_, "getClusterNodes", request, deadline));
  return read_all<NodeReport>(response.nodereports(), read);
}

base::Result<QueueInfo> ResourceManagerClient::queue(const std::string& name,
                                                     base::Instant deadline) {
  yarn::GetQueueInfoRequestProto request;
  request.set_queuename(name);
  request.set_includechildqueues(true);
  request.set_recursive(true);
  GANGRUN_ASSIGN(const auto response,
                 call<yarn::GetQueueInfoResponseProto>(round_, "getQueueInfo", request, deadline));
  // An unknown queue is no error to YARN.
  if (!response.has_queueinfo()) return base::not_found(base::format("no queue \"{}\"", name));
  return read(response.queueinfo());
}

base::Result<std::vector<std::string>> ResourceManagerClient::own_queues(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response, call<yarn::GetQueueUserAclsInfoResponseProto>(
                                          round_, "getQueueUserAcls",
                                          yarn::GetQueueUserAclsInfoRequestProto(), deadline));
  std::vector<std::string> names;
  for (const yarn::QueueUserACLInfoProto& entry : response.queueuseracls()) {
    for (const int acl : entry.useracls()) {
      if (acl == yarn::QACL_SUBMIT_APPLICATIONS) names.push_back(entry.queuename());
    }
  }
  return names;
}

base::Result<std::vector<std::string>> ResourceManagerClient::node_labels(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response, call<yarn::GetClusterNodeLabelsResponseProto>(
                                          round_, "getClusterNodeLabels",
                                          yarn::GetClusterNodeLabelsRequestProto(), deadline));
  std::vector<std::string> names;
  for (const yarn::NodeLabelProto& label : response.nodelabels()) names.push_back(label.name());
  return names;
}

base::Result<std::vector<ResourceType>> ResourceManagerClient::resource_types(
    base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response, call<yarn::GetAllResourceTypeInfoResponseProto>(
                                          round_, "getResourceTypeInfo",
                                          yarn::GetAllResourceTypeInfoRequestProto(), deadline));
  return read_all<ResourceType>(response.resource_type_info(), read);
}

base::Result<Token> ResourceManagerClient::delegation_token(const std::string& renewer,
                                                            base::Instant deadline) {
  common::GetDelegationTokenRequestProto request;
  request.set_renewer(renewer);
  GANGRUN_ASSIGN(const auto response, call<common::GetDelegationTokenResponseProto>(
                                          round_, "getDelegationToken", request, deadline));
  if (!response.has_token()) {
    return base::Error{base::Code::kFailedPrecondition, "the ResourceManager gives no token"};
  }
  return read(response.token());
}

base::Result<base::WallTime> ResourceManagerClient::renew(const Token& token,
                                                          base::Instant deadline) {
  common::RenewDelegationTokenRequestProto request;
  write(token, *request.mutable_token());
  GANGRUN_ASSIGN(const auto response, call<common::RenewDelegationTokenResponseProto>(
                                          round_, "renewDelegationToken", request, deadline));
  return wall_time_of(static_cast<std::int64_t>(response.newexpirytime()));
}

}  // namespace gangrun::hadoop
