#include "hadoop/messages_internal.h"

#include <algorithm>

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kMemory = "memory-mb";
constexpr std::string_view kCores = "vcores";

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
          .http_address = in.httpaddress(),
          .rack = in.rackname(),
          .used = read(in.used()),
          .capability = read(in.capability()),
          .state = read_enum(in.has_node_state(), in.node_state(), NodeState::kNew),
          .health_report = in.health_report(),
          .labels = {in.node_labels().begin(), in.node_labels().end()}};
}

}  // namespace gangrun::hadoop
