#include "kubernetes/pods/journal_volume.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;
using jobfile::Found;
using jobfile::Problem;

constexpr const char* kOwnVolume = "gangrun-journal";
// Kinds of volumes that go with their pod, or that no pod writes to.
constexpr std::array<std::string_view, 8> kPassing = {
    "emptyDir", "ephemeral", "configMap", "secret", "downwardAPI", "projected", "image", "gitRepo"};

const Json* find_volume(const KubernetesOptions& kubernetes, const std::string& name) {
  const auto found = std::ranges::find_if(kubernetes.volumes, [&name](const Json& volume) {
    return text_at(volume, {"name"}) == name;
  });
  return found == kubernetes.volumes.end() ? nullptr : &*found;
}

// By its name among the job's volumes.
Found check_volume(const KubernetesOptions& kubernetes, const std::string& path) {
  const std::string& name = kubernetes.journal.volume;
  const Json* const volume = find_volume(kubernetes, name);
  if (volume == nullptr) {
    std::vector<std::string> known;
    for (const Json& each : kubernetes.volumes) known.push_back(text_at(each, {"name"}));
    if (known.empty()) known = {"one that is there", "`claim`"};
    return Problem{path, base::format("{} is none of `volumes` of `kubernetes`; allowed: {}",
                                      job::in_quotes(name), base::join(known, ", "))};
  }
  for (const std::string_view kind : kPassing) {
    if (!volume->contains(kind)) continue;
    return Problem{path, base::format("{} is of the kind {}, in which a next pod finds nothing; "
                                      "allowed: a volume that outlives pods, such as "
                                      "persistentVolumeClaim",
                                      job::in_quotes(name), kind)};
  }
  return std::nullopt;
}

Found check_folder(const std::string& folder, const std::string& path) {
  if (auto found = jobfile::check_text(folder, path)) return found;
  const std::vector<std::string> parts = base::split(folder, '/');
  const bool fits = folder.find('\n') == std::string::npos &&
                    std::ranges::none_of(parts, [](const std::string& part) {
                      return part.empty() || part == "." || part == "..";
                    });
  if (fits) return std::nullopt;
  return Problem{path, base::format("{} is not the path of a folder in a volume; allowed: a "
                                    "relative path without '.' and '..'",
                                    job::in_quotes(folder))};
}

}  // namespace

bool has_journal_volume(const job::JobSpec& spec) {
  const JournalOptions& own = kubernetes_of(spec).journal;
  return !own.claim.empty() || !own.volume.empty();
}

std::string journal_folder(const job::JobSpec& spec, const std::string& mount) {
  if (!has_journal_volume(spec)) return {};
  const std::string& path = kubernetes_of(spec).journal.path;
  return path.empty() ? mount : base::format("{}/{}", mount, path);
}

std::string journal_claim(const job::JobSpec& spec) {
  const KubernetesOptions& kubernetes = kubernetes_of(spec);
  if (kubernetes.journal.volume.empty()) return kubernetes.journal.claim;
  const Json* const volume = find_volume(kubernetes, kubernetes.journal.volume);
  return volume == nullptr ? "" : text_at(*volume, {"persistentVolumeClaim", "claimName"});
}

std::string journal_words(const job::JobSpec& spec, const std::string& job_id) {
  const JournalOptions& own = kubernetes_of(spec).journal;
  const bool is_claim = !own.claim.empty();
  return base::format("the {} {}, in {}{}{}", is_claim ? "claim" : "volume",
                      is_claim ? own.claim : own.volume, own.path, own.path.empty() ? "" : "/",
                      job_id);
}

Found check_journal(const KubernetesOptions& kubernetes) {
  const JournalOptions& own = kubernetes.journal;
  const std::string field = kJournalField;
  if (!own.claim.empty() && !own.volume.empty()) {
    return Problem{field, "has both `claim` and `volume`; allowed: one of them"};
  }
  if (own.claim.empty() && own.volume.empty()) {
    if (own.path.empty()) return std::nullopt;
    return Problem{field + ".path", base::format("{} is in no volume; allowed: with `claim` or "
                                                 "`volume` of `journal`",
                                                 job::in_quotes(own.path))};
  }
  if (!own.volume.empty()) {
    if (auto found = check_volume(kubernetes, field + ".volume")) return found;
  }
  return own.path.empty() ? std::nullopt : check_folder(own.path, field + ".path");
}

Json journal_volume(const job::JobSpec& spec) {
  const KubernetesOptions& kubernetes = kubernetes_of(spec);
  if (const Json* const volume = find_volume(kubernetes, kubernetes.journal.volume)) return *volume;
  return {{"name", kOwnVolume},
          {"persistentVolumeClaim", {{"claimName", kubernetes.journal.claim}}}};
}

Json journal_mount(const job::JobSpec& spec) {
  return {{"name", journal_volume(spec)["name"]}, {"mountPath", kJournalFolder}};
}

}  // namespace gangrun::kubernetes::pods
