#include "hadoop/node_manager.h"

#include <proto/hadoop/yarn_node.pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "hadoop/messages_internal.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kContainerProtocol =
    "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB";

base::Error to_error(const yarn::SerializedExceptionProto& exception, const ContainerId& id) {
  const RpcError error =
      remote_error(RpcError::Kind::kRemote, exception.class_name(), exception.message());
  return hadoop::to_error(error, base::format("the NodeManager, of {},", to_string(id)));
}

void put_progress(const yarn::ContainerLocalizationStatusesProto& progress,
                  std::vector<ContainerStatus>& statuses) {
  const auto status =
      std::ranges::find(statuses, read(progress.container_id()), &ContainerStatus::id);
  if (status == statuses.end()) return;
  status->files = progress.localization_statuses_size();
  status->files_there = static_cast<int>(std::ranges::count_if(
      progress.localization_statuses(), [](const yarn::LocalizationStatusProto& file) {
        return file.localization_state() == yarn::L_COMPLETED;
      }));
}

}  // namespace

NodeManagerClient::NodeManagerClient(const NodeId& node, const Token& token)
    : round_("the NodeManager", {{.host = node.host, .port = node.port}},
             std::string(kContainerProtocol), token_login(token)) {}

// The node's words beside its statuses, from Hadoop 3 on; one that once refused to is not asked
// again. It is not needed, so no error of it is told.
void NodeManagerClient::add_progress(std::vector<ContainerStatus>& statuses,
                                     base::Instant deadline) {
  yarn::GetLocalizationStatusesRequestProto request;
  for (const ContainerStatus& status : statuses) {
    if (status.is_being_prepared) write(status.id, *request.add_container_id());
  }
  if (request.container_id().empty() || !tells_progress_) return;
  const auto response = ask<yarn::GetLocalizationStatusesResponseProto>(
      round_, "getLocalizationStatuses", request, deadline);
  if (!response.ok()) {
    tells_progress_ = response.error().code != base::Code::kFailedPrecondition;
    return;
  }
  for (const auto& progress : response->cntn_localization_statuses()) {
    put_progress(progress, statuses);
  }
}

base::Result<std::vector<base::Result<>>> NodeManagerClient::start_containers(
    const std::vector<Start>& starts, base::Instant deadline) {
  yarn::StartContainersRequestProto request;
  for (const Start& start : starts) {
    yarn::StartContainerRequestProto& entry = *request.add_start_container_request();
    write(start.context, *entry.mutable_container_launch_context());
    write(start.container_token, *entry.mutable_container_token());
  }
  GANGRUN_ASSIGN(const auto response, ask<yarn::StartContainersResponseProto>(
                                          round_, "startContainers", request, deadline));
  std::map<ContainerId, base::Result<>> results;
  for (const yarn::ContainerIdProto& id : response.succeeded_requests()) {
    results.emplace(read(id), base::Result<>());
  }
  for (const yarn::ContainerExceptionMapProto& failed : response.failed_requests()) {
    const ContainerId id = read(failed.container_id());
    results.insert_or_assign(id, to_error(failed.exception(), id));
  }
  std::vector<base::Result<>> in_order;
  for (const Start& start : starts) {
    const auto found = results.find(start.id);
    in_order.push_back(
        found == results.end()
            ? base::Error{base::Code::kDataLoss,
                          base::format("the NodeManager says nothing of {}", to_string(start.id))}
            : found->second);
  }
  return in_order;
}

base::Result<> NodeManagerClient::stop_container(const ContainerId& id, base::Instant deadline) {
  yarn::StopContainersRequestProto request;
  write(id, *request.add_container_id());
  GANGRUN_ASSIGN(const auto response, ask<yarn::StopContainersResponseProto>(
                                          round_, "stopContainers", request, deadline));
  if (response.failed_requests().empty()) return {};
  return to_error(response.failed_requests(0).exception(), id);
}

base::Result<std::vector<ContainerStatus>> NodeManagerClient::statuses(
    const std::vector<ContainerId>& ids, base::Instant deadline) {
  yarn::GetContainerStatusesRequestProto request;
  for (const ContainerId& id : ids) write(id, *request.add_container_id());
  GANGRUN_ASSIGN(const auto response, ask<yarn::GetContainerStatusesResponseProto>(
                                          round_, "getContainerStatuses", request, deadline));
  auto known = read_all<ContainerStatus>(response.status(), read);
  add_progress(known, deadline);
  return known;
}

}  // namespace gangrun::hadoop
