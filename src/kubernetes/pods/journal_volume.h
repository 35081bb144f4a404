#pragma once

#include <string>

#include "base/json.h"
#include "job/spec.h"
#include "jobfile/problem.h"
#include "kubernetes/pods/kubernetes_options.h"

// The volume in which the master of a detached job keeps its journal, its tasks' keys and their
// outputs, where the job names one. Pure.
namespace gangrun::kubernetes::pods {

// The field of the job, with which errors about the volume begin.
inline constexpr const char* kJournalField = "kubernetes.journal";
// The mount in the master's pod.
inline constexpr const char* kJournalFolder = "/gangrun/journal";

bool has_journal_volume(const job::JobSpec& spec);
// The folder that has those of jobs, of a volume that is mounted here; empty without one.
std::string journal_folder(const job::JobSpec& spec, const std::string& mount);
// The persistent volume claim; empty: the volume is of another kind, or there is none.
std::string journal_claim(const job::JobSpec& spec);
// The place of a job's folder, for people: "the claim models, in runs/wine-1".
std::string journal_words(const job::JobSpec& spec, const std::string& job_id);

// The first thing that is wrong with `journal`, but for the name of the claim.
jobfile::Found check_journal(const KubernetesOptions& kubernetes);

// The volume and its mount as a pod has them, of a job that names one.
base::Json journal_volume(const job::JobSpec& spec);
base::Json journal_mount(const job::JobSpec& spec);

}  // namespace gangrun::kubernetes::pods
