#include "yarn/left_journal.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "journal/settled.h"
#include "yarn/journal_copy.h"

namespace gangrun::yarn {

namespace {

using base::Result;

// A folder of this process, which goes with it.
class OwnFolder {
 public:
  static Result<std::unique_ptr<OwnFolder>> make() {
    std::error_code failed;
    std::string path = std::filesystem::temp_directory_path(failed).string();
    if (failed) path = "/tmp";
    path += "/gangrun-journal-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return base::from_errno(errno, "make the folder " + path);
    }
    return std::make_unique<OwnFolder>(path);
  }
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace

Result<std::optional<job::JobStatus>> read_left_journal(hadoop::WebHdfs& files,
                                                        const std::string& folder,
                                                        const base::Clock& clock,
                                                        base::Instant deadline) {
  GANGRUN_ASSIGN(const auto copy, OwnFolder::make());
  GANGRUN_TRY(fetch_journal(files, folder, copy->path(), deadline));
  return journal::left_behind(copy->path(), clock.now(), clock.wall_now());
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
