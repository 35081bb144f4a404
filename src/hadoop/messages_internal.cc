#include "hadoop/messages_internal.h"

#include <algorithm>

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kMemory = "memory-mb";
constexpr std::string_view kCores = "vcores";
// As YARN calls a node's label among a node's attributes.
constexpr const char* kNodePartition = "yarn_node_partition/";
// The length to which YARN cuts a type anyway.
constexpr std::size_t kMaxTypeBytes = 20;

void write(const LocalResource& resource, yarn::LocalResourceProto& out) {
  yarn::URLProto& url = *out.mutable_resource();
  url.set_scheme(resource.scheme);
  url.set_host(resource.host);
  url.set_port(resource.port);
  url.set_file(resource.path);
  out.set_size(resource.size);
  out.set_timestamp(resource.timestamp);
  out.set_type(static_cast<yarn::LocalResourceTypeProto>(resource.type));
  out.set_visibility(static_cast<yarn::LocalResourceVisibilityProto>(resource.visibility));
}

void write_acl(yarn::ApplicationAccessTypeProto type, const std::string& acl,
               yarn::ContainerLaunchContextProto& out) {
  if (acl.empty()) return;
  yarn::ApplicationACLMapProto& entry = *out.add_application_acls();
  entry.set_accesstype(type);
  entry.set_acl(acl);
}

}  // namespace

void write(const ApplicationId& id, yarn::ApplicationIdProto& out) {
  out.set_id(id.id);
  out.set_cluster_timestamp(id.cluster_timestamp);
}

void write(const AttemptId& id, yarn::ApplicationAttemptIdProto& out) {
  write(id.application, *out.mutable_application_id());
  out.set_attemptid(id.attempt);
}

void write(const ContainerId& id, yarn::ContainerIdProto& out) {
  write(id.attempt, *out.mutable_app_attempt_id());
  out.set_id(id.id);
}

void write(const Resource& resource, yarn::ResourceProto& out) {
  out.set_memory(resource.memory_mib);
  out.set_virtual_cores(resource.vcores);
  for (const auto& [name, value] : resource.others) {
    yarn::ResourceInformationProto& entry = *out.add_resource_value_map();
    entry.set_key(name);
    entry.set_value(value);
    entry.set_type(yarn::COUNTABLE);
  }
}

void write(const Token& token, common::TokenProto& out) {
  out.set_identifier(token.identifier);
  out.set_password(token.password.reveal());
  out.set_kind(token.kind);
  out.set_service(token.service);
}

void write(const LaunchContext& context, yarn::ContainerLaunchContextProto& out) {
  for (const auto& [link, resource] : context.local_resources) {
    yarn::StringLocalResourceMapProto& entry = *out.add_localresources();
    entry.set_key(link);
    write(resource, *entry.mutable_value());
  }
  for (const auto& [name, value] : context.environment) {
    yarn::StringStringMapProto& entry = *out.add_environment();
    entry.set_key(name);
    entry.set_value(value);
  }
  for (const std::string& word : context.command) out.add_command(word);
  if (!context.credentials.tokens.empty() || !context.credentials.secrets.empty()) {
    out.set_tokens(encode_credentials(context.credentials));
  }
  write_acl(yarn::APPACCESS_VIEW_APP, context.view_acl, out);
  write_acl(yarn::APPACCESS_MODIFY_APP, context.modify_acl, out);
}

void write(const ResourceRequest& request, yarn::ResourceRequestProto& out) {
  out.mutable_priority()->set_priority(request.priority);
  out.set_resource_name(request.resource_name);
  write(request.capability, *out.mutable_capability());
  // A negative number would make a ResourceManager stop to schedule for the whole queue.
  out.set_num_containers(std::max(request.containers, 0));
  out.set_relax_locality(request.relax_locality);
  if (request.node_label) out.set_node_label_expression(*request.node_label);
  out.set_allocation_request_id(request.allocation_request_id);
}

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
  label.set_targetkey(kNodePartition);
  label.add_targetvalues(*request.node_label);
}

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

void write(const Submission& submission, yarn::ApplicationSubmissionContextProto& out) {
  write(submission.id, *out.mutable_application_id());
  out.set_application_name(submission.name);
  out.set_queue(submission.queue);
  if (submission.priority) out.mutable_priority()->set_priority(*submission.priority);
  write(submission.master, *out.mutable_am_container_spec());
  out.set_maxappattempts(submission.max_attempts);
  write(submission.master_resource, *out.mutable_resource());
  out.set_applicationtype(submission.type.substr(0, kMaxTypeBytes));
  // Without this, a second attempt starts from nothing.
  out.set_keep_containers_across_application_attempts(true);
  for (const std::string& tag : submission.tags) out.add_applicationtags(tag);
  out.set_attempt_failures_validity_interval(submission.attempt_failures_validity_ms);
  if (submission.master_node_label) {
    write(ResourceRequest{.capability = submission.master_resource,
                          .containers = 1,
                          .node_label = submission.master_node_label},
          *out.add_am_container_resource_request());
  }
}

ApplicationId read(const yarn::ApplicationIdProto& in) {
  return {.cluster_timestamp = in.cluster_timestamp(), .id = in.id()};
}

