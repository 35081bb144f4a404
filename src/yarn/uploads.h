#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/account.h"
#include "hadoop/configuration.h"
#include "hadoop/content_store.h"
#include "hadoop/digest_cache.h"
#include "hadoop/records.h"
#include "hadoop/web_hdfs.h"
#include "jobfile/shipped_files.h"
#include "yarn/job_access.h"

namespace gangrun::yarn {

// From this size on a file or folder is brought by itself.
inline constexpr std::uint64_t kOwnBundleBytes = std::uint64_t{4} << 20U;
// Nodes fetch a user's files one after the other, so there are few.
inline constexpr std::size_t kMaxOwnBundles = 16;

// Files that are brought together, and so are brought again when one of them has changed.
struct Bundles {
  std::vector<jobfile::LocalFile> common;
  std::vector<jobfile::LocalFile> own;  // each by itself, under a name that any file system takes
};

// Large files and folders alone, the first of them if there are many; all others together.
// `size_of` counts the bytes below a path, and may stop counting at kOwnBundleBytes.
Bundles bundles_of(const std::vector<jobfile::LocalFile>& files,
                   const std::function<std::uint64_t(const std::string& path)>& size_of);

// The bytes of a file, or of all files in a folder, as far as they can be looked at; not much more
// than `enough` are counted.
std::uint64_t bytes_below(const std::string& path, std::uint64_t enough);

// The links under which a container finds the agent, and the user's files: those that are brought
// together, and with a number behind it each folder that is brought by itself.
inline constexpr const char* kAgentLink = "gangrun-agent";
// The program that gets new tokens for the master, and the keys that it needs for that.
inline constexpr const char* kClientLink = "gangrun";
inline constexpr const char* kKeytabLink = "gangrun-keytab";
// The certificates of those whom the client trusts, where it names them.
inline constexpr const char* kAuthoritiesLink = "gangrun-authorities.pem";
inline constexpr const char* kFilesLink = "gangrun-files";
inline constexpr const char* kOwnFolderLink = ".gangrun-files-";
inline constexpr const char* kArchiveName = "files.tar.gz";
// Files that no job has used for so long are removed.
inline constexpr std::chrono::hours kCacheAge{24 * 30};

// Brings to the cluster what a job's containers need and the cluster does not have yet. Everything
// is kept by its contents, so that the next job finds it there, and the nodes in their own caches.
// The agent, which is nobody's secret, is public where the user's home folder may be entered by
// all: such a file costs a container nothing. The user's files go as one private archive, since
// nodes fetch private files one after the other; but what is large goes by itself, so that a change
// of something small beside it does not bring it again.
class Uploads {
 public:
  using Progress =
      std::function<void(const std::string& name, std::uint64_t sent, std::uint64_t size)>;

  // The references outlive it.
  Uploads(const hadoop::Configuration& configuration, hadoop::WebHdfs& files,
          const YarnPaths& paths, const hadoop::Account& account, const base::Clock& clock,
          const std::string& digests, Progress progress);

  // The files of each container, by the name of the link.
  base::Result<hadoop::LocalResources> put(const std::string& agent_program,
                                           const jobfile::ShippedFiles& shipped,
                                           base::Instant deadline);

  // A program that is nobody's secret.
  base::Result<hadoop::LocalResource> put_program(const std::string& path, const char* name,
                                                  base::Instant deadline);
  // A small file into the job's own folder, for nobody but the job's user.
  base::Result<hadoop::LocalResource> put_own(const std::string& path, const std::string& folder,
                                              const char* link, base::Instant deadline);

  // The further files of the containers of a task type, by the name of the link. Each archive is
  // its own private file, and is not read again where it has not changed.
  base::Result<std::map<std::string, hadoop::LocalResources>> put_archives(
      const std::vector<jobfile::ShippedArchive>& archives, base::Instant deadline);

 private:
  // `stored` is what the file is called there; it is not read again where it has not changed.
  base::Result<hadoop::LocalResource> put_file(const std::string& path, const std::string& stored,
                                               const std::string& shown, base::Instant deadline);
  base::Result<hadoop::LocalResource> put_archive(const std::vector<jobfile::LocalFile>& files,
                                                  const std::string& shown, base::Instant deadline);
  base::Result<> put_files(const std::vector<jobfile::LocalFile>& files, base::Instant deadline,
                           hadoop::LocalResources& resources);
  // `key` is the job file's.
  base::Result<hadoop::LocalResource> find_there(const std::string& key, const std::string& url,
                                                 base::Instant deadline);
  // `shown` is what the user knows it by.
  base::Result<hadoop::LocalResource> ensure(const std::string& base, hadoop::Visibility visibility,
                                             hadoop::Content content, const std::string& shown,
                                             base::Instant deadline);

  const hadoop::Configuration& configuration_;
  hadoop::WebHdfs& files_;
  const YarnPaths& paths_;
  const hadoop::Account& account_;
  const base::Clock& clock_;
  hadoop::DigestCache digests_;
  const Progress progress_;
};

}  // namespace gangrun::yarn
