#include "kubernetes/records/volume_keys.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "journal/segments.h"

namespace gangrun::kubernetes::records {
namespace {

using base::Result;

constexpr mode_t kKeysFile = 0600;
constexpr const char* kKeysWords = "the keys of the job";

base::Error not_kept() { return base::from_errno(errno, base::format("write {}", kKeysWords)); }

// On the disk when it returns, with the name of a new segment.
Result<> append(const std::string& folder, int segment, bool is_new, const std::string& bytes) {
  const int flags = O_WRONLY | O_APPEND | (is_new ? O_CREAT | O_TRUNC : 0);
  GANGRUN_ASSIGN(const base::UniqueFd file,
                 base::open_file(journal::segment_path(folder, segment), flags, kKeysFile));
  GANGRUN_TRY(base::write_all(file.get(), bytes, kKeysWords));
  if (::fdatasync(file.get()) != 0) return not_kept();
  if (!is_new) return {};
  const base::UniqueFd names(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!names.valid()) return not_kept();
  return ::fsync(names.get()) == 0 || errno == EINVAL ? Result<>() : not_kept();
}

}  // namespace

VolumeKeys::VolumeKeys(net::EventLoop& loop, HeadKeeper& head, std::string folder)
    : loop_(loop), head_(head), folder_(std::move(folder)), disk_(loop, 1) {}

void VolumeKeys::keep(int segment, int part, std::string bytes,
                      std::function<void(Result<>)> done) {
  parts_.push_back({segment, part, std::move(bytes), std::move(done)});
  work();
}

void VolumeKeys::work() {
  if (is_busy_ || parts_.empty()) return;
  is_busy_ = true;
  limit_ = loop_.after(kKeyWriteTimeout, [this] { give_up(); });
  const Part& part = parts_.front();
  const auto asked =
      disk_.run([folder = folder_, segment = part.segment, is_new = part.number == 1,
                 bytes = part.bytes] { return append(folder, segment, is_new, bytes); },
                [this, round = round_](const Result<>& written) {
                  if (round == round_) on_written(written);
                });
  if (!asked.ok()) {
    next_ = loop_.after(base::Duration(0), [this, why = asked.error()] { finish(why); });
  }
}

void VolumeKeys::on_written(const Result<>& written) {
  if (!written.ok()) return finish(written);
  head_.look(net::while_alive(life_, [this, round = round_] {
    if (round == round_) finish({});
  }));
}

void VolumeKeys::finish(const Result<>& kept) {
  limit_.reset();
  ++round_;
  is_busy_ = false;
  const Part part = std::move(parts_.front());
  parts_.pop_front();
  part.done(kept);
  work();
}

// A master that is not in office is not waited for: it is about to end. Later parts of a segment of
// which one is missing are of no use.
void VolumeKeys::give_up() {
  if (!head_.is_in_office()) return;
  const std::string trouble = head_.trouble();
  const base::Error why = base::unavailable(
      base::format("{} could not be kept in the volume within {}{}{}", kKeysWords,
                   base::to_words(kKeyWriteTimeout), trouble.empty() ? "" : ": ", trouble));
  ++round_;
  is_busy_ = false;
  const std::deque<Part> parts = std::exchange(parts_, {});
  for (const Part& part : parts) part.done(why);
  work();
}

// Nobody waits for that, and the folder goes with the job.
void VolumeKeys::forget_before(int segment) {
  (void)disk_.run(
      [folder = folder_, segment] {
        for (int old = segment - 1; old > 0; --old) {
          if (::unlink(journal::segment_path(folder, old).c_str()) != 0) break;
        }
      },
      [] {});
}

}  // namespace gangrun::kubernetes::records
