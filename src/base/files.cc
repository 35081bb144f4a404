#include "base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "base/format.h"

namespace gangrun::base {

namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Most files are small (those of /proc above all), and a large buffer costs a page fault a page.
constexpr std::size_t kFirstPart = 4096;
constexpr std::size_t kLargestPart = std::size_t{1} << 20U;

// Until `fd` has bytes, or its end.
Result<> await_bytes(int fd, const std::string& path, Duration max_silence) {
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(max_silence);
  pollfd waited{fd, POLLIN, 0};
  const int ready = ::poll(&waited, 1, static_cast<int>(limit.count()));
  if (ready > 0 || (ready < 0 && errno == EINTR)) return {};
  if (ready < 0) return from_errno(errno, format("cannot read {}", path));
  return deadline_exceeded(
      format("cannot read {}: nothing was written to it for {}", path, to_words(max_silence)));
}

// `max_silence` is of what is no regular file.
Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes,
                             Duration max_silence) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return from_errno(errno, format("cannot read {}", path));
  const Error too_large{Code::kResourceExhausted,
                        format("{} is larger than the limit of {} bytes", path, max_bytes)};
  if (S_ISREG(info.st_mode) && static_cast<std::size_t>(info.st_size) > max_bytes) {
    // Somebody may have read a part of standard input.
    const off_t left = info.st_size - std::max<off_t>(::lseek(fd, 0, SEEK_CUR), 0);
    if (left > 0 && static_cast<std::size_t>(left) > max_bytes) return too_large;
  }
  std::string content;
  std::size_t part = kFirstPart;
  while (true) {
    if (!S_ISREG(info.st_mode)) GANGRUN_TRY(await_bytes(fd, path, max_silence));
    const std::size_t size = content.size();
    content.resize(size + part);
    const ssize_t got = ::read(fd, content.data() + size, part);
    content.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return from_errno(errno, format("cannot read {}", path));
    if (got == 0) return content;
    if (content.size() > max_bytes) return too_large;
    part = std::min(2 * part, kLargestPart);
  }
}

}  // namespace

Result<UniqueFd> open_file(const std::string& path, int flags, mode_t mode) {
  const std::string what =
      format("cannot {} {}", (flags & O_ACCMODE) == O_RDONLY ? "read" : "write", path);
  // Without waiting for who has the other end of a FIFO; a regular file knows no difference.
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  const int error = errno;
  struct stat info {};
  const int asked = fd.valid() ? ::fstat(fd.get(), &info) : ::stat(path.c_str(), &info);
  if (asked == 0 && !S_ISREG(info.st_mode)) {
    return Error{Code::kFailedPrecondition,
                 format("{}: it is {} and not a file", what, kind_of(info.st_mode))};
  }
  if (!fd.valid()) return from_errno(error, what);
  return fd;
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  GANGRUN_ASSIGN(const UniqueFd fd, open_file(path, O_RDONLY));
  return read_all(fd.get(), path, max_bytes, kMaxSilence);
}

Result<std::string> read_input(const std::string& path, std::size_t max_bytes,
                               Duration max_silence) {
  const bool is_standard = path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
  if (is_standard) {
    // In place of one that our caller has closed there is a file that only can be written
    // (process/open_files.h).
    const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) {
      return invalid_argument(format("cannot read {}: standard input is closed", path));
    }
    // A socket cannot be opened by its name, a file of another user perhaps not, and a file that is
    // opened once more is read from its beginning.
    return read_all(STDIN_FILENO, path, max_bytes, max_silence);
  }
  // Opening a pipe that nobody writes would never return.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return from_errno(errno, format("cannot read {}", path));
  return read_all(fd.get(), path, max_bytes, max_silence);
}

Result<> write_all(int fd, std::string_view content, std::string_view what) {
  return write_and_take(fd, content, what);
}

Result<> write_and_take(int fd, std::string_view& content, std::string_view what) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return from_errno(errno, format("cannot write {}", what));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<> write_file_atomically(const std::string& path, std::string_view content, mode_t mode) {
  const std::string temporary = format("{}.{}.tmp", path, ::getpid());
  GANGRUN_ASSIGN(UniqueFd fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode));
  Result<> outcome = write_all(fd.get(), content, path);
  if (outcome.ok() && ::fchmod(fd.get(), mode) != 0) {
    outcome = from_errno(errno, format("cannot write {}", path));
  }
  fd.reset();
  if (outcome.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    outcome = from_errno(errno, format("cannot write {}", path));
  }
  if (!outcome.ok()) ::unlink(temporary.c_str());
  return outcome;
}

Result<> write_private_file(const std::string& path, std::string_view content) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return from_errno(errno, format("cannot create {}", path));
  return write_all(fd.get(), content, path);
}

void remove_if_there(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) (void)::unlink(path.c_str());
}

Result<> make_folders(const std::string& path, mode_t mode) {
  const std::filesystem::path target(path);
  std::filesystem::path so_far;
  for (const auto& part : target) {
    so_far /= part;
    if (::mkdir(so_far.c_str(), mode) == 0 || errno == EEXIST) continue;
    const int why = errno;
    std::error_code ignored;
    if (why == EROFS && std::filesystem::is_directory(so_far, ignored)) continue;
    return from_errno(why, format("cannot create folder {}", so_far.string()));
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(target, ignored)) {
    return Error{Code::kInvalidArgument, format("{} is not a folder", path)};
  }
  return {};
}

Result<UniqueFd> memory_file(const std::string& name, std::string_view content) {
  GANGRUN_ASSIGN(UniqueFd fd, memory_file(name));
  GANGRUN_TRY(write_all(fd.get(), content, name));
  if (::lseek(fd.get(), 0, SEEK_SET) < 0) return from_errno(errno, "lseek");
  return fd;
}

bool has_memory_files() {
  static const bool kHas = UniqueFd(::memfd_create("probe", MFD_CLOEXEC)).valid();
  return kHas;
}

Result<UniqueFd> memory_file(const std::string& name) {
  if (has_memory_files()) {
    UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd.valid()) return from_errno(errno, "memfd_create");
    return fd;
  }
  // A file system in memory, wherever there is one.
  std::string path = "/dev/shm/gangrun-XXXXXX";
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) return from_errno(errno, format("cannot create {}", path));
  if (::unlink(path.c_str()) != 0) return from_errno(errno, format("cannot remove {}", path));
  return fd;
}

Result<std::string> read_at(int fd, std::int64_t offset, std::size_t length,
                            std::string_view what) {
  std::string bytes(length, '\0');
  std::size_t got = 0;
  while (got < length) {
    const ssize_t count = ::pread(fd, bytes.data() + got, length - got,
                                  static_cast<off_t>(offset + static_cast<std::int64_t>(got)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return from_errno(errno, std::string(what));
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace gangrun::base
