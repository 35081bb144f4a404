#include "agents/file_source.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::agents {

namespace {

constexpr int kReaders = 2;
// All parts that are under way together have about so many bytes, and each agent's part at least so
// many.
constexpr std::int64_t kMaxBytesUnderWay = std::int64_t{64} << 20U;
constexpr std::int64_t kLeastShare = std::int64_t{8} << 10U;

// A piece counts for so much beside its bytes, which have two digits each; a byte of a name may
// have six.
std::int64_t cost_of_name(const std::string& name) {
  constexpr std::size_t kOwnBytes = 200;
  return static_cast<std::int64_t>(kOwnBytes + 3 * name.size());
}

}  // namespace

base::Result<wire::FilesPart> files_part(const cluster::FetchedFiles& files,
                                         const wire::FilesWanted& wanted) {
  wire::FilesPart part;
  std::int64_t room = wanted.room;
  auto offset = static_cast<std::uint64_t>(wanted.offset);
  for (auto next = static_cast<std::size_t>(wanted.file); next < files.size(); ++next) {
    const cluster::FetchedFile& file = files[next];
    wire::FilePiece piece;
    if (offset == 0) {
      piece = {.name = file.name,
               .size = static_cast<std::int64_t>(file.size),
               .is_executable = file.is_executable,
               .digest = file.digest};
      room -= cost_of_name(file.name);
    }
    // The first piece always brings the agent on.
    if (part.pieces.empty()) room = std::max<std::int64_t>(room, 1);
    if (room <= 0 || part.pieces.size() == wire::kMaxOutputPieces) break;
    const auto length = static_cast<std::size_t>(
        std::min<std::uint64_t>(file.size - offset, static_cast<std::uint64_t>(room)));
    GANGRUN_ASSIGN(piece.bytes, cluster::read_part(file, offset, length));
    room -= static_cast<std::int64_t>(length);
    offset += length;
    part.pieces.push_back(std::move(piece));
    if (offset < file.size) break;
    offset = 0;
  }
  return part;
}

FileSource::FileSource(net::EventLoop& loop, std::shared_ptr<const cluster::FetchedFiles> files,
                       base::Duration told_every, Callbacks callbacks)
    : loop_(loop),
      files_(std::move(files)),
      told_every_(told_every),
      callbacks_(std::move(callbacks)),
      readers_(loop, kReaders) {
  before_.push_back(0);
  if (!files_) return;
  for (const cluster::FetchedFile& file : *files_) before_.push_back(before_.back() + file.size);
}

void FileSource::ask(const job::TaskId& task, const wire::AskMessage& question) {
  auto wanted = base::from_json<wire::FilesWanted>(question.about);
  Asked asked{task, question.id, wanted.value_or(wire::FilesWanted{})};
  const base::Result<> valid = wanted.ok() ? check(*wanted) : wanted.error();
  if (!valid.ok()) return answer(asked, valid.error());
  if (!asked.wanted.failed.empty()) {
    fail(task, asked.wanted.failed);
    return answer(asked, wire::FilesPart{});
  }
  const auto whole = static_cast<std::size_t>(asked.wanted.file);
  if (whole == files_->size()) {
    fetching_.erase(task);
    answer(asked, wire::FilesPart{});
    if (complete_.insert(task).second) callbacks_.on_complete(task);
    return;
  }
  note(task, before_[whole] + static_cast<std::uint64_t>(asked.wanted.offset));
  const std::int64_t share = kMaxBytesUnderWay / static_cast<std::int64_t>(fetching_.size());
  asked.wanted.room = std::min(asked.wanted.room, std::max(share, kLeastShare));
  waiting_.push_back(std::move(asked));
  serve();
}

base::Result<> FileSource::check(const wire::FilesWanted& wanted) const {
  if (!files_) return base::not_found("this job has no files for its agents");
  const auto whole = static_cast<std::uint64_t>(wanted.file);
  const auto offset = static_cast<std::uint64_t>(wanted.offset);
  const bool is_there =
      whole < files_->size() ? offset <= (*files_)[whole].size : whole == files_->size() && !offset;
  if (is_there) return {};
  return base::invalid_argument(
      base::format("the files of this job have no byte {} of file {}", offset, whole));
}

void FileSource::note(const job::TaskId& task, std::uint64_t bytes) {
  const auto [entry, is_new] = fetching_.try_emplace(task);
  Fetching& fetching = entry->second;
  const bool has_more = is_new || bytes > fetching.bytes;
  fetching.bytes = bytes;
  if (!has_more || (fetching.told_at && loop_.now() < *fetching.told_at + told_every_)) return;
  fetching.told_at = loop_.now();
  callbacks_.on_progress(task);
}

void FileSource::serve() {
  while (reading_ < kReaders && !waiting_.empty()) {
    const Asked asked = std::move(waiting_.front());
    waiting_.pop_front();
    const auto begun =
        readers_.run([files = files_, wanted = asked.wanted] { return files_part(*files, wanted); },
                     [this, asked](const base::Result<wire::FilesPart>& part) {
                       --reading_;
                       if (!part.ok()) fail(asked.task, part.error().message);
                       answer(asked, part);
                       serve();
                     });
    if (begun.ok()) {
      ++reading_;
    } else {
      answer(asked, begun.error());
    }
  }
}

void FileSource::answer(const Asked& asked, const base::Result<wire::FilesPart>& part) {
  wire::AnswerMessage message{.id = asked.question, .said = {}, .refused = {}};
  if (part.ok()) {
    message.said = base::to_json(*part);
  } else {
    message.refused = part.error().message;
  }
  callbacks_.answer(asked.task, std::move(message));
}

void FileSource::fail(const job::TaskId& task, const std::string& why) {
  fetching_.erase(task);
  callbacks_.on_failed(task, why);
}

void FileSource::forget(const job::TaskId& task) {
  fetching_.erase(task);
  complete_.erase(task);
  std::erase_if(waiting_, [&task](const Asked& asked) { return asked.task == task; });
}

std::string FileSource::words() const {
  if (fetching_.empty()) return {};
  std::uint64_t bytes = 0;
  for (const auto& [task, fetching] : fetching_) bytes += fetching.bytes;
  const std::uint64_t all = std::max<std::uint64_t>(before_.back() * fetching_.size(), 1);
  const auto count = [](std::size_t number, std::string_view noun) {
    return base::count_text(static_cast<std::int64_t>(number), noun);
  };
  return base::format("sending {} to {}, {} %",
                      files_->size() == 1 ? files_->front().name : count(files_->size(), "file"),
                      fetching_.size() == 1 ? job::to_string(fetching_.begin()->first)
                                            : count(fetching_.size(), "task"),
                      bytes * 100 / all);
}

}  // namespace gangrun::agents
