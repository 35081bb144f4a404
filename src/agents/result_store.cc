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

void ResultStore::add(const registry::ResultPart& part, const Answer& answer) {
  const auto end = part.offset + static_cast<std::int64_t>(part.bytes.size());
  const auto tell = [answer, attempt = part.attempt, end](const base::Result<>& done) {
    answer({.attempt = attempt,
            .kept = done.ok() ? end : 0,
            .refused = done.ok() ? std::string() : done.error().message});
  };
  if (const auto written = write(part); !written.ok()) {
    growing_.erase(part.task);
    (void)::unlink((path_of(part.task) + std::string(kUnfinished)).c_str());
    return tell(written);
  }
  if (end < part.size) return tell({});
  const auto finished = finish(part);
  if (!finished.ok() || far_ == nullptr) return tell(finished);
  const std::string path = path_of(part.task);
  far_->keep(cluster::result_name(part.task), path, [path, tell](const base::Result<>& done) {
    (void)::unlink(path.c_str());
    tell(done);
  });
}

// Parts come in order; the first one of a session begins again.
base::Result<> ResultStore::write(const registry::ResultPart& part) {
  Growing& growing = growing_[part.task];
  if (part.offset == 0) {
    GANGRUN_TRY(base::make_folders(folder_, kOwnFolder));
    const std::string path = path_of(part.task) + std::string(kUnfinished);
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

base::Result<> ResultStore::finish(const registry::ResultPart& part) {
  growing_.erase(part.task);
  const std::string path = path_of(part.task);
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
