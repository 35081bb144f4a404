#include "cluster/yarn/uploads.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "hadoop/archive.h"
#include "hadoop/content_store.h"
#include "hadoop/file_system.h"

namespace gangrun::cluster {

namespace {

using base::Result;

Result<std::uint64_t> size_of(int fd, const std::string& what) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return base::from_errno(errno, what);
  return static_cast<std::uint64_t>(info.st_size);
}

// "/user/ana/x" of "hdfs://name/user/ana/x".
std::string path_of(const std::string& url) {
  const std::size_t authority = url.find("://");
  const std::size_t slash = authority == std::string::npos ? 0 : url.find('/', authority + 3);
  return slash == std::string::npos ? std::string("/") : url.substr(slash);
}

}  // namespace

Uploads::Uploads(const hadoop::Configuration& configuration, hadoop::WebHdfs& files,
                 const YarnPaths& paths, const std::string& user, const base::Clock& clock,
                 Progress progress)
    : configuration_(configuration),
      files_(files),
      paths_(paths),
      user_(user),
      clock_(clock),
      progress_(std::move(progress)) {}

Result<std::map<std::string, hadoop::LocalResource>> Uploads::put(const std::string& agent_program,
                                                                  const job::ShippedFiles& shipped,
                                                                  base::Instant deadline) {
  std::map<std::string, hadoop::LocalResource> resources;
  GANGRUN_ASSIGN(resources[kAgentLink], put_agent(agent_program, deadline));
  if (!shipped.local.empty()) {
    GANGRUN_ASSIGN(resources[kFilesLink], put_archive(shipped.local, deadline));
  }
  for (const job::ClusterFile& file : shipped.there) {
    GANGRUN_ASSIGN(resources[file.name], find_there(file, deadline));
  }
  return resources;
}

Result<hadoop::LocalResource> Uploads::ensure(const std::string& base,
                                              hadoop::Visibility visibility,
                                              const std::string& name, int fd,
                                              base::Instant deadline) {
  hadoop::Content content;
  content.name = name;
  content.file.fd = fd;
  GANGRUN_ASSIGN(content.file.length, size_of(fd, name));
  GANGRUN_ASSIGN(content.digest, hadoop::digest_of(content.file));
  hadoop::ContentStore store(files_, base, visibility);
  const std::uint64_t size = content.file.length;
  GANGRUN_ASSIGN(const auto found, store.ensure(
                                       content, clock_.wall_now(),
                                       [&](std::uint64_t sent) {
                                         if (progress_) progress_(name, sent, size);
                                       },
                                       deadline));
  // Who brings something new makes room for it.
  if (found.uploaded) (void)store.clean(clock_.wall_now(), kCacheAge, deadline);
  return found.resource;
}

Result<hadoop::LocalResource> Uploads::put_agent(const std::string& path, base::Instant deadline) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return base::from_errno(errno, base::format("open {}", path));
  auto shared =
      ensure(paths_.shared(), hadoop::Visibility::kPublic, kAgentLink, file.get(), deadline);
  if (shared.ok() || shared.error().code != base::Code::kFailedPrecondition) return shared;
  return ensure(paths_.cache(), hadoop::Visibility::kPrivate, kAgentLink, file.get(), deadline);
}

Result<hadoop::LocalResource> Uploads::put_archive(const std::vector<job::LocalFile>& files,
                                                   base::Instant deadline) {
  const std::string folder = "/tmp";
  const base::UniqueFd archive(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!archive.valid()) return base::from_errno(errno, base::format("make a file in {}", folder));
  std::vector<hadoop::ArchiveSource> sources;
  sources.reserve(files.size());
  for (const job::LocalFile& file : files) sources.push_back({file.name, file.path});
  GANGRUN_TRY(hadoop::write_archive(sources, {}, [&archive](std::string_view bytes) {
    return base::write_all(archive.get(), bytes, "the archive of the job's files");
  }));
  GANGRUN_ASSIGN(
      hadoop::LocalResource resource,
      ensure(paths_.cache(), hadoop::Visibility::kPrivate, kArchiveName, archive.get(), deadline));
  resource.type = hadoop::LocalResourceType::kArchive;
  return resource;
}

Result<hadoop::LocalResource> Uploads::find_there(const job::ClusterFile& file,
                                                  base::Instant deadline) {
  GANGRUN_ASSIGN(const hadoop::FileSystem system,
                 hadoop::find_file_system(configuration_, file.url));
  hadoop::WebHdfs files(system, {.user = user_});
  const std::string path = path_of(file.url);
  const auto status = files.status(path, deadline);
  if (!status.ok())
    return base::invalid_argument(base::format("files: {}", status.error().message));
  if (status->is_folder) {
    return base::invalid_argument(
        base::format("files: {} is a folder; allowed on the cluster's file system: files, and "
                     "archives of folders",
                     file.url));
  }
  hadoop::LocalResource resource;
  resource.scheme = system.scheme;
  resource.host = system.host;
  resource.port = system.port;
  resource.path = path;
  resource.size = static_cast<std::int64_t>(status->length);
  resource.timestamp = status->modification_time;
  return resource;
}

}  // namespace gangrun::cluster
