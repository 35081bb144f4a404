#include "kubernetes/pods/kubernetes_options.h"

#include "job/limits.h"
#include "jobfile/field_values.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;
using base::Result;
using job::JobSpec;
using jobfile::Field;
using jobfile::FieldRow;
using jobfile::FlagForms;
using jobfile::one_value;
using jobfile::own_section_field;
using jobfile::plain_json;
using jobfile::section_field;

Result<> read_texts(const Field& field, std::map<std::string, std::string>& out) {
  return jobfile::read_texts(field, {.allowed = "a map of keys to texts"}, out);
}

Result<> read_maps(const Field& field, std::vector<Json>& out) {
  constexpr std::string_view kMaps = "a list of maps, as a pod has it";
  if (field.node.kind != jobfile::YamlNode::Kind::kList) return field.not_allowed(kMaps);
  out.clear();
  for (std::size_t i = 0; i < field.node.children.size(); ++i) {
    const Field child = field.child(i, std::to_string(i));
    if (child.node.kind != jobfile::YamlNode::Kind::kMap)
      return child.not_allowed("a map, as a pod has it");
    field.origins[child.path] = jobfile::position_text(field.source, child.node.mark);
    out.push_back(jobfile::json_value(child.node));
  }
  return {};
}

Json as_it_is(const Json& pod) { return pod; }

// "zone=a".
Result<std::string> take_node_label(std::string_view item, JobSpec& job) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return base::invalid_argument("has no '='; it is written KEY=VALUE");
  }
  std::string key(item.substr(0, equals));
  edit_kubernetes(job).node_selector[key] = item.substr(equals + 1);
  return key;
}

constexpr std::int64_t kMaxKeepMs = std::int64_t{7} * 24 * 3600 * 1000;

constexpr FieldRow<JobSpec> kKubernetesMasterFields[] = {
    section_field<&KubernetesOptions::master, &MasterOptions::service_account>({
        .key = "service_account",
        .about = "Service account of the job's master",
        .allowed = "the name of a service account",
        .default_words = "none; a detached job needs one",
        .schema = R"({"$ref": "#/$defs/object_name"})",
    }),
    section_field<&KubernetesOptions::master, &MasterOptions::resources,
                  &job::Resources::memory_mib>({
        .key = "memory",
        .about = "Memory of the job's master",
        .default_words = "256 MiB, and 24 KiB a task",
    }),
    section_field<&KubernetesOptions::master, &MasterOptions::resources, &job::Resources::vcores>({
        .key = "vcores",
        .about = "Processor cores of the job's master",
        .max = job::kMaxVcoresPerTask,
        .default_words = "a tenth of one",
    }),
    section_field<&KubernetesOptions::master, &MasterOptions::keep>({
        .key = "keep",
        .about = "How long the job's master stays after the job's end",
        .max = kMaxKeepMs,
        .default_words = "1 h",
    }),
};

jobfile::FieldRows<JobSpec> kubernetes_master_fields() { return kKubernetesMasterFields; }

constexpr FieldRow<JobSpec> kKubernetesRelayFields[] = {
    section_field<&KubernetesOptions::relay, &job::Resources::memory_mib>({
        .key = "memory",
        .about = "Memory of the agents' relay",
        .default_words = "32 MiB, with a limit of at most 64 MiB",
    }),
    section_field<&KubernetesOptions::relay, &job::Resources::vcores>({
        .key = "vcores",
        .about = "Processor cores of the agents' relay",
        .max = job::kMaxVcoresPerTask,
        .default_words = "a hundredth of one",
    }),
};

jobfile::FieldRows<JobSpec> kubernetes_relay_fields() { return kKubernetesRelayFields; }

constexpr FieldRow<JobSpec> kKubernetesJournalFields[] = {
    section_field<&KubernetesOptions::journal, &JournalOptions::claim>({
        .key = "claim",
        .about = "Persistent volume claim",
        .allowed = "the name of a persistent volume claim",
        .default_words = "none",
        .schema = R"({"$ref": "#/$defs/object_name"})",
    }),
    section_field<&KubernetesOptions::journal, &JournalOptions::volume>({
        .key = "volume",
        .about = "One of the job's volumes, instead of a claim",
        .allowed = "the name of a volume",
        .default_words = "none",
    }),
    section_field<&KubernetesOptions::journal, &JournalOptions::path>({
        .key = "path",
        .about = "Folder in it, which is made",
        .allowed = "a relative path",
        .default_words = "its root",
    }),
};

