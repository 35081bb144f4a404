#include "yarn/yarn_rules.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/checks.h"
#include "jobfile/shipped_files.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

namespace {

using jobfile::check_bytes;
using jobfile::check_text;
using Found = jobfile::Found;
using job::in_quotes;
using JobSpec = job::JobSpec;
using Problem = jobfile::Problem;

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

}  // namespace gangrun::yarn
