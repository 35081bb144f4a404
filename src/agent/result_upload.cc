#include "agent/result_upload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/sizes.h"

namespace gangrun::agent {

base::Result<ResultFile> open_result(const std::string& path) {
  // Not what a link leads to, and no pipe that would be waited for.
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() && errno == ENOENT) return ResultFile{};
  if (!file.valid()) return base::from_errno(errno, base::format("open {}", path));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return base::from_errno(errno, "fstat");
  if (!S_ISREG(info.st_mode)) {
    return base::invalid_argument(base::format("{} is not a file", path));
  }
  if (info.st_size > wire::kMaxResultBytes) {
    return base::invalid_argument(base::format("it has {} bytes; at most {} ({}) are kept",
                                               info.st_size, wire::kMaxResultBytes,
                                               base::size_text(wire::kMaxResultBytes)));
  }
  return ResultFile{std::move(file), info.st_size};
}

void ResultUpload::begin(base::Instant now) {
  part_size_.begin();
  send_from(0, now);
}

void ResultUpload::send_from(std::int64_t offset, base::Instant now) {
  if (over_) return;
  const std::int64_t length = std::min(size_ - offset, part_size_.bytes());
  auto bytes =
      base::read_at(file_.get(), offset, static_cast<std::size_t>(length), "read the result");
  if (!bytes.ok()) return give_up(bytes.error().message);
  if (std::ssize(*bytes) < length) return give_up("the result has become shorter");
  sent_ = offset + length;
  sent_at_ = now;
  asked_ = numbers_.next();
  ask_({.id = asked_,
        .kind = std::string(wire::kResultKind),
        .about = base::to_json(wire::ResultPart{attempt_, offset, size_, *std::move(bytes)}),
        .limit = kResultPartTimeout});
}

bool ResultUpload::on_answer(const wire::AnswerMessage& answer, base::Instant now) {
  if (over_ || answer.id != asked_) return false;
  take(answer, now);
  return true;
}

void ResultUpload::take(const wire::AnswerMessage& answer, base::Instant now) {
  if (!answer.refused.empty()) return give_up(answer.refused);
  const auto said = base::from_json<wire::ResultKept>(answer.said);
  if (!said.ok()) return give_up(said.error().message);
  if (said->kept != sent_) {
    return give_up(base::format("the master keeps {} of {} bytes", said->kept, sent_));
  }
  part_size_.answered(now - sent_at_);
  if (sent_ < size_) return send_from(sent_, now);
  over_ = true;
}

void ResultUpload::give_up(std::string trouble) {
  if (over_) return;
  over_ = true;
  trouble_ = std::move(trouble);
}

}  // namespace gangrun::agent
