#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cli/run_options.h"
#include "cluster/local/local_cluster.h"
#include "cluster/local/local_images.h"
#include "job/draft.h"
#include "job/place.h"
#include "job/shipped_files.h"
#include "job/spec.h"
#include "net/interfaces.h"

// Everything that is looked at before a job is started: what is wrong here is bad input.
namespace gangrun::cli {

// What there is at an absolute path.
job::FileKind kind_of(const std::string& path);

// A path as it is found from `folder`, where gangrun was called.
std::string in_folder(const std::string& folder, const std::string& path);

// The job of a file (if one is named) and flags. Paths of `files` and `archives` in a file are
// relative to the file, those in flags to the folder where gangrun was called.
base::Result<job::JobSpec> read_job(const RunOptions& options, const std::string& folder,
                                    const job::Places& places);

// A job file as a draft, its `files` as said above.
base::Result<job::JobDraft> read_draft(const std::string& spec_path);

// Whether the files and archives that the job needs can be read. Those of a cluster's file system
// are not looked for. `are_brought`: under names of their own, which an entry may have behind "#".
base::Result<> check_files(const job::JobSpec& spec, const std::string& folder, bool are_brought);

// Whether this machine has what the job needs to run on it: resources, programs that can be
// executed.
base::Result<> check_on_this_machine(const job::JobSpec& spec, const cluster::Machine& machine,
                                     const std::map<std::string, std::string>& environment,
                                     const std::string& folder);

// Whether this machine has an engine that has the images that the job's tasks run in, and can show
// these folders to their containers.
base::Result<> check_images_of(const job::JobSpec& spec,
                               const std::map<std::string, std::string>& environment,
                               const std::vector<std::string>& folders, base::Instant deadline);

// The container engine that tasks of this machine in images run by.
base::Result<std::string> engine_of(const std::map<std::string, std::string>& environment);

// The name or address by which the tasks of the job know this machine, and why: `wanted`, if it is
// one of this machine's, or one of the job's interface.
base::Result<net::ChosenAddress> host_for_tasks(const job::JobSpec& spec,
                                                const std::optional<std::string>& wanted,
                                                base::Instant deadline);

// Whether the hosts of the job can be used, from the master's address `wanted` where one is given.
base::Result<> check_hosts_of(const job::JobSpec& spec, const std::optional<std::string>& wanted);

job::Gpus gpus_of_this_machine(const Context& context);
cluster::Machine this_machine(const job::Gpus& gpus);

}  // namespace gangrun::cli
