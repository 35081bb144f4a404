#include "agents/result_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "cluster/task_files.h"

namespace gangrun::agents {

namespace {

constexpr mode_t kOwnFolder = 0700;
constexpr mode_t kOwnFile = 0600;
constexpr std::string_view kUnfinished = ".part";

}  // namespace

std::string ResultStore::path_of(const job::TaskId& task) const {
  return base::format("{}/{}", folder_, cluster::result_name(task));
}

void ResultStore::ask(const job::TaskId& task, std::optional<int> run,
                      const wire::AskMessage& question) {
  const auto refuse = [&](std::string why) {
    answer_(task, {.id = question.id, .said = {}, .refused = std::move(why)});
  };
  const auto part = base::from_json<wire::ResultPart>(question.about);
  if (!part.ok()) return refuse(part.error().message);
  if (run != part->attempt) {
    return refuse(base::format("run {} of the task does not go on", part->attempt));
  }
  const std::int64_t end = part->offset + static_cast<std::int64_t>(part->bytes.size());
  add(task, *part, [this, task, id = question.id, end](const base::Result<>& done) {
    wire::AnswerMessage answer{.id = id, .said = {}, .refused = {}};
    if (done.ok()) {
      answer.said = base::to_json(wire::ResultKept{end});
    } else {
      answer.refused = done.error().message;
    }
    answer_(task, std::move(answer));
  });
}

void ResultStore::add(const job::TaskId& task, const wire::ResultPart& part,
                      const std::function<void(base::Result<>)>& tell) {
  if (auto written = write(task, part); !written.ok()) {
    growing_.erase(task);
    (void)::unlink((path_of(task) + std::string(kUnfinished)).c_str());
    return tell(std::move(written));
  }
  if (growing_[task].size < part.size) return tell({});
  auto finished = finish(task);
  if (!finished.ok() || far_ == nullptr) return tell(std::move(finished));
  const std::string path = path_of(task);
  far_->keep(cluster::result_name(task), path, [path, tell](base::Result<> done) {
    (void)::unlink(path.c_str());
    tell(std::move(done));
  });
}

// Parts come in order; the first one of a session begins again.
base::Result<> ResultStore::write(const job::TaskId& task, const wire::ResultPart& part) {
  Growing& growing = growing_[task];
  if (part.offset == 0) {
    GANGRUN_TRY(base::make_folders(folder_, kOwnFolder));
    const std::string path = path_of(task) + std::string(kUnfinished);
    growing = {part.attempt, {}, 0};
    GANGRUN_ASSIGN(growing.file, base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, kOwnFile));
  }
  if (part.attempt != growing.attempt || part.offset != growing.size) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("byte {} of the result came after byte {}", part.offset, growing.size)};
  }
  GANGRUN_TRY(base::write_all(growing.file.get(), part.bytes, "the result"));
  growing.size += static_cast<std::int64_t>(part.bytes.size());
  return {};
}

base::Result<> ResultStore::finish(const job::TaskId& task) {
  growing_.erase(task);
  const std::string path = path_of(task);
  const std::string unfinished = path + std::string(kUnfinished);
  if (std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  return base::from_errno(errno, base::format("rename {}", unfinished));
}

void ResultStore::forget(const job::TaskId& task) {
  growing_.erase(task);
  (void)::unlink(path_of(task).c_str());
  if (far_ != nullptr) far_->remove(cluster::result_name(task));
}

}  // namespace gangrun::agents
