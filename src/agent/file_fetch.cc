#include "agent/file_fetch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/strings.h"

namespace gangrun::agent {

namespace {

// No task runs in the folder while it is there.
constexpr const char* kPartName = ".gangrun-part";
constexpr mode_t kFileMode = 0444;
constexpr mode_t kProgramMode = 0555;
constexpr mode_t kFolderMode = 0755;

bool stays_inside(const std::string& name) {
  const std::vector<std::string> steps = base::split(name, '/');
  return std::ranges::none_of(
      steps, [](const std::string& step) { return step.empty() || step == "." || step == ".."; });
}

base::Error wrong(const std::string& name, std::string_view what) {
  return {base::Code::kFailedPrecondition, base::format("{} {}", name, what)};
}

}  // namespace

FileFetch::FileFetch(net::EventLoop& loop, std::string folder, wire::QuestionNumbers& numbers,
                     std::function<void(const wire::AskMessage&)> ask, Done done)
    : loop_(loop),
      folder_(std::move(folder)),
      numbers_(numbers),
      ask_(std::move(ask)),
      done_(std::move(done)) {}

std::string FileFetch::part_path() const { return base::format("{}/{}", folder_, kPartName); }

// Another master has to know that all is there.
void FileFetch::on_attached() {
  if (!done_ && !has_all_) return;
  part_size_.begin();
  ask();
}

void FileFetch::ask() {
  const wire::FilesWanted wanted{.file = whole_,
                                 .offset = coming_ ? coming_->came : 0,
                                 .room = part_size_.bytes(),
                                 .failed = failure_ ? failure_->message : std::string()};
  asked_ = numbers_.next();
  asked_at_ = loop_.now();
  if (done_) limit_answer();
  ask_({.id = asked_,
        .kind = std::string(wire::kFilesKind),
        .about = base::to_json(wanted),
        .limit = kResultPartTimeout});
}

void FileFetch::limit_answer() {
  limit_ = loop_.after(kResultPartTimeout, [this] {
    over(failure_.value_or(
        base::deadline_exceeded(base::format("the master sent no more of the job's files within {}",
                                             base::to_words(kResultPartTimeout)))));
  });
}

void FileFetch::on_answer(const wire::AnswerMessage& answer) {
  if (!done_ || answer.id != asked_) return;
  if (failure_) return over(*failure_);
  if (!answer.refused.empty()) return over(wrong("the job's files:", answer.refused));
  const auto part = base::from_json<wire::FilesPart>(answer.said);
  if (!part.ok()) return fail(part.error());
  if (part->pieces.empty()) return over({});
  const auto taken = take(*part);
  if (!taken.ok()) return fail(taken.error());
  part_size_.answered(loop_.now() - asked_at_);
  ask();
}

base::Result<> FileFetch::take(const wire::FilesPart& part) {
  const auto before = std::pair(whole_, coming_ ? coming_->came : 0);
  for (const wire::FilePiece& piece : part.pieces) {
    if (!piece.name.empty()) GANGRUN_TRY(begin(piece));
    if (!coming_) return wrong("a file", "came without its name");
    GANGRUN_TRY(add(piece.bytes));
    if (coming_->came == coming_->size) GANGRUN_TRY(finish());
  }
  if (before == std::pair(whole_, coming_ ? coming_->came : 0)) {
    return wrong("the master", "sends no more of the job's files");
  }
  return {};
}

base::Result<> FileFetch::begin(const wire::FilePiece& piece) {
  if (coming_ && coming_->came > 0) return wrong(coming_->name, "did not come whole");
  if (!stays_inside(piece.name)) return wrong(piece.name, "cannot be the name of a file");
  GANGRUN_ASSIGN(auto file, base::open_file(part_path(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
                                            S_IRUSR | S_IWUSR));
  coming_ = std::make_unique<Coming>();
  coming_->name = piece.name;
  coming_->size = piece.size;
  coming_->is_executable = piece.is_executable;
  coming_->digest = piece.digest;
  coming_->file = std::move(file);
  return {};
}

base::Result<> FileFetch::add(const std::string& bytes) {
  coming_->came += static_cast<std::int64_t>(bytes.size());
  if (coming_->came > coming_->size) return wrong(coming_->name, "has more bytes than it had");
  coming_->sum.put(bytes);
  return base::write_all(coming_->file.get(), bytes,
                         base::format("{} to {}", coming_->name, folder_));
}

base::Result<> FileFetch::finish() {
  if (base::to_hex(coming_->sum.finish()) != coming_->digest) {
    return wrong(coming_->name, "came with other bytes than it had when the job was started");
  }
  const std::string path = base::format("{}/{}", folder_, coming_->name);
  GANGRUN_TRY(base::make_folders(std::filesystem::path(path).parent_path().string(), kFolderMode));
  const mode_t mode = coming_->is_executable ? kProgramMode : kFileMode;
  if (::fchmod(coming_->file.get(), mode) != 0 ||
      std::rename(part_path().c_str(), path.c_str()) != 0) {
    return base::from_errno(errno, base::format("write {}", path));
  }
  coming_.reset();
  ++whole_;
  return {};
}

// The master makes it the reason of the task's end.
void FileFetch::fail(const base::Error& error) {
  failure_ = error;
  ask();
}

void FileFetch::over(base::Result<> how) {
  limit_.reset();
  coming_.reset();
  has_all_ = how.ok();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(how));
}

}  // namespace gangrun::agent
