#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/run_options.h"
#include "jobfile/place_rules.h"
#include "kubernetes/commands/kubernetes_run.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/rights.h"

// The command line of `tf-spawner`, as options of `gangrun run --on kubernetes`
// (docs/from-tf-spawner.md).
namespace gangrun::kubernetes::commands {

inline constexpr std::string_view kTfSpawner = "tf-spawner";
// The label of all objects of a run, as `training_attempt=TAG`.
inline constexpr std::string_view kAttemptTag = "training_attempt";
// Taken where the flag is not given and they are there.
inline constexpr std::string_view kPodFile = "pod.yaml";
inline constexpr std::string_view kServiceFile = "service.yaml";

// The flags that were typed. (The braces let a part of them be named alone.)
struct TfSpawnerOptions {
  std::string positional{};  // the training script, or with -d the tag
  bool deletes = false;
  std::optional<std::string> workers{};
  std::optional<std::string> name_space{};
  std::optional<std::string> port{};
  std::optional<std::string> command_file{};
  std::optional<std::string> pod_file{};
  std::optional<std::string> tag{};
  bool has_random_tag = false;
  std::optional<std::string> env_file{};
  std::optional<std::string> image{};
  std::optional<std::string> service_file{};
  std::vector<std::string> outputs{};
  std::vector<std::string> timeouts{};
  std::optional<std::string> tensorboard{};
  std::optional<std::string> restarts{};
  std::optional<std::string> agents{};
  std::optional<std::string> kubeconfig{};
  std::optional<std::string> context{};
  client::DisplayOptions display{};
  bool yes = false;
  bool dry_run = false;
};

// The files that the options name, read.
struct TfSpawnerFiles {
  std::string script{};
  std::optional<std::string> command{};
  std::optional<std::string> environment{};
  std::optional<std::string> pod{};
  std::optional<std::string> service{};
};

// The tag of the run that is started or deleted; `random` is what -r takes. An error where it could
// not be a label, or where two different ones are given.
base::Result<std::string> tag_of(const TfSpawnerOptions& options, std::string_view random);

// NAME=VALUE of each line but blank ones and those that begin with '#'. Values are taken as they
// are, quotes too. The error names the line.
base::Result<std::map<std::string, std::string>> parse_env_file(std::string_view text);

// The lines but blank ones and comments, each only if the one before succeeded; empty: there are
// none.
std::string command_line_of(std::string_view text);

void name_cluster(const TfSpawnerOptions& options, pods::KubernetesOptions& kubernetes);

// The job that the options ask for, under its documented names.
base::Result<KubernetesLaunch> tf_spawner_launch(const TfSpawnerOptions& options,
                                                 const TfSpawnerFiles& files,
                                                 const std::string& tag,
                                                 const jobfile::RulesOfPlaces& places);

// The error with the flags and files of this command line, where it names fields of a job file and
// flags of `gangrun run`.
base::Error in_own_words(base::Error error, const TfSpawnerOptions& options);

// If some of the missing rights are those of agents alone, the job is to have none: the line that
// tells so. Empty: nothing has changed.
std::string leave_out_agents(job::JobSpec& spec, const std::vector<pods::Right>& missing,
                             const std::string& name_space);

// Puts names with the tag at their ends in the place of the documented ones.
void take_names_of_its_own(KubernetesLaunch& launch, const std::string& tag);

}  // namespace gangrun::kubernetes::commands
