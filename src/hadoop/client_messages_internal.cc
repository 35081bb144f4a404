#include "hadoop/client_messages_internal.h"

namespace gangrun::hadoop {

namespace {

// The length to which YARN cuts anyway.
constexpr std::size_t kMaxTypeBytes = 20;

}  // namespace

void write(const Submission& submission, yarn::ApplicationSubmissionContextProto& out) {
  write(submission.id, *out.mutable_application_id());
  out.set_application_name(submission.name);
  out.set_queue(submission.queue);
  if (submission.priority) out.mutable_priority()->set_priority(*submission.priority);
  write(submission.master, *out.mutable_am_container_spec());
  out.set_maxappattempts(submission.max_attempts);
  write(submission.master_resource, *out.mutable_resource());
  out.set_applicationtype(submission.type.substr(0, kMaxTypeBytes));
  out.set_keep_containers_across_application_attempts(submission.keep_containers);
  for (const std::string& tag : submission.tags) out.add_applicationtags(tag);
  out.set_attempt_failures_validity_interval(submission.attempt_failures_validity_ms);
  if (submission.master_node_label) {
    write(ResourceRequest{.capability = submission.master_resource,
                          .containers = 1,
                          .node_label = submission.master_node_label},
          *out.add_am_container_resource_request());
  }
  if (submission.lifetime_seconds > 0) {
    yarn::ApplicationTimeoutMapProto& limit = *out.add_application_timeouts();
    limit.set_application_timeout_type(yarn::APP_TIMEOUT_LIFETIME);
    limit.set_timeout(submission.lifetime_seconds);
  }
}

ApplicationReport read(const yarn::ApplicationReportProto& in) {
  const yarn::ApplicationResourceUsageReportProto& usage = in.app_resource_usage();
  return {.id = read(in.applicationid()),
          .user = in.user(),
          .queue = in.queue(),
          .name = in.name(),
          .type = in.applicationtype(),
          .host = in.host() == "N/A" ? "" : in.host(),
          .rpc_port = in.rpc_port(),
          .state = read_enum(in.has_yarn_application_state(), in.yarn_application_state(),
                             ApplicationState::kNew),
          .final_status = read_enum(in.has_final_application_status(),
                                    in.final_application_status(), FinalStatus::kUndefined),
          .tracking_url = in.trackingurl(),
          .diagnostics = in.has_diagnostics() ? in.diagnostics() : "",
          .start_time = in.starttime(),
          .finish_time = in.finishtime(),
          .current_attempt = in.currentapplicationattemptid().attemptid(),
          .tags = {in.applicationtags().begin(), in.applicationtags().end()},
          .log_aggregation = read_enum(in.has_log_aggregation_status(), in.log_aggregation_status(),
                                       LogAggregationStatus::kUnknown),
          .used_containers = usage.num_used_containers(),
          .used = read(usage.used_resources()),
          .needed = read(usage.needed_resources())};
}

ContainerReport read(const yarn::ContainerReportProto& in) {
  return {.id = read(in.container_id()),
          .node = read(in.node_id()),
          .resource = read(in.resource()),
          .state = read_enum(in.has_container_state(), in.container_state(), ContainerState::kNew),
          .exit_status = in.container_exit_status(),
          .log_url = in.log_url()};
}

// Queues lie within each other as deep as an administrator made them; a message cannot be deeper
// than protobuf lets it be.
QueueInfo read(const yarn::QueueInfoProto& in) {  // NOLINT(misc-no-recursion)
  const yarn::QueueStatisticsProto& statistics = in.queuestatistics();
  QueueInfo queue{.name = in.queuename(),
                  .path = in.queuepath(),
                  .is_running = in.state() == yarn::Q_RUNNING,
                  .capacity = in.capacity(),
                  .maximum_capacity = in.maximumcapacity(),
                  .used_capacity = in.currentcapacity(),
                  .labels = {in.accessiblenodelabels().begin(), in.accessiblenodelabels().end()},
                  .default_label = in.defaultnodelabelexpression(),
                  .pending_applications = statistics.numappspending(),
                  .running_applications = statistics.numappsrunning(),
                  .available_memory_mib = statistics.availablememorymb(),
                  .available_vcores = statistics.availablevcores(),
                  .children = {}};
  for (const yarn::QueueInfoProto& child : in.childqueues()) queue.children.push_back(read(child));
  return queue;
}

}  // namespace gangrun::hadoop
