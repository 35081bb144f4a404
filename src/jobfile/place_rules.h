#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/spec.h"
#include "jobfile/job_fields.h"
#include "jobfile/problem.h"
#include "jobfile/section.h"

// The rules of a place for jobs. No place is named
// here: each has a room, which makes its value, and src/places lists them.
namespace gangrun::jobfile {

// The features that a job may want and not every place has, in the order in which it is checked.
enum class Feature {
  kRestarts,
  kFiles,
  kClusterFiles,  // of a cluster's file system
  kArchives,
  kImages,
  kGpus,
  kOtherResources,
  kPods,
  kLabels,
  kOnePerNode,
  kSpares,
  kSmallerGangs,
  kHosts,
  kOutputs,
  kKeptFolders,
};

// The first thing of the job that asks for it, and its value as errors have them.
struct Asked {
  std::string path;
  std::string value;
};
std::optional<Asked> find_asked(const job::JobSpec& job, Feature feature);

struct PlaceRules {
  std::string name{};        // what `on` says, and the key of its section
  std::string other_name{};  // what people write for it too
  std::string words{};       // what help has for it: "this machine"
  std::string reference{};   // what the reference has for it
  std::vector<Feature> features{};
  // Features that it takes and ignores, or that `check` reads.
  std::vector<Feature> passed_over{};
  // Features without a use there. A file may have it for other places, and who runs the file is
  // told; a flag is for this run, and is refused.
  std::vector<Feature> without_use{};
  // The end of the error if it lacks a feature. Others name a place that has it.
  std::map<Feature, std::string_view> refusals{};
  const Section* section = nullptr;  // null: it has none
  // Whether it brings the files that a job names to its tasks, under names of their own.
  bool brings_files = false;
  // Whether it knows hosts of ZooKeeper where the job names none.
  bool gives_zookeeper_hosts = false;
  // Whether its tasks run beside their master, where the job names no hosts.
  bool is_beside_master = false;
  // The queue in its section, at "queue".
  std::string& (*queue)(job::JobSpec&) = nullptr;
  // Its section and what else is only its own, wherever the job runs.
  Found (*check_options)(const job::JobSpec&) = nullptr;
  // All other rules, of a job that is for it.
  Found (*check)(const job::JobSpec&) = nullptr;
};

// All places that there are, in the order in which errors list them.
class RulesOfPlaces {
 public:
  RulesOfPlaces() : RulesOfPlaces(std::vector<PlaceRules>{}) {}
  explicit RulesOfPlaces(std::vector<PlaceRules> places);

  [[nodiscard]] const std::vector<PlaceRules>& all() const { return places_; }
  // "this machine, that cluster, or another one".
  [[nodiscard]] std::string words(std::string PlaceRules::*which) const;
  [[nodiscard]] std::vector<std::string> names() const;
  // By either of its names; null where there is none.
  [[nodiscard]] const PlaceRules* find(std::string_view name) const;
  // The place that has a job's queue: its own, or the first that has queues. Null: none has.
  [[nodiscard]] const PlaceRules* with_queue(const job::JobSpec& job) const;

  // The sections that a job may have for them.
  [[nodiscard]] const SectionList& sections() const { return sections_; }
  // plain_job_fields() and those of the sections.
  [[nodiscard]] const std::vector<JobField>& job_fields() const { return job_fields_; }

  // Whether the job's tasks run beside their master, so that its loopback is theirs.
  [[nodiscard]] bool are_tasks_beside_master(const job::JobSpec& job) const;

  // The parts of a job without a use where it runs, by the paths of fields and names of sections. A
  // place with a section says nothing of those of others: a file for several clusters has them.
  [[nodiscard]] std::vector<std::string> without_use(const job::JobSpec& job) const;
  // The error about a feature's value at a place that lacks it, with a place that has it.
  [[nodiscard]] std::string refused(std::string_view value, const PlaceRules& place,
                                    Feature feature) const;
  // The first error in a section, wherever the job runs.
  [[nodiscard]] Found check_options(const job::JobSpec& job) const;
  // The same, and the first field that the place of the job does not know, or would have to leave
  // out.
  [[nodiscard]] Found check(const job::JobSpec& job) const;

 private:
  [[nodiscard]] Found check_features(const job::JobSpec& job, const PlaceRules& place) const;
  [[nodiscard]] const PlaceRules* first_with(Feature feature) const;

  std::vector<PlaceRules> places_;
  SectionList sections_;
  std::vector<JobField> job_fields_;
};

// "'a' is not allowed with `on: here`; allowed with `on: there`".
std::string refused_text(std::string_view value, std::string_view place, std::string_view other);

// The first value of a part of the job that is no text: `why` says who takes nothing else.
Found find_no_text(const base::Json& part, const std::string& path, std::string_view why);

}  // namespace gangrun::jobfile
