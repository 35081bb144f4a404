#include "process/python_dump.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "process/proc_fs.h"
#include "process/signal_catchers.h"

namespace gangrun::process {

namespace {

using base::Result;

// By default it is ignored: a program that has just taken another one's place is not ended by it.
constexpr int kDumpSignal = SIGURG;
constexpr std::size_t kMaxDumpBytes = std::size_t{256} << 10U;
// It writes in parts and says nothing at its end.
constexpr std::chrono::milliseconds kSilence(50);

// Empty: none of its open files is the one.
std::string dump_fifo_of(pid_t pid, pid_t number) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(base::format("/proc/{}/fd", pid), failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(entry->path().c_str(), target.data(), target.size());
    if (size <= 0) continue;
    if (is_dump_fifo({target.data(), static_cast<std::size_t>(size)}, number)) {
      return entry->path().string();
    }
  }
  return {};
}

// Appends all that is there. False: there was nothing.
bool drain(int fifo, std::string& text) {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  bool has_come = false;
  while (true) {
    const ssize_t got = ::read(fifo, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return has_come;
    has_come = true;
    const std::size_t room = kMaxDumpBytes - text.size();
    text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
  }
}

// Reads until nothing has come for a moment.
std::string read_dump(int fifo, base::Instant deadline) {
  std::string text;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return text;
    const auto limit = text.empty() ? left : std::min(left, kSilence);
    pollfd ready{.fd = fifo, .events = POLLIN, .revents = 0};
    const int found = ::poll(&ready, 1, static_cast<int>(limit.count()));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0 || !drain(fifo, text)) return text;
  }
}

Result<std::string> ask(pid_t pid, const std::string& path, base::Instant deadline) {
  const base::UniqueFd fifo(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fifo.valid()) return base::from_errno(errno, "what faulthandler writes cannot be read");
  // An earlier look may not have waited for all.
  std::string old;
  drain(fifo.get(), old);
  if (::kill(pid, kDumpSignal) != 0) return base::from_errno(errno, "faulthandler");
  const std::string text = read_dump(fifo.get(), deadline);
  if (text.empty()) return base::deadline_exceeded("faulthandler has not answered");
  return std::string(base::trim(text));
}

}  // namespace

pid_t own_number(std::string_view status) {
  if (const pid_t innermost = innermost_pid(status); innermost != 0) return innermost;
  // Kernels before 4.1 do not tell.
  return static_cast<pid_t>(parse_number(status_value(status, "Pid")).value_or(0));
}

bool is_dump_fifo(std::string_view target, pid_t own_number) {
  // "/tmp/gangrun-x3f/gangrun-stacks-12 (deleted)"
  const std::size_t at = target.rfind('/');
  if (at == std::string_view::npos || own_number <= 0) return false;
  const std::string_view name = target.substr(at + 1);
  const std::string wanted = base::format("{}{}", kDumpName, own_number);
  return name == wanted || name == wanted + " (deleted)";
}

std::optional<Result<std::string>> python_dump(pid_t pid, base::Instant deadline) {
  const std::string status = read_proc(pid, "status");
  if (!catches_signal(status, kDumpSignal)) return std::nullopt;
  const std::string path = dump_fifo_of(pid, own_number(status));
  if (path.empty()) return std::nullopt;
  return ask(pid, path, deadline);
}

}  // namespace gangrun::process