jobfile::FieldRows<JobSpec> kubernetes_journal_fields() { return kKubernetesJournalFields; }

constexpr FieldRow<JobSpec> kKubernetesFields[] = {
    section_field<&KubernetesOptions::kubeconfig>({
        .key = "kubeconfig",
        .about = "Kubeconfig",
        .allowed = "a file",
        .flag = one_value("--kubeconfig", "FILE",
                          "Kubeconfig file, instead of KUBECONFIG or ~/.kube/config"),
        .reference = "a file with the addresses and credentials of clusters, relative to the "
                     "folder where `gangrun` is called",
        .default_words = "those of `KUBECONFIG`, else `~/.kube/config`, else a pod's own",
        .is_path = true,
    }),
    section_field<&KubernetesOptions::context>({
        .key = "context",
        .about = "Context of the kubeconfig",
        .allowed = "the name of a context",
        .flag =
            one_value("--context", "NAME", "Context of the kubeconfig (default: the current one)"),
        .reference = "which of its contexts",
        .default_words = "the current one",
    }),
    section_field<&KubernetesOptions::insecure>({
        .key = "insecure",
        .about = "Whether to accept a kubeconfig that skips the verification of the API server",
        .flag = {.names = "--insecure",
                 .forms = FlagForms::kSwitch,
                 .help = "Accept a kubeconfig that turns off the verification of the API server"},
        .reference =
            "`true`: accept a kubeconfig that skips the verification of the API server's "
            "certificate (`insecure-skip-tls-verify`); otherwise such a kubeconfig is an error",
    }),
    section_field<&KubernetesOptions::name_space>({
        .key = "namespace",
        .about = "Namespace",
        .allowed = "the name of a namespace",
        .flag =
            one_value("--namespace,-n", "NAME", "Namespace on Kubernetes (default: the context's)"),
        .reference =
            "the namespace of all objects of the job: small letters, digits and `-`, at most 63",
        .default_words = "that of the context, else `default`",
        .schema = R"({"pattern": "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$"})",
    }),
    section_field<&KubernetesOptions::service_account>({
        .key = "service_account",
        .about = "Service account of the pods",
        .allowed = "the name of a service account",
        .flag = one_value("--service-account", "NAME", "Service account of the pods"),
        .reference = "the service account of the pods",
        .default_words = "the namespace's own",
        .schema = R"({"$ref": "#/$defs/object_name"})",
    }),
    own_section_field<read_texts, plain_json, &KubernetesOptions::labels>({
        .key = "labels",
        .about = "More labels for everything that belongs to the job",
        .reference = "a map: more labels for all objects of the job; they must not begin with "
                     "`gangrun/`",
        .default_words = "none",
        .schema = R"({"$ref": "#/$defs/labels"})",
    }),
    own_section_field<read_texts, plain_json, &KubernetesOptions::annotations>({
        .key = "annotations",
        .about = "More annotations for its pods",
        .reference = "a map: more annotations for its pods, at most 256 KiB in total",
        .default_words = "none",
        .schema =
            R"({"oneOf": [{"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}, {"type": "null"}]})",
    }),
    own_section_field<read_texts, plain_json, &KubernetesOptions::node_selector>(
        {
            .key = "node_selector",
            .about = "Labels of the nodes that the pods may run on",
            .flag = {.names = "--node-selector",
                     .forms = FlagForms::kItems,
                     .value = "KEY=VALUE,...",
                     .help = "Labels that a node must have for the pods to run on it",
                     .reference = "`disk=ssd,zone=a`; added to the file's"},
            .reference = "a map: labels of the nodes that the pods may run on",
            .default_words = "none",
            .schema = R"({"$ref": "#/$defs/labels"})",
        },
        take_node_label),
    own_section_field<read_maps, plain_json, &KubernetesOptions::tolerations>({
        .key = "tolerations",
        .about = "Node taints that the pods tolerate, as in a pod",
        .reference = "a list of maps, as in a pod: node taints that the pods tolerate",
        .default_words = "none",
        .schema =
            R"({"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {"key": {"type": "string"}, "operator": {"type": "string"}, "value": {"type": "string"}, "effect": {"type": "string"}, "tolerationSeconds": {"type": "integer"}}}})",
    }),
    own_section_field<read_maps, plain_json, &KubernetesOptions::volumes>({
        .key = "volumes",
        .about = "Volumes, as in a pod",
        .reference = "a list of maps, as in a pod, each with a `name`",
        .default_words = "none",
        .schema = R"({"type": "array", "items": {"type": "object", "required": ["name"]}})",
    }),
    own_section_field<read_maps, plain_json, &KubernetesOptions::volume_mounts>({
        .key = "volume_mounts",
        .about = "Where the tasks find the volumes, as in a container",
        .reference = "a list of maps, as in a container, each with `name` and `mountPath`: "
                     "where the tasks find the volumes",
        .default_words = "none",
        .schema =
            R"({"type": "array", "items": {"type": "object", "required": ["name", "mountPath"]}})",
    }),
    section_field<&KubernetesOptions::image_pull_secrets>({
        .key = "image_pull_secrets",
        .about = "Names of secrets for pulling images",
        .allowed = "names, the name of a secret",
        .flag = {.names = "--image-pull-secret",
                 .forms = FlagForms::kItems,
                 .adds = true,
                 .value = "NAME,...",
                 .help = "Secret with which images are pulled",
                 .reference = "`registry,other`; added to the file's"},
        .reference = "a list of secrets for pulling images",
        .default_words = "the service account's",
        .schema = R"({"type": "array", "items": {"$ref": "#/$defs/object_name"}})",
    }),
    section_field<&KubernetesOptions::image_pull_policy>({
        .key = "image_pull_policy",
        .about = "When images are pulled",
        .allowed = "Always, IfNotPresent, Never",
        .reference = "`Always`, `IfNotPresent` or `Never`",
        .default_words = "`Always` for images without a tag or with `latest`, else `IfNotPresent`",
        .schema = R"({"enum": ["Always", "IfNotPresent", "Never"]})",
    }),
    section_field<&KubernetesOptions::priority_class>({
        .key = "priority_class",
        .about = "Priority class of the pods",
        .allowed = "the name of a priority class",
        .flag = one_value("--priority-class", "NAME", "Priority class of the pods"),
        .reference = "the priority class of the pods",
        .default_words = "the cluster's",
        .schema = R"({"$ref": "#/$defs/object_name"})",
    }),
    section_field<&KubernetesOptions::queue>({
        .key = "queue",
        .about = "Queue of Kueue or Volcano",
        .allowed = "the name of a queue",
        .reference = "the queue of Kueue or Volcano",
        .default_words = "theirs",
        .schema = R"({"$ref": "#/$defs/object_name"})",
    }),
    section_field<&KubernetesOptions::gang_scheduling>({
        .key = "gang_scheduling",
        .about = "What schedules the pods all or nothing; auto means what the cluster has",
        .is_always_written = true,
        .flag = one_value("--gang-scheduling", "",
                          "Gang scheduler of the pods; hold: gangrun asks again until all fit"),
        .reference =
            "what schedules the pods all or nothing: `kueue`, `volcano`, `workload` (the API "
            "server's own), `hold` (a pod runs as soon as it has a node; if some have one and no "
            "other pod gets one for `timeouts.hold`, all are deleted and created again), or "
            "`auto`: what the cluster has",
    }),
    own_section_field<jobfile::read_pod, as_it_is, &KubernetesOptions::pod>({
        .key = "pod",
        .about = "A pod or part of one for all tasks",
        .reference = "a pod or part of a pod (`apiVersion`, `kind`, `metadata`, `spec`) for "
                     "all tasks; the job's own settings override it",
        .default_words = "none",
        .schema = R"({"$ref": "#/$defs/pod"})",
    }),
    section_field<&KubernetesOptions::agents>({
        .key = "agents",
        .about = "How agents of gangrun come into the pods",
        .flag = one_value("--agents", "",
                          "How agents come into the pods, to run each command (config_maps)"),
        .reference =
            "how agents come into the pods, one beside each task's command: `config_maps` (of the "
            "namespace; nothing is installed, and no image needs anything), `image` (a container "
            "of `agent_image` copies it into each pod), or `none`: [without "
            "agents](kubernetes.md#without-agents)",
        .default_words = "`config_maps`; with `agent_image`: `image`",
    }),
    section_field<&KubernetesOptions::agent_image>({
        .key = "agent_image",
        .about = "Image that brings agents into the pods",
        .allowed = "the name of an image",
        .reference = "the image that brings agents into the pods, of this version of gangrun: "
                     "`make dist` makes it",
        .default_words = "none",
        .schema = R"({"maxLength": 255})",
    }),
    section_field<&KubernetesOptions::vcores_limit>({
        .key = "vcores_limit",
        .about = "Processors that a container may use at most; 0 means no limit",
        .max = job::kMaxVcoresPerTask,
        .reference = "the most processors that a task's container may use, {range}, not below its "
                     "`vcores`; for a namespace whose quota asks for a limit",
        .default_words = "none (`0`)",
    }),
    section_field<&KubernetesOptions::helper_image>({
        .key = "helper_image",
        .about = "Image of the container that keeps a task's outputs",
        .allowed = "the name of an image",
        .reference = "the image of the container that keeps a task's `outputs`",
        .default_words = "the task's own",
        .schema = R"({"maxLength": 255})",
    }),
    jobfile::map_field<JobSpec, kubernetes_master_fields>({
        .key = "master",
        .about = "Pod of a detached job's master",
        .reference = "`{service_account, memory, vcores, keep}` of the pod that leads a detached "
                     "job: the account with which it makes the tasks' pods, what it "
                     "may use, and how long it stays after the end for `fetch` and `logs`, at most "
                     "7 days",
        .default_words = "no account; memory by the number of tasks, `keep: 1h`",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/kubernetes_master"}, {"type": "null"}]})",
    }),
    jobfile::map_field<JobSpec, kubernetes_relay_fields>({
        .key = "relay",
        .about = "Pod that relays to the agents of a job with a client",
        .reference = "`{memory, vcores}` of the pod that relays to the agents of a job with a "
                     "client",
        .default_words = "little",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/kubernetes_relay"}, {"type": "null"}]})",
    }),
    jobfile::map_field<JobSpec, kubernetes_journal_fields>({
        .key = "journal",
        .about = "Volume for the records of a detached job's master and its tasks' outputs",
        .reference =
            "`{claim, path}` or `{volume, path}`: the persistent volume claim, or one of "
            "`volumes`, in which the master of a detached job keeps its records and its "
            "tasks' `outputs`, and the folder in it; [more](kubernetes.md#a-volume-for-the-"
            "journal)",
        .default_words = "config maps",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/kubernetes_journal"}, {"type": "null"}]})",
    }),
};

}  // namespace

const jobfile::Section& KubernetesOptions::section() {
  static const jobfile::Section kSection{.key = kKey,
                                         .about = "Settings for Kubernetes",
                                         .fields = kKubernetesFields,
                                         .parts = {{"master.", kKubernetesMasterFields},
                                                   {"relay.", kKubernetesRelayFields},
                                                   {"journal.", kKubernetesJournalFields}},
                                         .make = job::make_options<KubernetesOptions>};
  return kSection;
}

AgentsBy agents_by(const JobSpec& job) {
  const KubernetesOptions& own = kubernetes_of(job);
  if (own.agents) return *own.agents;
  return own.agent_image.empty() ? kAgentsByDefault : AgentsBy::kImage;
}

JobSpec with_time_for_pods(JobSpec job) {
  job::Timeouts& timeouts = job.timeouts;
  timeouts.roll_call += timeouts.allocation;
  if (!has_agents(job)) timeouts.roll_call += timeouts.hold;
  return job;
}

}  // namespace gangrun::kubernetes::pods
