#include "hadoop/resource_manager.h"

#include <optional>
#include <utility>

#include "base/format.h"
#include "hadoop/client_messages_internal.h"
#include "hadoop/configuration.h"
#include "hadoop/delegation_token.h"
#include "hadoop/rpc_round.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kClientProtocol =
    "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
constexpr std::string_view kPrincipal = "yarn.resourcemanager.principal";
constexpr int kDefaultPort = 8032;

}  // namespace

class ResourceManagerClient::Impl {
 public:
  Impl(const Configuration& configuration, const Account& account) {
    base::Result<std::vector<ServerAddress>> servers =
        resource_manager_addresses(configuration, "yarn.resourcemanager.address", kDefaultPort);
    if (!servers.ok()) {
      wrong_configuration_ = servers.error();
      return;
    }
    round_.emplace("the ResourceManager", *std::move(servers), std::string(kClientProtocol),
                   login_of(account, configuration, kPrincipal));
  }

  template <typename Response>
  base::Result<Response> call(std::string_view method, const google::protobuf::MessageLite& request,
                              base::Instant deadline) {
    if (!round_) return wrong_configuration_;
    const RpcOutcome outcome = round_->call(method, request.SerializeAsString(), deadline);
    if (outcome.error) return round_->to_error(*outcome.error);
    return parse_answer<Response>(outcome.body, method);
  }

  [[nodiscard]] std::string address() const { return round_ ? round_->answered_by() : ""; }

 private:
  base::Error wrong_configuration_;
  std::optional<RpcRound> round_;
};

ResourceManagerClient::ResourceManagerClient(const Configuration& configuration,
                                             const Account& account)
    : impl_(std::make_unique<Impl>(configuration, account)) {}

ResourceManagerClient::~ResourceManagerClient() = default;

std::string ResourceManagerClient::address() const { return impl_->address(); }

base::Result<NewApplication> ResourceManagerClient::new_application(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response,
                 impl_->call<yarn::GetNewApplicationResponseProto>(
                     "getNewApplication", yarn::GetNewApplicationRequestProto(), deadline));
  return NewApplication{.id = read(response.application_id()),
                        .largest = read(response.maximumcapability())};
}

base::Result<> ResourceManagerClient::submit(const Submission& submission, base::Instant deadline) {
  yarn::SubmitApplicationRequestProto request;
  write(submission, *request.mutable_application_submission_context());
  GANGRUN_TRY(
      impl_->call<yarn::SubmitApplicationResponseProto>("submitApplication", request, deadline));
  return {};
}

base::Result<ApplicationReport> ResourceManagerClient::report(const ApplicationId& id,
                                                              base::Instant deadline) {
  yarn::GetApplicationReportRequestProto request;
  write(id, *request.mutable_application_id());
  GANGRUN_ASSIGN(const auto response, impl_->call<yarn::GetApplicationReportResponseProto>(
                                          "getApplicationReport", request, deadline));
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
  if (filter.limit > 0) request.set_limit(filter.limit);
  GANGRUN_ASSIGN(const auto response, impl_->call<yarn::GetApplicationsResponseProto>(
                                          "getApplications", request, deadline));
  return read_all<ApplicationReport>(response.applications(), read);
}

base::Result<bool> ResourceManagerClient::kill(const ApplicationId& id,
                                               const std::string& diagnostics,
                                               base::Instant deadline) {
  yarn::KillApplicationRequestProto request;
  write(id, *request.mutable_application_id());
  if (!diagnostics.empty()) request.set_diagnostics(diagnostics);
  GANGRUN_ASSIGN(const auto response, impl_->call<yarn::KillApplicationResponseProto>(
                                          "forceKillApplication", request, deadline));
  return response.is_kill_completed();
}

base::Result<std::vector<ContainerReport>> ResourceManagerClient::containers(
    const AttemptId& id, base::Instant deadline) {
  yarn::GetContainersRequestProto request;
  write(id, *request.mutable_application_attempt_id());
  GANGRUN_ASSIGN(const auto response,
                 impl_->call<yarn::GetContainersResponseProto>("getContainers", request, deadline));
  return read_all<ContainerReport>(response.containers(), read);
}

base::Result<std::vector<NodeReport>> ResourceManagerClient::running_nodes(base::Instant deadline) {
  yarn::GetClusterNodesRequestProto request;
  request.add_nodestates(yarn::NS_RUNNING);
  GANGRUN_ASSIGN(const auto response, impl_->call<yarn::GetClusterNodesResponseProto>(
                                          "getClusterNodes", request, deadline));
  return read_all<NodeReport>(response.nodereports(), read);
}

base::Result<QueueInfo> ResourceManagerClient::queue(const std::string& name,
                                                     base::Instant deadline) {
  yarn::GetQueueInfoRequestProto request;
  request.set_queuename(name);
  request.set_includechildqueues(true);
  request.set_recursive(true);
  GANGRUN_ASSIGN(const auto response,
                 impl_->call<yarn::GetQueueInfoResponseProto>("getQueueInfo", request, deadline));
  // An unknown queue is no error to YARN.
  if (!response.has_queueinfo()) return base::not_found(base::format("no queue \"{}\"", name));
  return read(response.queueinfo());
}

base::Result<std::vector<std::string>> ResourceManagerClient::own_queues(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response,
                 impl_->call<yarn::GetQueueUserAclsInfoResponseProto>(
                     "getQueueUserAcls", yarn::GetQueueUserAclsInfoRequestProto(), deadline));
  std::vector<std::string> names;
  for (const yarn::QueueUserACLInfoProto& entry : response.queueuseracls()) {
    for (const int acl : entry.useracls()) {
      if (acl == yarn::QACL_SUBMIT_APPLICATIONS) names.push_back(entry.queuename());
    }
  }
  return names;
}

base::Result<std::vector<std::string>> ResourceManagerClient::node_labels(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response,
                 impl_->call<yarn::GetClusterNodeLabelsResponseProto>(
                     "getClusterNodeLabels", yarn::GetClusterNodeLabelsRequestProto(), deadline));
  std::vector<std::string> names;
  for (const yarn::NodeLabelProto& label : response.nodelabels()) names.push_back(label.name());
  return names;
}

base::Result<std::vector<ResourceType>> ResourceManagerClient::resource_types(
    base::Instant deadline) {
  GANGRUN_ASSIGN(const auto response,
                 impl_->call<yarn::GetAllResourceTypeInfoResponseProto>(
                     "getResourceTypeInfo", yarn::GetAllResourceTypeInfoRequestProto(), deadline));
  return read_all<ResourceType>(response.resource_type_info(), read);
}

base::Result<Token> ResourceManagerClient::delegation_token(const std::string& renewer,
                                                            base::Instant deadline) {
  common::GetDelegationTokenRequestProto request;
  request.set_renewer(renewer);
  GANGRUN_ASSIGN(const auto response, impl_->call<common::GetDelegationTokenResponseProto>(
                                          "getDelegationToken", request, deadline));
  if (!response.has_token()) {
    return base::Error{base::Code::kFailedPrecondition, "the ResourceManager gives no token"};
  }
  return read(response.token());
}

base::Result<base::WallTime> ResourceManagerClient::renew(const Token& token,
                                                          base::Instant deadline) {
  common::RenewDelegationTokenRequestProto request;
  write(token, *request.mutable_token());
  GANGRUN_ASSIGN(const auto response, impl_->call<common::RenewDelegationTokenResponseProto>(
                                          "renewDelegationToken", request, deadline));
  return wall_time_of(static_cast<std::int64_t>(response.newexpirytime()));
}

}  // namespace gangrun::hadoop
