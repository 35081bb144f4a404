#include "yarn/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/secret.h"
#include "base/unique_fd.h"
#include "hadoop/archive.h"
#include "hadoop/file_system.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// Neither a folder's part nor hidden, and without characters that a path of HDFS may not have.
bool is_plain(const std::string& name) {
  return !name.starts_with('.') && std::all_of(name.begin(), name.end(), [](char c) {
    return base::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
  });
}

// A keytab of a few keys has a few hundred bytes.
constexpr std::size_t kMaxOwnBytes = std::size_t{4} << 20U;

Result<hadoop::Content> content_of(const std::string& name, int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return base::from_errno(errno, name);
  return hadoop::Content{
      .name = name, .digest = {}, .file = {fd, 0, static_cast<std::uint64_t>(info.st_size)}};
}

// The name of an archive there, whatever its name is here: nodes go by the ending, and one
// content is to have one name.
std::string packed_name(const std::string& path) {
  const std::string name = base::in_small_letters(path);
  for (const char* ending : {".zip", ".tar"}) {
    if (name.ends_with(ending)) return std::string("archive") + ending;
  }
  return "archive.tar.gz";
}

}  // namespace

Bundles bundles_of(const std::vector<jobfile::LocalFile>& files,
                   const std::function<std::uint64_t(const std::string& path)>& size_of) {
  Bundles bundles;
  for (const jobfile::LocalFile& file : files) {
    const bool is_own = bundles.own.size() < kMaxOwnBundles && is_plain(file.name) &&
                        size_of(file.path) >= kOwnBundleBytes;
    (is_own ? bundles.own : bundles.common).push_back(file);
  }
  return bundles;
}

std::uint64_t bytes_below(const std::string& path, std::uint64_t enough) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    const std::uintmax_t size = fs::file_size(path, failed);
    return failed ? 0 : size;
  }
  std::uint64_t total = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator item(path, options, failed), end; !failed && item != end;
       item.increment(failed)) {
    std::error_code unseen;  // a file that goes away just now: packing will tell
    const bool is_file = item->is_regular_file(unseen);
    const std::uintmax_t size = is_file ? item->file_size(unseen) : 0;
    total += unseen ? 0 : size;
    if (total >= enough) break;
  }
  return total;
}

Uploads::Uploads(const hadoop::Configuration& configuration, hadoop::WebHdfs& files,
                 const YarnPaths& paths, const hadoop::Account& account, const base::Clock& clock,
                 const std::string& digests, Progress progress)
    : configuration_(configuration),
      files_(files),
      paths_(paths),
      account_(account),
      clock_(clock),
      digests_(digests),
      progress_(std::move(progress)) {}

Result<hadoop::LocalResources> Uploads::put(const std::string& agent_program,
                                            const jobfile::ShippedFiles& shipped,
                                            base::Instant deadline) {
  hadoop::LocalResources resources;
  GANGRUN_ASSIGN(resources[kAgentLink], put_program(agent_program, kAgentLink, deadline));
  GANGRUN_TRY(put_files(shipped.local, deadline, resources));
  for (const jobfile::ClusterFile& file : shipped.there) {
    GANGRUN_ASSIGN(resources[file.name], find_there("files", file.url, deadline));
  }
  return resources;
}

Result<hadoop::LocalResource> Uploads::ensure(const std::string& base,
                                              hadoop::Visibility visibility,
                                              hadoop::Content content, const std::string& shown,
                                              base::Instant deadline) {
  if (content.digest.empty()) {
    GANGRUN_ASSIGN(content.digest, hadoop::digest_of(content.file));
  }
  hadoop::ContentStore store(files_, base, visibility);
  const std::uint64_t size = content.file.length;
  GANGRUN_ASSIGN(const auto found, store.ensure(
                                       content, clock_.wall_now(),
                                       [&](std::uint64_t sent) {
                                         if (progress_) progress_(shown, sent, size);
                                       },
                                       deadline));
  // An upload makes room for itself.
  if (found.uploaded) (void)store.clean(clock_.wall_now(), kCacheAge, deadline);
  return found.resource;
}

Result<hadoop::LocalResource> Uploads::put_own(const std::string& path, const std::string& folder,
                                               const char* link, base::Instant deadline) {
  GANGRUN_ASSIGN(std::string bytes, base::read_file(path, kMaxOwnBytes));
  const base::Secret content(std::move(bytes));
  const std::string to = base::format("{}/{}", folder, link);
  // Not by its contents: such a file would stay for the next job.
  GANGRUN_TRY(files_.create(to, content.reveal(), {.permission = 0600}, deadline));
  GANGRUN_ASSIGN(const hadoop::FileStatus status, files_.status(to, deadline));
  hadoop::LocalResource resource = hadoop::resource_of(files_.file_system(), to, status);
  resource.visibility = hadoop::Visibility::kApplication;
  return resource;
}

