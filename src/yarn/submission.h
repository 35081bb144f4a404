#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "hadoop/configuration.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "yarn/master_config.h"

// The application as which a job is submitted, and the meaning of YARN's answers. Pure.
namespace gangrun::yarn {

// The parts of Hadoop's configuration that the master needs.
std::map<std::string, std::string> for_master(const hadoop::Configuration& configuration);

// The queue that a job goes to; `queue` is empty where it names none.
std::string queue_of(const std::string& queue);
// YARN's answer about the queue; kInvalidArgument if there is none.
base::Result<hadoop::QueueInfo> existing_queue(base::Result<hadoop::QueueInfo> asked,
                                               const std::string& name,
                                               const std::vector<std::string>& own_queues);

// The job's application: the container that `config` is for, with what `master` has already.
// kInvalidArgument where it is larger than what YARN can keep.
base::Result<hadoop::Submission> make_submission(const job::JobSpec& spec,
                                                 const hadoop::ApplicationId& id,
                                                 const YarnMasterConfig& config,
                                                 hadoop::LaunchContext master);

enum class Recording {
  kIsRecorded,  // a ResourceManager that fails now still knows it
  kNotYet,
  kForgotten,  // it has failed before: to be submitted again
};
// The meaning of the answer to a question for an application that was submitted; an error if it is
// refused, or nothing is to be hoped for.
base::Result<Recording> recording_of(const base::Result<hadoop::ApplicationReport>& report);

}  // namespace gangrun::yarn
