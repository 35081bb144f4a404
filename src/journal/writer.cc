#include "journal/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "journal/segments.h"

namespace gangrun::journal {

using base::format;

namespace {

// Kept free behind the end of a journal, however long it has become: a disk that others fill, the
// job's own logs first, must not take its verdict's place. On a small disk it is a quarter of what
// is free there, on a tiny one a half.
constexpr off_t kReservedBytes = off_t{1} << 20U;
constexpr off_t kTinyReserve = off_t{64} << 10U;
constexpr off_t kLeastReserve = off_t{4} << 10U;

class DiskFile final : public File {
 public:
  DiskFile(std::string path, base::UniqueFd fd)
      : path_(std::move(path)), spare_path_(path_ + ".spare"), fd_(std::move(fd)) {
    reserve();
  }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  // Space that was not needed is given back.
  ~DiskFile() override {
    struct stat info {};
    if (::fstat(fd_.get(), &info) == 0) (void)::ftruncate(fd_.get(), info.st_size);
    (void)give_spare();
  }

  base::Result<std::size_t> append(std::string_view bytes) override {
    base::Result<std::size_t> written = append_once(bytes);
    const bool lacks_room = written.ok() ? *written < bytes.size()
                                         : written.error().code == base::Code::kResourceExhausted;
    if (lacks_room && give_spare()) {
      const std::size_t before = written.ok() ? *written : 0;
      const auto rest = append_once(bytes.substr(before));
      if (rest.ok()) written = before + *rest;
    }
    if (written.ok()) end_ += static_cast<off_t>(*written);
    reserve();
    return written;
  }
  base::Result<> truncate(std::int64_t bytes) override {
    if (::ftruncate(fd_.get(), bytes) != 0) return failed();
    end_ = reserved_ = bytes;
    reserve();
    return {};
  }
  base::Result<> sync() override {
    if (::fdatasync(fd_.get()) != 0) return failed();
    return {};
  }

 private:
  [[nodiscard]] base::Error failed() const {
    return base::from_errno(errno, format("cannot write {}", path_));
  }

  base::Result<std::size_t> append_once(std::string_view bytes) {
    ssize_t written = -1;
    do {
      written = ::write(fd_.get(), bytes.data(), bytes.size());
    } while (written < 0 && errno == EINTR);
    if (written < 0) return failed();
    return static_cast<std::size_t>(written);
  }

  void reserve() {
    const off_t ahead = std::max<off_t>(reserved_ - end_, 0);
    if (!can_reserve_ || ahead > kReservedBytes / 2) return;
    struct statvfs disk {};
    if (::fstatvfs(fd_.get(), &disk) != 0) return;
    const off_t free = static_cast<off_t>(disk.f_bavail * disk.f_frsize) + ahead;
    off_t wanted = std::min(std::clamp(free / 4, kTinyReserve, kReservedBytes), free / 2);
    if (ahead > wanted / 2) return;
    while (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, end_, wanted) != 0) {
      if (errno != ENOSPC && errno != EDQUOT) {
        can_reserve_ = false;
        return make_spare();
      }
      wanted /= 2;
      if (wanted < std::max(ahead, kLeastReserve)) return;
    }
    reserved_ = end_ + wanted;
  }

  // A file to be removed when there is no room, where the file system reserves none.
  void make_spare() {
    const std::string content(static_cast<std::size_t>(kTinyReserve), '\n');
    has_spare_ = base::write_private_file(spare_path_, content).ok();
    if (!has_spare_) (void)::unlink(spare_path_.c_str());
  }
  bool give_spare() {
    return std::exchange(has_spare_, false) && ::unlink(spare_path_.c_str()) == 0;
  }

  std::string path_;
  std::string spare_path_;
  base::UniqueFd fd_;
  off_t end_ = 0;
  off_t reserved_ = 0;  // up to there nothing but we can fill the disk
  bool can_reserve_ = true;
  bool has_spare_ = false;
};

// The part of a time that the header's text leaves out: offsets count from what the header says.
base::Duration written_off(base::WallTime time) {
  return time - std::chrono::floor<std::chrono::milliseconds>(time);
}

}  // namespace

Writer::Writer(Private, std::string path, std::unique_ptr<File> file, const Opening& opening)
    : path_(std::move(path)),
      file_(std::move(file)),
      origin_(opening.origin - written_off(opening.started)),
      durable_(opening.durable) {}

base::Result<std::unique_ptr<Writer>> Writer::create(const std::string& folder,
                                                     const Opening& opening) {
  if (opening.attempt < 1 || opening.attempt > kMaxSegments) {
    return base::Error{
        base::Code::kResourceExhausted,
        format("a journal has the segments 1 to {}, not {}", kMaxSegments, opening.attempt)};
  }
  const std::string path = segment_path(folder, opening.attempt);
  base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) return base::from_errno(errno, format("cannot create {}", path));
  auto writer = create_on(std::make_unique<DiskFile>(path, std::move(fd)), path, opening);
  // Nothing is left that would stop the next try.
  if (!writer.ok()) ::unlink(path.c_str());
  return writer;
}

base::Result<std::unique_ptr<Writer>> Writer::create_on(std::unique_ptr<File> file,
                                                        std::string path, const Opening& opening) {
  auto writer = std::make_unique<Writer>(Private{}, std::move(path), std::move(file), opening);
  GANGRUN_TRY(writer->write_line(header_line(
      {opening.job_id, GANGRUN_VERSION, opening.attempt, base::to_iso8601(opening.started)})));
  return writer;
}

base::Result<> Writer::append(const Record& record) {
  return write_line(record_line(record, lines_));
}

base::Result<> Writer::event(const gang::Event& event, base::Instant at) {
  return append(EventRecord{gang::moved_by(-origin_.time_since_epoch(), event), at - origin_});
}

base::Result<> Writer::write_line(std::string line) {
  if (damaged_) {
    return base::Error{base::Code::kDataLoss,
                       format("{} ends in a damaged line; nothing can follow it", path_)};
  }
  line += '\n';
  if (line.size() > kMaxLineBytes) {
    return base::Error{
        base::Code::kResourceExhausted,
        format("a record of {} bytes is over the limit of {}", line.size(), kMaxLineBytes)};
  }
  GANGRUN_ASSIGN(const std::size_t written, file_->append(line));
  // The kernel writes a part only where there is no room for the rest.
  if (written < line.size()) {
    return take_back(base::from_errno(ENOSPC, format("cannot write {}", path_)));
  }
  if (durable_) {
    auto synced = file_->sync();
    if (!synced.ok()) return take_back(std::move(synced).error());
  }
  bytes_ += static_cast<std::int64_t>(line.size());
  ++lines_;
  return {};
}

// A part of a line would spoil what follows it.
base::Error Writer::take_back(base::Error error) {
  damaged_ = !file_->truncate(bytes_).ok();
  return error;
}

}  // namespace gangrun::journal
