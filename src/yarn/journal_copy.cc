#include "yarn/journal_copy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "journal/segments.h"
#include "journal/settled.h"
#include "yarn/job_access.h"

namespace gangrun::yarn {

namespace {

using base::Result;

Result<std::string> make_own_folder() {
  std::error_code failed;
  std::string path = std::filesystem::temp_directory_path(failed).string();
  if (failed) path = "/tmp";
  path += "/gangrun-journal-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return base::from_errno(errno, "make the folder " + path);
  return path;
}

std::string part_name(int segment, int part) { return base::format("{:06}.{:05}", segment, part); }

Result<std::string> read_part(const std::string& path, std::uint64_t from, std::uint64_t to) {
  GANGRUN_ASSIGN(const base::UniqueFd file, base::open_file(path, O_RDONLY));
  GANGRUN_ASSIGN(std::string bytes, base::read_at(file.get(), static_cast<std::int64_t>(from),
                                                  to - from, base::format("read {}", path)));
  if (bytes.size() < to - from) {
    return base::Error{base::Code::kDataLoss, base::format("{} has become shorter", path)};
  }
  return bytes;
}

}  // namespace

Result<std::optional<job::JobStatus>> read_left_journal(hadoop::WebHdfs& files,
                                                        const std::string& folder,
                                                        const base::Clock& clock,
                                                        base::Instant deadline) {
  GANGRUN_ASSIGN(const std::string copy, make_own_folder());
  const Result<> fetched = fetch_journal(files, folder, copy, deadline);
  Result<std::optional<job::JobStatus>> left = std::nullopt;
  if (fetched.ok()) left = journal::left_behind(copy, clock.now(), clock.wall_now());
  std::error_code ignored;
  std::filesystem::remove_all(copy, ignored);
  return fetched.ok() ? std::move(left) : fetched.error();
}

JournalCopy::JournalCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files,
                         Options options)
    : loop_(loop),
      logger_(logger),
      files_(std::make_shared<hadoop::WebHdfs>(std::move(files))),
      options_(std::move(options)),
      worker_(loop, 1) {}

std::uint64_t JournalCopy::recorded() const {
  struct stat info {};
  if (::stat(options_.segment_path.c_str(), &info) != 0) return stored_;
  return static_cast<std::uint64_t>(info.st_size);
}

void JournalCopy::copy(std::function<void()> done) {
  waiters_.push_back({recorded(), std::move(done)});
  work();
}

void JournalCopy::work() {
  if (busy_ || waiters_.empty() || timer_.pending()) return;
  const std::uint64_t end = std::min<std::uint64_t>(recorded(), stored_ + kMaxPartBytes);
  if (given_up_ || end <= stored_) {
    loop_.post([this] { release(); });
    return;
  }
  busy_ = true;
  const auto submitted = worker_.run(
      [files = files_, from = stored_, end, local = options_.segment_path,
       path = base::format("{}/{}", options_.folder,
                           part_name(options_.segment, next_part_))]() -> Result<> {
        GANGRUN_ASSIGN(const std::string bytes, read_part(local, from, end));
        // A try before may have come through without our knowing.
        return files->replace(path, bytes, kOwnFile,
                              std::chrono::steady_clock::now() + kPartTimeout);
      },
      [this, end](const Result<>& stored) { on_part(end, stored); });
  if (!submitted.ok()) on_part(end, submitted.error());
}

void JournalCopy::on_part(std::uint64_t end, const Result<>& stored) {
  busy_ = false;
  const base::Instant now = loop_.now();
  if (stored.ok()) {
    stored_ = end;
    ++next_part_;
    if (failing_since_) logger_.info("the journal can be copied again");
    failing_since_.reset();
    trouble_.clear();
    release();
    return work();
  }
  if (given_up_) return release();
  trouble_ = base::format(
      "room for the journal on the cluster's file system, before which nothing new is started: {}",
      stored.error().message);
  if (!failing_since_) {
    failing_since_ = now;
    logger_.warning(
        "the journal cannot be copied to the cluster's file system, nothing new is started until "
        "it can: {}",
        stored.error().message);
  }
  const std::chrono::seconds limit = hurried_ ? kLastCopyTimeout : kCopyTimeout;
  if (now - *failing_since_ > limit) {
    return give_up(base::format("after {}", base::to_words(limit)));
  }
  timer_ = loop_.after(kPartPause, [this] { work(); });
}

void JournalCopy::give_up(const std::string& why) {
  given_up_ = true;
  trouble_.clear();
  timer_.reset();
  logger_.error("the journal is no longer copied {}; a new master could not take over", why);
  if (!busy_) release();
}

void JournalCopy::release() {
  while (!waiters_.empty() && (given_up_ || waiters_.front().bytes <= stored_)) {
    const auto done = std::move(waiters_.front().done);
    waiters_.pop_front();
    done();
  }
}

bool may_pass(const base::Error& error) {
  switch (error.code) {
    case base::Code::kUnauthenticated:
    case base::Code::kPermissionDenied:
    case base::Code::kInvalidArgument:
    case base::Code::kDataLoss:
    case base::Code::kResourceExhausted: return false;
    default: return true;
  }
}

Result<> fetch_journal(hadoop::WebHdfs& files, const std::string& from, const std::string& to,
                       base::Instant deadline) {
  const auto listed = files.list(from, deadline);
  if (!listed.ok() && listed.error().code == base::Code::kNotFound) return {};
  if (!listed.ok()) return listed.error();
  std::map<int, std::map<int, std::string>> parts;  // names by segment and part
  for (const hadoop::FileStatus& file : *listed) {
    const auto names = base::split(file.name, '.');
    if (names.size() != 2) continue;
    const auto segment = base::parse_integer(names[0]);
    const auto part = base::parse_integer(names[1]);
    if (!segment || !part) continue;
    parts[static_cast<int>(*segment)][static_cast<int>(*part)] = file.name;
  }
  for (const auto& [segment, names] : parts) {
    std::string text;
    int expected = 1;
    for (const auto& [part, name] : names) {
      if (part != expected++) {
        return base::Error{base::Code::kDataLoss, base::format("{}/{} is missing", from,
                                                               part_name(segment, expected - 1))};
      }
      GANGRUN_ASSIGN(const std::string bytes,
                     files.read(base::format("{}/{}", from, name), kMaxPartBytes, deadline));
      text += bytes;
      if (text.size() > kMaxCopiedBytes) {
        return base::Error{base::Code::kResourceExhausted,
                           base::format("the journal in {} is too long", from)};
      }
    }
    GANGRUN_TRY(base::write_file_atomically(journal::segment_path(to, segment), text, 0600));
  }
  return {};
}

}  // namespace gangrun::yarn
