#include "agents/key_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::agents {

namespace {

constexpr mode_t kOwnFolder = 0700;
constexpr mode_t kOwnFile = 0600;
constexpr std::string_view kEnding = ".jsonl";

}  // namespace

std::string KeyLog::path_of(int segment) const {
  return base::format("{}/{:06}{}", folder_, segment, kEnding);
}

std::vector<int> KeyLog::segments() const {
  std::vector<int> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(kEnding)) continue;
    const auto number = base::parse_integer(name.substr(0, name.size() - kEnding.size()));
    if (number && *number > 0) numbers.push_back(static_cast<int>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

base::Result<> KeyLog::read(KeptKeys& kept) {
  for (const int segment : segments()) {
    const std::string path = path_of(segment);
    GANGRUN_ASSIGN(const std::string text, base::read_file(path, kMaxKeyLogBytes));
    GANGRUN_TRY(replay(text, kept).context(path));
    last_segment_ = segment;
  }
  return {};
}

void KeyLog::add(const KeyRecord& record, std::function<void(base::Result<>)> done) {
  Waiting waiting{line_of(record), std::move(done)};
  if (far_ == nullptr) return write_here(waiting);
  waiting_.push_back(std::move(waiting));
  write_far();
}

bool KeyLog::is_full() const {
  return bytes_ > 2 * kept_.store.bytes() + spare_bytes_ ||
         (far_ != nullptr && parts_ >= kMaxKeyLogParts);
}

// A line that cannot be written whole is taken back: the next one may find room.
void KeyLog::write_here(const Waiting& record) {
  if (!is_open_ || is_full()) return record.done(begin_segment(record.line));
  const auto written = base::write_all(file_.get(), record.line, "the keys of the job");
  if (written.ok()) {
    bytes_ += record.line.size();
  } else if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) {
    is_open_ = false;
  }
  record.done(written);
}

// With all that is kept, and this line after it. The one before goes when it is there.
base::Result<> KeyLog::begin_segment(const std::string& line) {
  GANGRUN_TRY(base::make_folders(folder_, kOwnFolder));
  const std::string path = path_of(last_segment_ + 1);
  GANGRUN_ASSIGN(auto file,
                 base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, kOwnFile));
  const std::string text = lines_of(kept_) + line;
  const auto written = base::write_all(file.get(), text, "the keys of the job");
  if (!written.ok()) {
    (void)::unlink(path.c_str());
    return written;
  }
  file_ = std::move(file);
  bytes_ = text.size();
  is_open_ = true;
  ++last_segment_;
  for (const int segment : segments()) {
    if (segment < last_segment_) (void)::unlink(path_of(segment).c_str());
  }
  return {};
}

// A record that comes while a part is on its way goes into the next one.
void KeyLog::write_far() {
  if (is_busy_ || waiting_.empty()) return;
  const bool begins = !is_open_ || is_full();
  if (begins) {
    ++last_segment_;
    is_open_ = true;
    parts_ = 0;
    const std::string text = lines_of(kept_);
    bytes_ = text.size();
    is_busy_ = true;
    // All parts but the last one are kept for themselves; an error of one fails the last.
    for (std::size_t at = 0; at < text.size(); at += kMaxKeyLogPartBytes) {
      keep_part(text.substr(at, kMaxKeyLogPartBytes), {}, false);
    }
  }
  std::string bytes;
  std::vector<Waiting> told;
  while (!waiting_.empty() && bytes.size() < kMaxKeyLogPartBytes) {
    bytes += waiting_.front().line;
    told.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  bytes_ += bytes.size();
  is_busy_ = true;
  keep_part(std::move(bytes), std::move(told), begins);
}

void KeyLog::keep_part(std::string bytes, std::vector<Waiting> told, bool is_first_told) {
  const auto shared = std::make_shared<std::vector<Waiting>>(std::move(told));
  const auto on_kept = [this, shared, is_first_told](const base::Result<>& kept) {
    if (!kept.ok()) is_open_ = false;
    if (shared->empty()) return;
    is_busy_ = false;
    base::Result<> all = kept;
    if (kept.ok() && !is_open_) all = base::unavailable("an earlier part of it could not be kept");
    if (all.ok() && is_first_told) far_->forget_before(last_segment_);
    for (const Waiting& each : *shared) each.done(all);
    write_far();
  };
  far_->keep(last_segment_, ++parts_, std::move(bytes), net::while_alive(life_, on_kept));
}

}  // namespace gangrun::agents