Result<hadoop::LocalResource> Uploads::put_program(const std::string& path, const char* name,
                                                   base::Instant deadline) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return base::from_errno(errno, base::format("open {}", path));
  GANGRUN_ASSIGN(const hadoop::Content content, content_of(name, file.get()));
  auto shared =
      ensure(paths_.shared(), hadoop::Visibility::kPublic, content, content.name, deadline);
  if (shared.ok() || shared.error().code != base::Code::kFailedPrecondition) return shared;
  return ensure(paths_.cache(), hadoop::Visibility::kPrivate, content, content.name, deadline);
}

Result<> Uploads::put_files(const std::vector<jobfile::LocalFile>& files, base::Instant deadline,
                            hadoop::LocalResources& resources) {
  const Bundles bundles =
      bundles_of(files, [](const std::string& path) { return bytes_below(path, kOwnBundleBytes); });
  if (!bundles.common.empty()) {
    GANGRUN_ASSIGN(resources[kFilesLink], put_archive(bundles.common, kArchiveName, deadline));
  }
  int folders = 0;
  for (const jobfile::LocalFile& file : bundles.own) {
    std::error_code failed;
    const std::string real = std::filesystem::canonical(file.path, failed).string();
    if (failed) return base::from_errno(failed.value(), base::format("find {}", file.path));
    if (std::filesystem::is_directory(real, failed)) {
      const std::string link = base::format("{}{}", kOwnFolderLink, ++folders);
      GANGRUN_ASSIGN(resources[link], put_archive({file}, file.name, deadline));
    } else {
      GANGRUN_ASSIGN(resources[file.name], put_file(real, file.name, file.name, deadline));
    }
  }
  return {};
}

Result<hadoop::LocalResource> Uploads::put_archive(const std::vector<jobfile::LocalFile>& files,
                                                   const std::string& shown,
                                                   base::Instant deadline) {
  const std::string folder = "/tmp";
  const base::UniqueFd archive(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!archive.valid()) return base::from_errno(errno, base::format("make a file in {}", folder));
  std::vector<hadoop::ArchiveSource> sources;
  for (const jobfile::LocalFile& file : files) sources.push_back({file.name, file.path});
  GANGRUN_TRY(hadoop::write_archive(sources, {}, [&archive](std::string_view bytes) {
    return base::write_all(archive.get(), bytes, "the archive of the job's files");
  }));
  GANGRUN_ASSIGN(const hadoop::Content content, content_of(kArchiveName, archive.get()));
  GANGRUN_ASSIGN(hadoop::LocalResource resource,
                 ensure(paths_.cache(), hadoop::Visibility::kPrivate, content, shown, deadline));
  resource.type = hadoop::LocalResourceType::kArchive;
  return resource;
}

Result<hadoop::LocalResource> Uploads::put_file(const std::string& path, const std::string& stored,
                                                const std::string& shown, base::Instant deadline) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return base::from_errno(errno, base::format("open {}", path));
  GANGRUN_ASSIGN(hadoop::Content content, content_of(stored, file.get()));
  GANGRUN_ASSIGN(content.digest, digests_.digest_of(path, file.get(), clock_.wall_now()));
  return ensure(paths_.cache(), hadoop::Visibility::kPrivate, std::move(content), shown, deadline);
}

Result<std::map<std::string, hadoop::LocalResources>> Uploads::put_archives(
    const std::vector<jobfile::ShippedArchive>& archives, base::Instant deadline) {
  hadoop::LocalResources known;  // by source: types share them
  std::map<std::string, hadoop::LocalResources> resources;
  for (const jobfile::ShippedArchive& archive : archives) {
    if (!known.contains(archive.source)) {
      const bool is_there = jobfile::is_cluster_url(archive.source);
      auto resource =
          is_there ? find_there("archives." + archive.folder, archive.source, deadline)
                   : put_file(archive.source, packed_name(archive.source),
                              archive.source.substr(archive.source.rfind('/') + 1), deadline);
      if (!resource.ok()) return std::move(resource).error();
      resource->type = hadoop::LocalResourceType::kArchive;
      known[archive.source] = *std::move(resource);
    }
    resources[archive.type][archive.folder] = known[archive.source];
  }
  return resources;
}

Result<hadoop::LocalResource> Uploads::find_there(const std::string& key, const std::string& url,
                                                  base::Instant deadline) {
  GANGRUN_ASSIGN(const hadoop::FileSystem system, hadoop::find_file_system(configuration_, url));
  hadoop::WebHdfs files(system, hadoop::web_hdfs_options(account_));
  const std::string path = hadoop::path_of(url);
  const auto status = files.status(path, deadline);
  if (!status.ok()) {
    return base::invalid_argument(base::format("{}: {}", key, status.error().message));
  }
  if (status->is_folder) {
    return base::invalid_argument(
        base::format("{}: {} is a folder; allowed on the cluster's file system: files, and "
                     "archives of folders",
                     key, url));
  }
  return hadoop::resource_of(system, path, *status);
}

}  // namespace gangrun::yarn
