#include "agent/figures_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"

namespace gangrun::agent {

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

void FiguresFile::begin_run() {
  base::remove_if_there(path_);
  forget();
}

base::Result<std::optional<job::Figures>> FiguresFile::changed() {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {std::nullopt};
  const Seen now{info.st_ino, info.st_size,
                 info.st_mtim.tv_sec * kNanosecondsPerSecond + info.st_mtim.tv_nsec};
  if (now == seen_) return {std::nullopt};
  seen_ = now;
  GANGRUN_ASSIGN(const std::string text, base::read_file(path_, job::kMaxFiguresBytes));
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, job::kMaxFiguresBytes));
  GANGRUN_ASSIGN(job::Figures figures, job::figures_from_json(json));
  return {std::move(figures)};
}

}  // namespace gangrun::agent
