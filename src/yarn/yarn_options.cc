#include "yarn/yarn_options.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/checks.h"
#include "jobfile/shipped_files.h"

namespace gangrun::yarn {

namespace {

using base::Json;
using job::in_quotes;
using job::JobSpec;
using jobfile::check_bytes;
using jobfile::check_text;
using jobfile::FieldRow;
using jobfile::FlagForms;
using jobfile::Found;
using jobfile::one_value;
using jobfile::Problem;
using jobfile::section_field;

bool is_visible(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; }

// A text without blanks.
bool is_word(const std::string& text) {
  return base::is_valid_utf8(text) && std::ranges::all_of(text, is_visible);
}

Found check_queue_name(const std::string& queue) {
  if (queue.size() <= kMaxQueueBytes && is_word(queue)) return std::nullopt;
  return Problem{"yarn.queue",
                 base::format("{} is not the name of a queue; allowed: a text without blanks, at "
                              "most {} bytes, for example root.research",
                              in_quotes(queue), kMaxQueueBytes)};
}

Found check_tags(const std::vector<std::string>& tags) {
  if (tags.size() > kMaxTags) {
    return Problem{"yarn.tags",
                   base::format("{} tags are more than the limit of {}", tags.size(), kMaxTags)};
  }
  std::set<std::string> seen;
  for (const std::string& tag : tags) {
    const bool fits =
        !tag.empty() && tag.size() <= kMaxTagBytes && std::ranges::all_of(tag, [](char c) {
          return is_visible(c) && static_cast<unsigned char>(c) < 0x7F && c != ',';
        });
    if (!fits) {
      return Problem{"yarn.tags",
                     base::format("{} is not a tag; allowed: ASCII without blanks and ',', 1 to {} "
                                  "characters",
                                  in_quotes(tag), kMaxTagBytes)};
    }
    if (!seen.insert(tag).second) {
      return Problem{"yarn.tags", base::format("{} is given twice", in_quotes(tag))};
    }
  }
  return std::nullopt;
}

Found check_acl(const std::string& acl, const std::string& path) {
  if (auto found = check_text(acl, path)) return found;
  const auto fits = [](char c) { return c == ' ' || is_visible(c); };
  if (std::ranges::all_of(acl, fits)) return std::nullopt;
  return Problem{
      path, base::format("{} has a control character; allowed: \"user,user group,group\", or *",
                         in_quotes(acl))};
}

Found check_file_systems(const std::vector<std::string>& urls) {
  if (urls.size() > kMaxFileSystems) {
    return Problem{"yarn.file_systems",
                   base::format("{} are more than the limit of {}", urls.size(), kMaxFileSystems)};
  }
  for (const std::string& url : urls) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos || scheme == 0 || !is_word(url)) {
      return Problem{"yarn.file_systems",
                     base::format("{} is not the address of a file system; allowed: "
                                  "hdfs://host:port, hdfs://nameservice",
                                  in_quotes(url))};
    }
  }
  return std::nullopt;
}

// Checks no more than that a user's name is a text without blanks: Kerberos and the cluster know
// better what is in it.
Found check_name_of_user(const std::string& name, const std::string& path) {
  if (is_word(name)) return std::nullopt;
  return Problem{path,
                 base::format("{} is not a name; allowed: a text without blanks", in_quotes(name))};
}

// A file that YARN is to bring, where it lies in no file system of a cluster.
Found check_on_yarn(const JobSpec& job) {
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    if (!jobfile::has_scheme(job.files[i])) continue;
    const auto file = jobfile::cluster_file(job.files[i]);
    if (!file.ok()) return Problem{base::format("files.{}", i), file.error().message};
  }
  const bool by_kerberos = job.zookeeper && job.zookeeper->login == job::ZooKeeperLogin::kKerberos;
  if (by_kerberos && yarn_of(job).keytab.empty()) {
    return Problem{"zookeeper.login",
                   "kerberos needs `yarn: {keytab: FILE}`: the job's master has no other ticket"};
  }
  return std::nullopt;
}

