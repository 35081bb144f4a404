#include "kubernetes/commands/cluster_way.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/terminal_text.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/master_config.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/pod_words.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr std::string_view kHeadEnd = "-head";

// A way with a loop and a client of its own.
struct OwnWay {
  net::EventLoop loop;
  std::unique_ptr<base::Logger> logger = base::stderr_logger("gangrun", base::LogLevel::kError);
  std::unique_ptr<kubernetes::Client> client;
  std::optional<ClusterWay> way{};
};

// The names of all its objects begin so; how long that is depends on the job's tasks.
std::string job_name_of(const ClusterRecord& record) {
  const std::string_view head = record.head_name;
  return std::string(head.substr(0, head.size() - std::min(head.size(), kHeadEnd.size())));
}

std::string owner_at(const ClusterRecord& record) {
  return base::format("/apis/batch/v1/namespaces/{}/jobs/{}", record.name_space, record.owner_name);
}

bool is_no_more(const base::Error& error) {
  return error.code == base::Code::kNotFound || error.code == base::Code::kFailedPrecondition;
}

// The Job with this record's name, where it is the record's.
Result<std::optional<Json>> owner_of(ClusterWay& way, const ClusterRecord& record) {
  auto owner = way.ask({.path = owner_at(record)});
  if (!owner.ok() && owner.error().code == base::Code::kNotFound) return std::optional<Json>();
  if (!owner.ok()) return std::move(owner).error();
  if (!pods::is_of_job(*owner, record.id)) return std::optional<Json>();
  return std::optional(*std::move(owner));
}

Result<std::vector<Json>> list_masters(ClusterWay& way, const ClusterRecord& record) {
  return kubernetes::list(
      way.loop(), way.client(), base::format("/api/v1/namespaces/{}/pods", record.name_space),
      {{"labelSelector",
        base::format("{},{}=1", pods::job_selector(record.id), pods::kMasterLabel)}},
      way.soon());
}

}  // namespace

Result<Json> ClusterWay::ask(kubernetes::Request request) {
  return kubernetes::ask(loop_, client_, std::move(request), soon());
}

pods::KubernetesOptions options_of(const ClusterRecord& record) {
  pods::KubernetesOptions options;
  if (!record.spec.tasks.empty()) options = pods::kubernetes_of(record.spec);
  options.kubeconfig = record.kubeconfig;
  options.context = record.context;
  options.name_space = record.name_space;
  return options;
}

Result<std::shared_ptr<ClusterWay>> way_to_cluster(const client::Context& context,
                                                   const ClusterRecord& record) {
  GANGRUN_ASSIGN(auto access, kubernetes_access(context, options_of(record)));
  if (!record.server.empty() && access.remote.url != record.server) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} runs on the cluster {}, but {} points to {}; use the "
                                    "KUBECONFIG that it was started with",
                                    record.id, record.server, access.source, access.remote.url)};
  }
  auto own = std::make_shared<OwnWay>();
  GANGRUN_ASSIGN(own->client, kubernetes::Client::make(own->loop, *own->logger, std::move(access),
                                                       plugin_runner()));
  own->way.emplace(own->loop, *own->logger, *own->client);
  return std::shared_ptr<ClusterWay>(own, &*own->way);
}

ClusterRecord record_of_head(const Json& config_map, const records::Head& head,
                             const ClusterRecord& at) {
  ClusterRecord record;
  record.id = head.job;
  record.name = head.summary.name;
  record.name_space = at.name_space;
  record.kubeconfig = at.kubeconfig;
  record.context = at.context;
  record.server = at.server;
  record.head_name = pods::name_of(config_map);
  const Json& owners = list_at(config_map, {"metadata", "ownerReferences"});
  record.owner_name = job_name_of(record) + "-" + pods::kLeaseOwner;
  if (!owners.empty()) record.owner_uid = text_at(owners.front(), {"uid"});
  record.submitted = head.summary.submitted;
  return record;
}

