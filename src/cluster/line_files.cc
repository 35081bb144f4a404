#include "cluster/line_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"

namespace gangrun::cluster {

LineLimit line_limit(const job::JobSpec& spec) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(spec.log_limit_mib.value_or(0)) << 20U;
  if (bytes == 0 || bytes > kMaxLineFileBytes) return {};
  return {bytes, base::format("log_limit ({}) is reached", base::size_text(bytes))};
}

std::string lost_lines_words(std::int64_t lost, std::string_view why) {
  return base::format("{} could not be kept: {}", base::count_text(lost, "line"), why);
}

std::optional<std::string> LineFiles::add(const std::string& prefix, bool is_error,
                                          std::string_view line, base::WallTime time) {
  const std::string path = prefix + (is_error ? ".err" : ".out");
  File& file = files_[path];
  if (file.full) {
    ++lost_lines_;
    ++file.lost;
    return std::nullopt;
  }
  std::string text = base::format("{}{}", line, line.ends_with('\r') ? "" : "\n");
  if (file.bytes + text.size() > limit_.bytes) {
    file.full = true;
    ++lost_lines_;
    ++file.lost;
    text = base::format("gangrun: {}; what follows is not kept\n", limit_.reached);
  }
  file.bytes += text.size();
  write(file, path, text, time);
  return file.full ? std::optional(limit_.reached) : std::nullopt;
}

std::optional<std::string> LineFiles::missing(const std::string& prefix) const {
  std::int64_t lost = 0;
  for (const char* ending : {".out", ".err"}) {
    const auto file = files_.find(prefix + ending);
    if (file != files_.end()) lost += file->second.lost;
  }
  if (lost == 0) return std::nullopt;
  return lost_lines_words(lost, limit_.reached);
}

std::optional<std::string> LineFiles::missing() const {
  if (lost_lines_ == 0) return std::nullopt;
  return base::format("{} of the tasks' output could not be kept",
                      base::count_text(lost_lines_, "line"));
}

void LineFiles::write(File& file, const std::string& path, const std::string& text,
                      base::WallTime time) {
  const bool was_open = file.fd.valid();
  base::Result<> written;
  if (!was_open) {
    auto opened = base::open_file(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (opened.ok()) {
      file.fd = *std::move(opened);
    } else {
      written = opened.error();
    }
  }
  if (!file.times) file.times.emplace(path);
  const off_t end = file.fd.valid() ? ::lseek(file.fd.get(), 0, SEEK_END) : -1;
  if (end >= 0) file.times->note(static_cast<std::uint64_t>(end), text, time);
  if (file.fd.valid()) written = base::write_all(file.fd.get(), text, path);
  if (!written.ok()) ++lost_lines_;
  if (!written.ok() && !std::exchange(file.failed, true)) {
    logger_.warning("output is missing: {}", written.error().message);
  }
  if (was_open || !file.fd.valid()) return;
  if (open_ < kMaxOpenLineFiles) {
    ++open_;
  } else {
    file.fd.reset();
  }
}

}  // namespace gangrun::cluster