AttemptId read(const yarn::ApplicationAttemptIdProto& in) {
  return {.application = read(in.application_id()), .attempt = in.attemptid()};
}

ContainerId read(const yarn::ContainerIdProto& in) {
  return {.attempt = read(in.app_attempt_id()), .id = in.id()};
}

NodeId read(const yarn::NodeIdProto& in) { return {.host = in.host(), .port = in.port()}; }

Resource read(const yarn::ResourceProto& in) {
  Resource resource{.memory_mib = in.memory(), .vcores = in.virtual_cores()};
  for (const yarn::ResourceInformationProto& entry : in.resource_value_map()) {
    // Those two are named once more among the others.
    if (entry.key() != kMemory && entry.key() != kCores) {
      resource.others[entry.key()] = entry.value();
    }
  }
  return resource;
}

ResourceType read(const yarn::ResourceTypeInfoProto& in) {
  return {.name = in.name(), .units = in.units()};
}

Token read(const common::TokenProto& in) {
  return {.identifier = in.identifier(),
          .password = base::Secret(in.password()),
          .kind = in.kind(),
          .service = in.service()};
}

ContainerStatus read(const yarn::ContainerStatusProto& in) {
  return {.id = read(in.container_id()),
          .state = read_enum(in.has_state(), in.state(), ContainerState::kNew),
          .exit_status = in.exit_status(),
          .diagnostics = in.has_diagnostics() ? in.diagnostics() : "",
          .is_being_prepared =
              in.has_container_sub_state() && in.container_sub_state() == yarn::CSS_SCHEDULED};
}

NodeReport read(const yarn::NodeReportProto& in) {
  return {.id = read(in.nodeid()),
          .rack = in.rackname(),
          .used = read(in.used()),
          .capability = read(in.capability()),
          .labels = {in.node_labels().begin(), in.node_labels().end()}};
}

Container read(const yarn::ContainerProto& in) {
  return {.id = read(in.id()),
          .node = read(in.nodeid()),
          .resource = read(in.resource()),
          .token = read(in.container_token()),
          .allocation_request_id = in.allocation_request_id()};
}

NodeToken read(const yarn::NMTokenProto& in) {
  return {.node = read(in.nodeid()), .token = read(in.token())};
}

Registered read(const yarn::RegisterApplicationMasterResponseProto& in) {
  return {.queue = in.queue(),
          .containers = read_all<Container>(in.containers_from_previous_attempts(), read),
          .node_tokens = read_all<NodeToken>(in.nm_tokens_from_previous_attempts(), read)};
}

AllocateResponse read(const yarn::AllocateResponseProto& in) {
  AllocateResponse response{
      .allocated = read_all<Container>(in.allocated_containers(), read),
      .completed = read_all<ContainerStatus>(in.completed_container_statuses(), read),
      .from_earlier_attempts = read_all<Container>(in.containers_from_previous_attempts(), read),
      .node_tokens = read_all<NodeToken>(in.nm_tokens(), read),
      .rejected = {},
      .headroom = read(in.limit()),
      .preempted = {}};
  for (const yarn::RejectedSchedulingRequestProto& entry : in.rejected_scheduling_requests()) {
    response.rejected.push_back(entry.request().allocationrequestid());
  }
  for (const auto* marked :
       {&in.preempt().strictcontract().container(), &in.preempt().contract().container()}) {
    for (const auto& entry : *marked) response.preempted.push_back(read(entry.id()));
  }
  return response;
}

ApplicationReport read(const yarn::ApplicationReportProto& in) {
  return {.id = read(in.applicationid()),
          .user = in.user(),
          .queue = in.queue(),
          .name = in.name(),
          .host = in.host() == "N/A" ? "" : in.host(),
          .rpc_port = in.rpc_port(),
          .state = read_enum(in.has_yarn_application_state(), in.yarn_application_state(),
                             ApplicationState::kNew),
          .final_status = read_enum(in.has_final_application_status(),
                                    in.final_application_status(), FinalStatus::kUndefined),
          .diagnostics = in.has_diagnostics() ? in.diagnostics() : "",
          .start_time = in.starttime(),
          .finish_time = in.finishtime(),
          .tags = {in.applicationtags().begin(), in.applicationtags().end()},
          .log_aggregation = read_enum(in.has_log_aggregation_status(), in.log_aggregation_status(),
                                       LogAggregationStatus::kUnknown)};
}

// Queues lie within each other as deep as an administrator made them; a message cannot be deeper
// than protobuf lets it be.
QueueInfo read(const yarn::QueueInfoProto& in) {  // NOLINT(misc-no-recursion)
  const yarn::QueueStatisticsProto& statistics = in.queuestatistics();
  QueueInfo queue{.name = in.queuename(),
                  .path = in.queuepath(),
                  .is_running = in.state() == yarn::Q_RUNNING,
                  .labels = {in.accessiblenodelabels().begin(), in.accessiblenodelabels().end()},
                  .pending_applications = statistics.numappspending(),
                  .running_applications = statistics.numappsrunning(),
                  .available_memory_mib = statistics.availablememorymb(),
                  .available_vcores = statistics.availablevcores(),
                  .children = {}};
  for (const yarn::QueueInfoProto& child : in.childqueues()) queue.children.push_back(read(child));
  return queue;
}

}  // namespace gangrun::hadoop
