#include "hadoop/content_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"
#include "base/hex.h"
#include "base/letters.h"
#include "base/strings.h"
#include "net/digests.h"

namespace gangrun::hadoop {

namespace {

constexpr std::size_t kReadBytes = std::size_t{256} * 1024;
constexpr std::size_t kDigestDigits = 64;
constexpr std::uint32_t kEnterByOthers = 01;
constexpr std::uint32_t kReadByOthers = 04;
constexpr std::size_t kSuffixBytes = 8;
constexpr std::string_view kUsed = ".used";
constexpr std::string_view kUnfinished = ".uploading-";

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && std::ranges::all_of(text, base::is_small_hex_digit);
}

std::int64_t milliseconds_of(base::WallTime time) {
  return std::chrono::duration_cast<base::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

LocalResource resource_of(const FileSystem& file_system, const std::string& path,
                          const FileStatus& status) {
  return {.scheme = file_system.scheme,
          .host = file_system.host,
          .port = file_system.port,
          .path = path,
          .size = static_cast<std::int64_t>(status.length),
          .timestamp = status.modification_time};
}

base::Result<std::string> digest_of(const net::FileSlice& file) {
  net::Sha256Stream digest;
  std::string buffer(kReadBytes, '\0');
  std::uint64_t done = 0;
  while (done < file.length) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), file.length - done);
    const ssize_t size =
        ::pread(file.fd, buffer.data(), wanted, static_cast<off_t>(file.offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return base::from_errno(errno, "read a file to take its digest");
    if (size == 0) {
      return base::Error{base::Code::kFailedPrecondition,
                         "a file became shorter while its digest was taken"};
    }
    digest.put({buffer.data(), static_cast<std::size_t>(size)});
    done += static_cast<std::uint64_t>(size);
  }
  return base::to_hex(digest.finish());
}

ContentStore::ContentStore(WebHdfs& hdfs, std::string base, Visibility visibility)
    : hdfs_(hdfs), base_(std::move(base)), visibility_(visibility) {}

base::Result<std::optional<FileStatus>> ContentStore::look(const std::string& path,
                                                           base::Instant deadline) {
  auto status = hdfs_.status(path, deadline);
  if (status.ok()) return std::optional<FileStatus>(std::move(*status));
  if (status.error().code == base::Code::kNotFound) return std::optional<FileStatus>();
  return std::move(status).error();
}

base::Result<ContentStore::Found> ContentStore::ensure(
    const Content& content, base::WallTime now, const std::function<void(std::uint64_t)>& progress,
    base::Instant deadline) {
  if (!is_digest(content.digest)) {
    return base::invalid_argument(base::format("\"{}\" is not a SHA-256", content.digest));
  }
  const std::string folder = base_ + "/" + content.digest;
  const std::string path = folder + "/" + content.name;
  GANGRUN_TRY(check_path(path));
  if (content.name.empty() || content.name.find('/') != std::string::npos ||
      content.name.starts_with('.')) {
    return base::invalid_argument(base::format("\"{}\" cannot be a content's name", content.name));
  }
  bool uploaded = false;
  const auto fits = [&](const std::optional<FileStatus>& status) {
    return status && !status->is_folder && status->length == content.file.length &&
           (!is_public() || (status->permission & kReadByOthers) != 0);
  };
  GANGRUN_ASSIGN(std::optional<FileStatus> status, look(path, deadline));
  if (!fits(status)) {
    if (status) GANGRUN_TRY(hdfs_.remove(path, true, deadline));
    GANGRUN_TRY(upload(content, folder, progress, deadline));
    uploaded = true;
    GANGRUN_ASSIGN(status, look(path, deadline));
    if (!fits(status)) {
      return base::unavailable(
          base::format("{} is not as it was uploaded: somebody else changes it", path));
    }
  }
  if (is_public()) GANGRUN_TRY(check_parents(deadline));
  mark_used(folder, now, deadline);
  Found found{resource_of(hdfs_.file_system(), path, *status), uploaded};
  found.resource.visibility = visibility_;
  return found;
}

base::Result<> ContentStore::upload(const Content& content, const std::string& folder,
                                    const std::function<void(std::uint64_t)>& progress,
                                    base::Instant deadline) {
  GANGRUN_TRY(hdfs_.make_folders(folder, is_public() ? 0755 : 0700, deadline));
  if (is_public()) GANGRUN_TRY(check_parents(deadline));
  // Nobody sees the name before all is there. Two who upload the same do not meet.
  const std::string temporary =
      base::format("{}/{}{}", folder, kUnfinished, base::to_hex(net::random_bytes(kSuffixBytes)));
  auto sent = hdfs_.create_from(temporary, content.file,
                                {.permission = is_public() ? 0644U : 0600U}, progress, deadline);
  if (sent.ok()) sent = hdfs_.rename(temporary, folder + "/" + content.name, deadline);
  if (sent.ok()) return {};
  (void)hdfs_.remove(temporary, false, deadline);                  // else the next cleaning does it
  if (sent.error().code == base::Code::kAlreadyExists) return {};  // another one was faster
  return std::move(sent).error().context("uploading " + content.name);
}

// The mark is for cleaning only: where it cannot be made, the content is uploaded again one day.
void ContentStore::mark_used(const std::string& folder, base::WallTime now,
                             base::Instant deadline) {
  const std::string mark = base::format("{}/{}", folder, kUsed);
  auto set = hdfs_.set_modification_time(mark, milliseconds_of(now), deadline);
  if (set.ok() || set.error().code != base::Code::kNotFound) return;
  set = hdfs_.create(mark, {}, {.permission = 0600}, deadline);
  if (set.ok()) set = hdfs_.set_modification_time(mark, milliseconds_of(now), deadline);
}

base::Result<> ContentStore::check_parents(base::Instant deadline) {
  if (parents_checked_) return {};
  std::string path;
  for (const std::string& part : base::split(base_, '/')) {
    if (!part.empty()) path += "/" + part;
    const std::string& folder = path.empty() ? "/" : path;
    GANGRUN_ASSIGN(const FileStatus status, hdfs_.status(folder, deadline));
    if ((status.permission & kEnterByOthers) == 0) {
      return base::Error{
          base::Code::kFailedPrecondition,
          base::format("{} cannot be public: {} may not be entered by everybody (it is {:04o})",
                       base_, folder, status.permission)};
    }
  }
  parents_checked_ = true;
  return {};
}

base::Result<int> ContentStore::clean(base::WallTime now, std::chrono::seconds max_age,
                                      base::Instant deadline) {
  const std::int64_t limit = milliseconds_of(now - max_age);
  auto folders = hdfs_.list(base_, deadline);
  if (!folders.ok() && folders.error().code == base::Code::kNotFound) return 0;
  if (!folders.ok()) return std::move(folders).error();
  int removed = 0;
  for (const FileStatus& folder : *folders) {
    if (!folder.is_folder || !is_digest(folder.name)) continue;  // not ours
    GANGRUN_ASSIGN(const bool gone, clean_folder(folder, limit, deadline));
    removed += gone ? 1 : 0;
  }
  return removed;
}

base::Result<bool> ContentStore::clean_folder(const FileStatus& folder, std::int64_t limit,
                                              base::Instant deadline) {
  const std::string path = base_ + "/" + folder.name;
  auto files = hdfs_.list(path, deadline);
  if (!files.ok() && files.error().code == base::Code::kNotFound) return false;  // another cleaner
  if (!files.ok()) return std::move(files).error();
  std::int64_t used = 0;
  for (const FileStatus& file : *files) {
    if (file.name == kUsed) used = file.modification_time;
  }
  // Without the mark it is new, or somebody has died: the folder's own time tells.
  if (used == 0) used = folder.modification_time;
  if (used < limit) return hdfs_.remove(path, true, deadline);
  for (const FileStatus& file : *files) {
    if (file.name.starts_with(kUnfinished) && file.modification_time < limit) {
      GANGRUN_TRY(hdfs_.remove(path + "/" + file.name, false, deadline));
    }
  }
  return false;
}

}  // namespace gangrun::hadoop