Result<std::vector<Json>> list_heads(ClusterWay& way, const std::string& name_space,
                                     const std::string& job) {
  std::string selector = base::format("{}=head", pods::kRecordsLabel);
  if (!job.empty()) selector += "," + pods::job_selector(job);
  return kubernetes::list(way.loop(), way.client(),
                          base::format("/api/v1/namespaces/{}/configmaps", name_space),
                          {{"labelSelector", std::move(selector)}}, way.soon());
}

Result<> read_secret_of(ClusterWay& way, ClusterRecord& record) {
  auto secret = way.ask({.path = base::format("/api/v1/namespaces/{}/secrets/{}-master",
                                              record.name_space, job_name_of(record))});
  if (!secret.ok() && secret.error().code == base::Code::kPermissionDenied) {
    return base::Error{
        base::Code::kPermissionDenied,
        base::format("{} answers who may get secrets in the namespace {}, or on the machine that "
                     "has submitted it: {}",
                     record.id, record.name_space, secret.error().message)};
  }
  if (!secret.ok()) return std::move(secret).error();
  GANGRUN_ASSIGN(auto config, pods::master_config_in(*secret));
  record.secret = std::move(config.secret);
  record.fingerprint = std::move(config.certificate.fingerprint);
  record.spec = std::move(config.spec);
  return {};
}

records::RecordPlace place_of(ClusterWay& way, const ClusterRecord& record) {
  return {.loop = way.loop(),
          .logger = way.logger(),
          .client = way.client(),
          .name_space = record.name_space,
          .job_id = record.id,
          .job_name = job_name_of(record),
          .head_name = record.head_name,
          .owner = {record.owner_name, record.owner_uid},
          .key = records::records_key(record.secret)};
}

Result<std::optional<std::string>> find_owner(ClusterWay& way, const ClusterRecord& record) {
  GANGRUN_ASSIGN(const auto owner, owner_of(way, record));
  return owner ? std::optional(pods::uid_of(*owner)) : std::nullopt;
}

Result<bool> has_no_more_masters(ClusterWay& way, const ClusterRecord& record) {
  GANGRUN_ASSIGN(const auto owner, owner_of(way, record));
  if (!owner || pods::is_being_deleted(*owner)) return true;
  const Json& conditions = list_at(*owner, {"status", "conditions"});
  return std::ranges::any_of(conditions, [](const Json& condition) {
    const std::string type = text_at(condition, {"type"});
    return (type == "Complete" || type == "Failed") && text_at(condition, {"status"}) == "True";
  });
}

Result<bool> delete_owner(ClusterWay& way, const ClusterRecord& record) {
  GANGRUN_ASSIGN(const auto uid, find_owner(way, record));
  if (!uid) return false;
  const auto deleted = way.ask({.method = "DELETE",
                                .path = owner_at(record),
                                .body = {{"apiVersion", "v1"},
                                         {"kind", "DeleteOptions"},
                                         {"propagationPolicy", "Background"},
                                         {"preconditions", {{"uid", *uid}}}}});
  if (deleted.ok()) return true;
  if (is_no_more(deleted.error())) return false;
  return deleted.error();
}

std::string last_words_of_master(ClusterWay& way, const ClusterRecord& record) {
  const auto pods = list_masters(way, record);
  if (!pods.ok()) return {};
  for (const Json& pod : *pods) {
    const pods::PodFacts facts = pods::pod_facts(pod, pods::kMasterContainer);
    if (facts.is_over() && !facts.task.message.empty()) {
      return base::their_words(facts.task.message);
    }
  }
  return {};
}

std::string words_of_master(ClusterWay& way, const ClusterRecord& record) {
  const auto pods = list_masters(way, record);
  if (!pods.ok()) return {};
  for (const Json& pod : *pods) {
    const pods::PodFacts facts = pods::pod_facts(pod, pods::kMasterContainer);
    if (facts.is_over() || facts.is_deleting) continue;
    using State = pods::ContainerFacts::State;
    if (facts.task.state == State::kRunning) return base::format("its pod {} runs", facts.name);
    return base::format("its pod {}: {}", facts.name, pods::pending_words(facts, ""));
  }
  return "it has no pod";
}

}  // namespace gangrun::kubernetes::commands
