#include "agents/output_store.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "cluster/disk_room.h"
#include "cluster/task_files.h"

namespace gangrun::agents {

namespace {

constexpr mode_t kFolderMode = 0755;

base::Error out_of_order(std::int64_t came, std::int64_t awaited) {
  return {base::Code::kFailedPrecondition,
          base::format("part {} of the outputs came in place of part {}", came, awaited)};
}

std::string words_of_both(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : base::format("{}; {}", one, other);
}

}  // namespace

void OutputStore::ask(const job::TaskId& task, std::optional<int> run,
                      const wire::AskMessage& question) {
  wire::AnswerMessage answer{.id = question.id, .said = {}, .refused = {}};
  const auto part = base::from_json<wire::OutputsPart>(question.about);
  const auto kept =
      part.ok() ? take(task, run, *part) : base::Result<wire::OutputsKept>(part.error());
  if (kept.ok()) {
    answer.said = base::to_json(*kept);
  } else {
    answer.refused = kept.error().message;
  }
  answer_(task, std::move(answer));
}

base::Result<wire::OutputsKept> OutputStore::take(const job::TaskId& task, std::optional<int> run,
                                                  const wire::OutputsPart& part) {
  if (folder_.empty()) return base::invalid_argument("the master of this job keeps no outputs");
  if (run != part.attempt) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("run {} of the task is not its last one", part.attempt)};
  }
  GANGRUN_ASSIGN(Growing* const growing, begun(task, part));
  ++growing->next;
  for (const wire::OutputPiece& piece : part.pieces) {
    const auto written = write(*growing->files, piece);
    if (written.ok()) continue;
    growing_.erase(task);
    on_over_(task, written.error().message);
    return written.error();
  }
  if (!part.is_last) return wire::OutputsKept{};
  growing->files->drop();
  wire::OutputsKept kept{words_of_both(part.lost, growing->files->skipped_words())};
  growing_.erase(task);
  on_over_(task, kept.lost);
  return kept;
}

// Parts come in order; the first one of a session begins again.
base::Result<OutputStore::Growing*> OutputStore::begun(const job::TaskId& task,
                                                       const wire::OutputsPart& part) {
  if (part.number > 0) {
    const auto found = growing_.find(task);
    if (found == growing_.end() || found->second.attempt != part.attempt) {
      return out_of_order(part.number, 0);
    }
    if (found->second.next != part.number) return out_of_order(part.number, found->second.next);
    return &found->second;
  }
  const std::string folder = base::format("{}/{}", folder_, cluster::result_name(task));
  growing_.erase(task);
  std::error_code failed;
  std::filesystem::remove_all(folder, failed);
  if (failed) return base::from_errno(failed.value(), base::format("remove {}", folder));
  GANGRUN_TRY(base::make_folders(folder, kFolderMode));
  Growing& growing = growing_[task];
  growing = {part.attempt, 0, std::make_unique<cluster::BroughtFiles>(folder, limit_)};
  return &growing;
}

base::Result<> OutputStore::write(cluster::BroughtFiles& files, const wire::OutputPiece& piece) {
  if (!piece.name.empty()) {
    // One that has become shorter while it was sent does not stop the others.
    files.drop();
    GANGRUN_TRY(check_room(piece.size));
    GANGRUN_TRY(files.begin({.name = piece.name,
                             .size = static_cast<std::uint64_t>(piece.size),
                             .is_executable = piece.is_executable,
                             .target = piece.target,
                             .is_folder = piece.is_folder}));
  }
  if (piece.bytes.empty()) return {};
  return files.add(piece.bytes);
}

base::Result<> OutputStore::check_room(std::int64_t bytes) const {
  GANGRUN_ASSIGN(const cluster::DiskRoom room, cluster::disk_room(folder_));
  const std::uint64_t kept = cluster::kept_free(room);
  if (room.free >= kept && room.free - kept >= static_cast<std::uint64_t>(bytes)) return {};
  return base::Error{base::Code::kResourceExhausted,
                     base::format("{} more leave less than {} free on the disk of {}",
                                  base::size_text(static_cast<std::uint64_t>(bytes)),
                                  base::size_text(kept), folder_)};
}

}  // namespace gangrun::agents
