#include "hadoop/master_messages_internal.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace gangrun::hadoop {

namespace {

// As YARN calls a node's label among a node's attributes.
constexpr std::string_view kNodePartition = "yarn_node_partition/";

}  // namespace

void write(const SchedulingRequest& request, yarn::SchedulingRequestProto& out) {
  out.set_allocationrequestid(request.allocation_request_id);
  out.mutable_priority()->set_priority(request.priority);
  out.mutable_executiontype()->set_execution_type(yarn::GUARANTEED);
  if (!request.tag.empty()) out.add_allocationtags(request.tag);
  yarn::ResourceSizingProto& sizing = *out.mutable_resourcesizing();
  sizing.set_numallocations(std::max(request.containers, 0));
  write(request.capability, *sizing.mutable_resources());
  if (!request.one_per_node) return;
  yarn::SimplePlacementConstraintProto& constraint =
      *out.mutable_placementconstraint()->mutable_simpleconstraint();
  constraint.set_scope("node");
  constraint.set_mincardinality(0);
  constraint.set_maxcardinality(0);
  yarn::PlacementConstraintTargetProto& target = *constraint.add_targetexpressions();
  target.set_targettype(yarn::PlacementConstraintTargetProto::ALLOCATION_TAG);
  target.set_targetkey("self");
  target.add_targetvalues(request.tag);
  if (!request.node_label) return;
  yarn::PlacementConstraintTargetProto& label = *constraint.add_targetexpressions();
  label.set_targettype(yarn::PlacementConstraintTargetProto::NODE_ATTRIBUTE);
  label.set_targetkey(std::string(kNodePartition));
  label.add_targetvalues(*request.node_label);
}

namespace {

std::optional<std::string> label_of(const yarn::SchedulingRequestProto& request) {
  for (const auto& target : request.placementconstraint().simpleconstraint().targetexpressions()) {
    const bool is_label =
        target.targettype() == yarn::PlacementConstraintTargetProto::NODE_ATTRIBUTE;
    if (is_label && !target.targetvalues().empty()) return target.targetvalues(0);
  }
  return std::nullopt;
}

}  // namespace

void write(const AllocateRequest& request, yarn::AllocateRequestProto& out) {
  for (const ResourceRequest& ask : request.asks) write(ask, *out.add_ask());
  for (const SchedulingRequest& ask : request.constrained_asks) {
    write(ask, *out.add_scheduling_requests());
  }
  for (const ContainerId& id : request.releases) write(id, *out.add_release());
  if (!request.denied_hosts.empty() || !request.hosts_allowed_again.empty()) {
    yarn::ResourceBlacklistRequestProto& hosts = *out.mutable_blacklist_request();
    for (const std::string& host : request.denied_hosts) hosts.add_blacklist_additions(host);
    for (const std::string& host : request.hosts_allowed_again) {
      hosts.add_blacklist_removals(host);
    }
  }
  out.set_progress(request.progress);
}

Container read(const yarn::ContainerProto& in) {
  return {.id = read(in.id()),
          .node = read(in.nodeid()),
          .node_http_address = in.node_http_address(),
          .resource = read(in.resource()),
          .priority = in.priority().priority(),
          .token = read(in.container_token()),
          .allocation_request_id = in.allocation_request_id()};
}

NodeToken read(const yarn::NMTokenProto& in) {
  return {.node = read(in.nodeid()), .token = read(in.token())};
}

Registered read(const yarn::RegisterApplicationMasterResponseProto& in) {
  return {.largest = read(in.maximumcapability()),
          .queue = in.queue(),
          .resource_types = read_all<ResourceType>(in.resource_types(), read),
          .containers = read_all<Container>(in.containers_from_previous_attempts(), read),
          .node_tokens = read_all<NodeToken>(in.nm_tokens_from_previous_attempts(), read)};
}

SchedulingRequest read(const yarn::SchedulingRequestProto& in) {
  return {.allocation_request_id = in.allocationrequestid(),
          .priority = in.priority().priority(),
          .capability = read(in.resourcesizing().resources()),
          .containers = in.resourcesizing().numallocations(),
          .tag = in.allocationtags().empty() ? "" : in.allocationtags(0),
          .one_per_node = in.has_placementconstraint(),
          .node_label = label_of(in)};
}

AllocateResponse read(const yarn::AllocateResponseProto& in) {
  AllocateResponse response{
      .allocated = read_all<Container>(in.allocated_containers(), read),
      .completed = read_all<ContainerStatus>(in.completed_container_statuses(), read),
      .from_earlier_attempts = read_all<Container>(in.containers_from_previous_attempts(), read),
      .node_tokens = read_all<NodeToken>(in.nm_tokens(), read),
      .updated_nodes = read_all<NodeReport>(in.updated_nodes(), read),
      .rejected = {},
      .headroom = read(in.limit()),
      .nodes = in.num_cluster_nodes(),
      .preemption = {}};
  for (const yarn::RejectedSchedulingRequestProto& entry : in.rejected_scheduling_requests()) {
    response.rejected.push_back(read(entry.request()));
  }
  for (const yarn::PreemptionContainerProto& entry : in.preempt().strictcontract().container()) {
    response.preemption.strict.push_back(read(entry.id()));
  }
  for (const yarn::PreemptionContainerProto& entry : in.preempt().contract().container()) {
    response.preemption.candidates.push_back(read(entry.id()));
  }
  return response;
}

}  // namespace gangrun::hadoop
