#include "process/signal_catchers.h"

#include <string>

#include "process/proc_fs.h"

namespace gangrun::process {

namespace {

constexpr int kMostSignals = 64;

}  // namespace

bool catches_signal(std::string_view status, int number) {
  const auto mask = parse_number(status_value(status, "SigCgt"), 16);
  if (!mask || number < 1 || number > kMostSignals) return false;
  return ((*mask >> static_cast<unsigned>(number - 1)) & 1U) != 0;
}

std::vector<pid_t> signal_catchers(const std::vector<pid_t>& roots, int number) {
  std::vector<pid_t> found;
  std::vector<pid_t> open(roots.rbegin(), roots.rend());
  while (!open.empty()) {
    const pid_t pid = open.back();
    open.pop_back();
    // First these: a child that has inherited a handler has a parent that is seen to have it.
    const std::vector<pid_t> children = children_of(pid);
    const std::string status = read_proc(pid, "status");
    if (status.empty()) continue;  // it has ended
    if (catches_signal(status, number)) {
      found.push_back(pid);
      continue;
    }
    open.insert(open.end(), children.begin(), children.end());
  }
  return found;
}

}  // namespace gangrun::process
