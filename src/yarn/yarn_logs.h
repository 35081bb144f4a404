#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/site.h"
#include "hadoop/configuration.h"
#include "hadoop/records.h"
#include "hadoop/resource_manager.h"
#include "hadoop/web_hdfs.h"
#include "yarn/job_access.h"

namespace gangrun::yarn {

// The output of a running job, through its master: what that still keeps, then what comes. When the
// master goes, the next one is asked; when the job has ended, nothing comes any more. The
// references outlive the result.
std::unique_ptr<cluster::LogReader> open_live_logs(hadoop::ResourceManagerClient& resource_manager,
                                                   const hadoop::ApplicationId& id,
                                                   const JobAccess& access,
                                                   const cluster::LogRequest& request,
                                                   const base::Clock& clock);

// The output of an ended job, as the nodes have put it together on the cluster's file system.
// kNotFound, with what to look at, where they have not.
base::Result<std::unique_ptr<cluster::LogReader>> open_aggregated_logs(
    const hadoop::Configuration& configuration, hadoop::WebHdfs& files,
    const hadoop::ApplicationReport& report, const cluster::LogRequest& request,
    const base::Clock& clock);

}  // namespace gangrun::yarn
