#include "yarn/left_journal.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "journal/settled.h"
#include "yarn/journal_copy.h"

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

job::JobStatus status_without_master(job::JobStatus by_yarn,
                                     std::optional<job::JobStatus> by_journal) {
  if (!by_journal) {
    // Then it is as good as one that was never started.
    if (by_yarn.state == job::JobState::kLost) by_yarn.state = job::JobState::kFailed;
    by_yarn.has_run = false;
    return by_yarn;
  }
  job::JobStatus status = *std::move(by_journal);
  if (job::is_final(status.state)) return status;
  const bool is_lost = by_yarn.state == job::JobState::kLost && status.has_run.value_or(true);
  status.state = by_yarn.state == job::JobState::kLost ? job::JobState::kFailed : by_yarn.state;
  if (is_lost) status.state = job::JobState::kLost;
  status.cause = std::move(by_yarn.cause);
  status.ended = std::move(by_yarn.ended);
  status.elapsed_ms = by_yarn.elapsed_ms;
  return status;
}

}  // namespace gangrun::yarn
