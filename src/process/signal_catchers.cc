#include "process/signal_catchers.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/proc_fs.h"

namespace gangrun::process {

namespace {

constexpr std::size_t kMaxStatusBytes = std::size_t{64} << 10U;
constexpr int kMostSignals = 64;

}  // namespace

std::optional<bool> catches_signal(std::string_view status, int number) {
  constexpr std::string_view kCaught = "\nSigCgt:";
  const std::size_t start = status.find(kCaught);
  if (start == std::string_view::npos || number < 1 || number > kMostSignals) return std::nullopt;
  std::string_view digits = status.substr(start + kCaught.size());
  digits = base::trim(digits.substr(0, digits.find('\n')));
  std::uint64_t mask = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, mask, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return ((mask >> static_cast<unsigned>(number - 1)) & 1U) != 0;
}

std::vector<pid_t> signal_catchers(const std::vector<pid_t>& roots, int number) {
  std::vector<pid_t> found;
  std::vector<pid_t> open(roots.rbegin(), roots.rend());
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    // First these: a child that has inherited a handler has a parent that is seen to have it.
    const std::vector<pid_t> children = children_of(pid);
    const auto status = base::read_file(base::format("/proc/{}/status", pid), kMaxStatusBytes);
    if (!status.ok()) continue;  // it has ended
    if (catches_signal(*status, number).value_or(false)) {
      found.push_back(pid);
      continue;
    }
    open.insert(open.end(), children.begin(), children.end());
  }
  return found;
}

}  // namespace gangrun::process
