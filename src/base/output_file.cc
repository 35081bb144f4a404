#include "base/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/format.h"
#include "base/pause.h"
#include "base/strings.h"

namespace gangrun::base {

namespace {

namespace fs = std::filesystem;

// As the kernel has it.
constexpr int kMaxLinks = 40;
// Between two looks whether a FIFO has a reader; nothing tells it.
constexpr std::chrono::milliseconds kLookInterval(20);

struct Target {
  std::string path;  // with no link at its end, whether something is there or not
  // A descriptor of ours, by /dev/stdout or /dev/fd/3. Opened once more, a file would be written
  // from its start, and a socket could not be opened at all.
  std::optional<int> own;
};

std::optional<int> own_descriptor(const fs::path& link) {
  std::error_code failed;
  const fs::path folder = fs::canonical(link.parent_path(), failed);
  if (failed || folder != fs::canonical("/proc/self/fd", failed)) return std::nullopt;
  const auto number = parse_integer(link.filename().string());
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

// None where the links have no end.
std::optional<Target> follow_links(const std::string& path) {
  fs::path at = fs::path(path).has_parent_path() ? fs::path(path) : fs::path(".") / path;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code failed;
    const fs::path next = fs::read_symlink(at, failed);
    if (failed) return Target{at.string(), std::nullopt};  // no link, or nothing
    if (const auto own = own_descriptor(at)) return Target{at.string(), own};
    at = at.parent_path() / next;  // an absolute one replaces the folder
  }
  return std::nullopt;
}

}  // namespace

OutputFile::~OutputFile() {
  if (!beside_.empty()) (void)::unlink(beside_.c_str());
}

Error OutputFile::failed(int error_number) const {
  Error error = from_errno(error_number, format("cannot write {}", path_));
  if (error.code == Code::kNotFound || error.code == Code::kInvalidArgument) {
    error.code = Code::kFailedPrecondition;
  }
  return error;
}

Result<OutputFile> OutputFile::open(const std::string& path, mode_t mode,
                                    std::chrono::milliseconds patience) {
  OutputFile output(path, patience);
  const auto target = follow_links(path);
  if (!target) return output.failed(ELOOP);
  struct stat there {};
  if (target->own) {
    output.file_.reset(::fcntl(*target->own, F_DUPFD_CLOEXEC, 0));
    if (!output.file_.valid()) return output.failed(errno);
  } else if (::stat(target->path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    GANGRUN_TRY(output.open_as_it_is());
  } else {
    GANGRUN_TRY(output.open_beside(target->path, mode));
  }
  return output;
}

Result<> OutputFile::open_as_it_is() {
  for (std::chrono::milliseconds waited{0};; waited += kLookInterval) {
    file_.reset(::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file_.valid()) return {};
    // A FIFO without a reader.
    if (errno != ENXIO) return failed(errno);
    if (waited >= patience_) {
      return deadline_exceeded(format("cannot write {}: nobody reads it", path_));
    }
    pause_for(kLookInterval);
  }
}

Result<> OutputFile::open_beside(std::string target, mode_t mode) {
  target_ = std::move(target);
  std::string beside = format("{}.{}", target_, ::getpid());
  file_.reset(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file_.valid()) return failed(errno);
  beside_ = std::move(beside);
  return {};
}

Result<> OutputFile::write(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t count = ::write(file_.get(), piece.data(), piece.size());
    if (count >= 0) {
      piece.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd waiting{.fd = file_.get(), .events = POLLOUT, .revents = 0};
      if (::poll(&waiting, 1, static_cast<int>(patience_.count())) == 0) {
        return deadline_exceeded(format("cannot write {}: its reader takes nothing", path_));
      }
    } else if (errno != EINTR) {
      return failed(errno);
    }
  }
  return {};
}

Result<> OutputFile::commit() {
  // Some file systems tell a full disk only now.
  if (::close(file_.release()) != 0 && errno != EINTR) return failed(errno);
  if (beside_.empty()) return {};
  if (std::rename(beside_.c_str(), target_.c_str()) != 0) return failed(errno);
  beside_.clear();
  return {};
}

}  // namespace gangrun::base