Found check_options_of_yarn(const JobSpec& job) {
  const YarnOptions& yarn = yarn_of(job);
  if (auto found = check_queue_name(yarn.queue)) return found;
  if (auto found = check_tags(yarn.tags)) return found;
  const job::Resources& master = yarn.master;
  if (master.gpus != 0 || !master.others.empty()) {
    return Problem{"yarn.master", "has more than memory and vcores; allowed: these two"};
  }
  if (auto found = jobfile::check_label(yarn.master_label, "yarn.master.label")) return found;
  if (auto found = check_acl(yarn.view_acl, "yarn.view_acl")) return found;
  if (auto found = check_acl(yarn.modify_acl, "yarn.modify_acl")) return found;
  if (auto found = check_file_systems(yarn.file_systems)) return found;
  if (auto found = check_name_of_user(yarn.principal, "yarn.principal")) return found;
  if (auto found = check_bytes(yarn.keytab, "yarn.keytab")) return found;
  if (auto found = check_name_of_user(yarn.as, "yarn.as")) return found;
  if (!yarn.as.empty() && !yarn.keytab.empty()) {
    return Problem{"yarn.as", base::format("{} is not allowed with a keytab: the processes of that "
                                           "user could read the keys",
                                           in_quotes(yarn.as))};
  }
  return std::nullopt;
}

constexpr std::string_view kWorksInContainer =
    "tasks work in the folder of their container, which YARN removes: name what is to stay in "
    "`outputs`, or write it to a file system that all see";

constexpr std::string_view kAclForm = "users and groups, \"user,user group,group\"";

constexpr FieldRow<JobSpec> kYarnMasterFields[] = {
    section_field<&YarnOptions::master, &job::Resources::memory_mib>({
        .key = "memory",
        .about = "Memory of the job's master",
        .min = 1,
        .is_always_written = true,
        .flag =
            one_value("--master-memory", "", "Memory of the job's master on YARN (256m)", "memory"),
    }),
    section_field<&YarnOptions::master, &job::Resources::vcores>({
        .key = "vcores",
        .about = "Processor cores of the job's master",
        .min = 1,
        .max = job::kMaxVcoresPerTask,
        .is_always_written = true,
        .flag = one_value("--master-vcores", "", "Cores of the job's master on YARN (1)", "cores"),
    }),
    section_field<&YarnOptions::master_label>({
        .key = "label",
        .about = "Node label of the job's master",
        .allowed = "a node label; nodes without one are \"\"",
        .schema = R"({"$ref": "#/$defs/label"})",
    }),
};

jobfile::FieldRows<JobSpec> master_fields() { return kYarnMasterFields; }

