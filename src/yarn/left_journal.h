#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/web_hdfs.h"
#include "job/status.h"

namespace gangrun::yarn {

// The words of the journal in this folder of the cluster's file system about a job whose masters
// are gone. None: there is no journal, or nothing is recorded in it.
base::Result<std::optional<job::JobStatus>> read_left_journal(hadoop::WebHdfs& files,
                                                              const std::string& folder,
                                                              const base::Clock& clock,
                                                              base::Instant deadline);

// How a job has ended whose masters could not tell it: what YARN says of the application, and what
// the journal has of the job; none: nothing of it has run. One of which no task has run has failed,
// one of which some have is lost, where YARN has it as lost.
job::JobStatus status_without_master(job::JobStatus by_yarn,
                                     std::optional<job::JobStatus> by_journal);

}  // namespace gangrun::yarn
