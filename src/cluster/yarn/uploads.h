#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/yarn/job_access.h"
#include "hadoop/configuration.h"
#include "hadoop/records.h"
#include "hadoop/web_hdfs.h"
#include "job/shipped_files.h"

namespace gangrun::cluster {

// The links under which a container finds the agent, and all of the user's files.
inline constexpr const char* kAgentLink = "gangrun-agent";
inline constexpr const char* kFilesLink = "gangrun-files";
inline constexpr const char* kArchiveName = "files.tar.gz";
// What no job has asked for that long is removed.
inline constexpr std::chrono::hours kCacheAge{24 * 30};

// Brings to the cluster what a job's containers need and the cluster does not have yet. Everything
// is kept by its contents, so that the next job finds it there, and the nodes in their own caches.
// The agent, which is nobody's secret, is public where the user's home folder may be entered by
// all: such a file costs a container nothing. The user's files go as one private archive, since
// nodes fetch private files one after the other.
class Uploads {
 public:
  using Progress =
      std::function<void(const std::string& name, std::uint64_t sent, std::uint64_t size)>;

  // The references outlive it.
  Uploads(const hadoop::Configuration& configuration, hadoop::WebHdfs& files,
          const YarnPaths& paths, const std::string& user, const base::Clock& clock,
          Progress progress);

  // What each container gets, by the name of its link.
  base::Result<std::map<std::string, hadoop::LocalResource>> put(const std::string& agent_program,
                                                                 const job::ShippedFiles& shipped,
                                                                 base::Instant deadline);

 private:
  base::Result<hadoop::LocalResource> put_agent(const std::string& path, base::Instant deadline);
  base::Result<hadoop::LocalResource> put_archive(const std::vector<job::LocalFile>& files,
                                                  base::Instant deadline);
  base::Result<hadoop::LocalResource> find_there(const job::ClusterFile& file,
                                                 base::Instant deadline);
  base::Result<hadoop::LocalResource> ensure(const std::string& base, hadoop::Visibility visibility,
                                             const std::string& name, int fd,
                                             base::Instant deadline);

  const hadoop::Configuration& configuration_;
  hadoop::WebHdfs& files_;
  const YarnPaths& paths_;
  const std::string& user_;
  const base::Clock& clock_;
  const Progress progress_;
};

}  // namespace gangrun::cluster