constexpr FieldRow<JobSpec> kYarnFields[] = {
    section_field<&YarnOptions::queue>({
        .key = "queue",
        .about = "Queue",
        .allowed = "the name of a queue",
        .reference = "the queue, with or without its path: `root.research`; no blanks",
        .default_words = "`default`",
        .schema = R"({"maxLength": 1024})",
    }),
    section_field<&YarnOptions::priority>({
        .key = "priority",
        .about = "Priority in the queue; a larger number goes first",
        .max = kMaxPriority,
        .flag = one_value("--priority", "", "Priority on YARN; higher ones run first"),
        .reference =
            "{range}; of jobs in one queue, the larger number goes first; values over "
            "`yarn.cluster.max-application-priority` (0 if not configured) are reduced to it",
        .default_words = "the queue's",
    }),
    section_field<&YarnOptions::tags>({
        .key = "tags",
        .about = "Tags by which the job can be found",
        .allowed = "texts, a tag, a text",
        .flag = {.names = "--tag",
                 .forms = FlagForms::kItems,
                 .value = "TAG,...",
                 .help = "Tag of the application on YARN",
                 .reference = "`night,wine`; replaces the file's"},
        .reference = "a list of ASCII texts without blanks and commas, at most 100 of at most 100 "
                     "characters; a cluster may allow fewer, and may convert them to lower case",
        .default_words = "none",
        .schema =
            R"({"type": "array", "maxItems": 100, "uniqueItems": true, "items": {"type": "string", "pattern": "^[!-+.-~-]{1,100}$"}})",
    }),
    jobfile::map_field<JobSpec, master_fields>({
        .key = "master",
        .about = "Container of the job's master",
        .reference =
            "`{memory, vcores, label}` of the master's container; at least 1 MiB and 1 core",
        .default_words = "`{memory: 256 MiB, vcores: 1}`",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/yarn_master"}, {"type": "null"}]})",
    }),
    section_field<&YarnOptions::view_acl>({
        .key = "view_acl",
        .about = "Who else may see the job: \"user,user group,group\", or *",
        .allowed = kAclForm,
        .reference = "who else may see the job and its logs: users, a blank, groups (`ann,bob "
                     "research`), or `*`",
        .default_words = "the cluster's",
    }),
    section_field<&YarnOptions::modify_acl>({
        .key = "modify_acl",
        .about = "Who else may end the job, in the same form",
        .allowed = kAclForm,
        .reference = "who else may end it, in the same form",
        .default_words = "the cluster's",
    }),
    section_field<&YarnOptions::max_attempts>({
        .key = "max_attempts",
        .about = "How often YARN starts a master; 0 means as often as the cluster allows",
        .max = kMaxMasterAttempts,
        .is_always_written = true,
        .reference = "how often YARN starts a master, {range}; 0 is what the cluster allows",
    }),
    section_field<&YarnOptions::container_runtime>({
        .key = "container_runtime",
        .about = "What runs the images of tasks: the choice of Hadoop's configuration, YARN "
                 "itself, or the agent",
        .is_always_written = true,
        .reference = "what runs the tasks' images. `docker`: YARN itself; `none`: our agent, with "
                     "the container engine of its node; `auto`: YARN if "
                     "`yarn.nodemanager.runtime.linux.allowed-runtimes` lists `docker`, else our "
                     "agent. See [containers](containers.md)",
    }),
    section_field<&YarnOptions::file_systems>({
        .key = "file_systems",
        .about = "Other file systems for which the tasks get tokens, on a cluster with Kerberos",
        .allowed = "texts, a URL, hdfs://…",
        .flag = {.names = "--file-system",
                 .forms = FlagForms::kEach,
                 .value = "URL",
                 .help = "With Kerberos: an additional file system for which the tasks get tokens",
                 .reference = "one URL; once per URL; replaces the file's"},
        .reference = "on a [cluster with Kerberos](secure-clusters.md): URLs of more file systems "
                     "for which the tasks get tokens, at most 100",
        .default_words = "only the cluster's own",
        .schema =
            R"({"type": "array", "maxItems": 100, "items": {"type": "string", "pattern": "^[^:]+://"}})",
    }),
    section_field<&YarnOptions::principal>({
        .key = "principal",
        .about = "Kerberos principal to use: name@REALM",
        .allowed = "a Kerberos principal, name@REALM",
        .flag = one_value("--principal", "NAME@REALM",
                          "Kerberos principal to use (default: the ticket's)"),
        .reference = "the Kerberos principal to use: `name@REALM`",
        .default_words = "that of the ticket or the keytab",
    }),
    section_field<&YarnOptions::keytab>({
        .key = "keytab",
        .about = "A file with the principal's keys; with it, the job's tokens are replaced before "
                 "they expire",
        .allowed = "a file with keys",
        .flag =
            one_value("--keytab", "FILE",
                      "Keytab of the principal, instead of a ticket; the job keeps it to replace "
                      "its tokens before they expire"),
        .reference = "a file with the principal's keys, relative to the folder where `gangrun` is "
                     "called; it goes with the job",
        .default_words = "the ticket cache, which `kinit` fills",
        .is_path = true,
    }),
    section_field<&YarnOptions::as>({
        .key = "as",
        .about = "User to run the job as, if the cluster allows you to act for others",
        .allowed = "the name of a user",
        .flag =
            one_value("--as", "USER",
                      "Run the job as this user (the cluster must allow you to be a proxy user)"),
        .reference = "the user to run the job as, if the cluster allows you to act for others",
        .default_words = "the user who submits it",
    }),
};

}  // namespace

jobfile::PlaceRules yarn_rules() {
  using jobfile::Feature;
  return {.name = std::string(kYarn),
          .words = "the YARN cluster of HADOOP_CONF_DIR",
          .reference = "`yarn`",
          .features = {Feature::kRestarts, Feature::kFiles, Feature::kClusterFiles,
                       Feature::kArchives, Feature::kImages, Feature::kGpus,
                       Feature::kOtherResources, Feature::kLabels, Feature::kOnePerNode,
                       Feature::kSpares, Feature::kSmallerGangs, Feature::kOutputs},
          .passed_over = {Feature::kPods},
          .refusals = {{Feature::kKeptFolders, kWorksInContainer}},
          .section = &YarnOptions::section(),
          .brings_files = true,
          .gives_zookeeper_hosts = true,
          .queue = [](JobSpec& job) -> std::string& { return edit_yarn(job).queue; },
          .check_options = check_options_of_yarn,
          .check = check_on_yarn};
}

const jobfile::Section& YarnOptions::section() {
  static const jobfile::Section kSection{.key = kKey,
                                         .about = "Settings for YARN",
                                         .fields = kYarnFields,
                                         .parts = {{"master.", kYarnMasterFields}},
                                         .make = job::make_options<YarnOptions>};
  return kSection;
}

}  // namespace gangrun::yarn
