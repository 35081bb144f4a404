#include "hadoop/application_master.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "hadoop/configuration.h"
#include "hadoop/messages_internal.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kMasterProtocol =
    "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB";
constexpr int kDefaultPort = 8030;
// The ResourceManager writes the end down between the first call and the one that it confirms.
constexpr base::milliseconds kFinishPause{50};

bool is_class(const RpcError& error, std::string_view name) {
  return simple_class_name(error.exception_class) == name;
}

base::Error not_registered() {
  return base::Error{base::Code::kFailedPrecondition,
                     "the ResourceManager was restarted and does not know this master"};
}

base::Error not_wanted(std::string_view why) {
  return base::not_found(
      base::format("the ResourceManager does not want this master any more: {}", why));
}

base::Error error_of(const RpcRound& round, const RpcError& error) {
  if (is_class(error, "ApplicationMasterNotRegisteredException")) return not_registered();
  // A token is unknown when its attempt has ended, or was never used for two of its rolls.
  if (is_class(error, "ApplicationAttemptNotFoundException") || is_class(error, "InvalidToken")) {
    return not_wanted(error.message);
  }
  return round.to_error(error);
}

}  // namespace

ApplicationMasterClient::ApplicationMasterClient(std::vector<ServerAddress> servers, Token token)
    : token_(std::move(token)),
      round_("the ResourceManager", std::move(servers), std::string(kMasterProtocol),
             token_login(token_)) {}

base::Result<std::unique_ptr<ApplicationMasterClient>> ApplicationMasterClient::create(
    const Configuration& configuration, const Credentials& credentials) {
  const auto found = std::ranges::find_if(
      credentials.tokens, [](const auto& entry) { return entry.second.kind == kMasterTokenKind; });
  if (found == credentials.tokens.end()) {
    return base::not_found(
        base::format("the credentials have no token of kind {}", kMasterTokenKind));
  }
  GANGRUN_ASSIGN(std::vector<ServerAddress> servers,
                 resource_manager_addresses(configuration, "yarn.resourcemanager.scheduler.address",
                                            kDefaultPort));
  return std::make_unique<ApplicationMasterClient>(std::move(servers), found->second);
}

base::Result<Registered> ApplicationMasterClient::register_master(const std::string& host,
                                                                  std::int32_t port,
                                                                  const std::string& tracking_url,
                                                                  base::Instant deadline) {
  yarn::RegisterApplicationMasterRequestProto request;
  request.set_host(host);
  request.set_rpc_port(port);
  request.set_tracking_url(tracking_url);
  const RpcOutcome outcome =
      round_.call("registerApplicationMaster", request.SerializeAsString(), deadline);
  if (outcome.error) {
    // The answer to an earlier call was lost on its way; what it said is not told again.
    if (is_class(*outcome.error, "InvalidApplicationMasterRequestException")) {
      return registered_;
    }
    return error_of(round_, *outcome.error);
  }
  GANGRUN_ASSIGN(const auto response, parse_answer<yarn::RegisterApplicationMasterResponseProto>(
                                          outcome.body, "registerApplicationMaster"));
  registered_ = read(response);
  last_response_ = 0;
  return registered_;
}

base::Result<AllocateResponse> ApplicationMasterClient::allocate(const AllocateRequest& request,
                                                                 base::Instant deadline) {
  yarn::AllocateRequestProto message;
  write(request, message);
  message.set_response_id(last_response_);
  const RpcOutcome outcome = round_.call("allocate", message.SerializeAsString(), deadline);
  if (outcome.error) return error_of(round_, *outcome.error);
  GANGRUN_ASSIGN(const auto response,
                 parse_answer<yarn::AllocateResponseProto>(outcome.body, "allocate"));
  if (response.has_a_m_command()) {  // how old releases say it
    return response.a_m_command() == yarn::AM_RESYNC ? not_registered()
                                                     : not_wanted("it says shutdown");
  }
  last_response_ = response.response_id();
  // The same token comes with every answer until it has been used.
  const common::TokenProto& rolled = response.am_rm_token();
  if (response.has_am_rm_token() && rolled.identifier() != token_.identifier) {
    token_ = read(rolled);
    round_.set_login(token_login(token_));
  }
  return read(response);
}

base::Result<> ApplicationMasterClient::finish(FinalStatus status, const std::string& diagnostics,
                                               const std::string& tracking_url,
                                               base::Instant deadline) {
  yarn::FinishApplicationMasterRequestProto request;
  request.set_final_application_status(static_cast<yarn::FinalApplicationStatusProto>(status));
  request.set_diagnostics(diagnostics);
  if (!tracking_url.empty()) request.set_tracking_url(tracking_url);
  do {
    const RpcOutcome outcome =
        round_.call("finishApplicationMaster", request.SerializeAsString(), deadline);
    if (outcome.error) return error_of(round_, *outcome.error);
    GANGRUN_ASSIGN(const auto response, parse_answer<yarn::FinishApplicationMasterResponseProto>(
                                            outcome.body, "finishApplicationMaster"));
    if (response.isunregistered()) return {};
  } while (pause_for(kFinishPause, deadline));
  return base::deadline_exceeded("the ResourceManager has not recorded the end in time");
}

}  // namespace gangrun::hadoop
