#include "cluster/line_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cluster {

void LineFiles::add(const std::string& prefix, bool is_error, std::string_view line,
                    base::WallTime time) {
  const std::string path = prefix + (is_error ? ".err" : ".out");
  File& file = files_[path];
  if (file.full) {
    ++lost_lines_;
    return;
  }
  std::string text = base::format("{}{}", line, line.ends_with('\r') ? "" : "\n");
  if (file.bytes + text.size() > max_bytes_) {
    file.full = true;
    ++lost_lines_;
    text = base::format("gangrun: more than {} bytes of output are not kept\n", max_bytes_);
  }
  file.bytes += text.size();
  write(file, path, text, time);
}

std::string LineFiles::words_for_lost_lines() const {
  return base::format("{} of the tasks' output could not be kept",
                      base::count_text(static_cast<std::int64_t>(lost_lines_), "line"));
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
