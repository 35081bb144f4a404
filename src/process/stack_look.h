#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/described.h"

namespace gangrun::process {

// The question of this kind is answered by looks at the processes of a task.
inline constexpr std::string_view kStacks = "stacks";

inline constexpr std::string_view kPySpy = "py-spy";
inline constexpr std::string_view kFaulthandler = "faulthandler";

// Its rows are what the question is about.
struct StackQuestion {
  bool is_one_enough = false;  // no native stack of a process whose Python stack is read

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row_if_set("one_stack", &StackQuestion::is_one_enough));
  }
};

// The current activity of a process, as far as it can be seen from outside. A text is empty where
// it cannot.
struct StackLook {
  int pid = 0;
  std::string name{};   // at most 15 bytes
  std::string state{};  // "R" runs, "S" sleeps, "D" waits in the kernel, "T" is stopped, …
  double cpu_seconds = 0;
  std::string python{};       // the stacks of its Python threads
  std::string python_by{};    // what has read these: kPySpy or kFaulthandler
  bool needs_py_spy = false;  // these could not be read, as there is no py-spy
  std::string native{};       // the stacks of its threads, by eu-stack or gdb
  std::string kernel{};       // what it waits for in the kernel, by /proc
  std::string trouble{};      // why there is no stack of its own
  bool is_late = false;       // the trouble is that the time is over; not handed on

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("pid", &StackLook::pid), base::row("name", &StackLook::name),
                      base::row("state", &StackLook::state),
                      base::row("cpu_seconds", &StackLook::cpu_seconds),
                      base::row_if_set("python", &StackLook::python),
                      base::row_if_set("python_by", &StackLook::python_by),
                      base::row_if_set("needs_py_spy", &StackLook::needs_py_spy),
                      base::row_if_set("native", &StackLook::native),
                      base::row_if_set("kernel", &StackLook::kernel),
                      base::row_if_set("trouble", &StackLook::trouble));
  }
};

// The limit of the kernel for the processes of a host.
inline constexpr int kMaxHostProcesses = 4'194'304;

// The answer to that question. Whoever hands looks on takes them as base::Json.
template <typename Look = StackLook>
struct StackLooks {
  std::vector<Look> processes{};
  int not_shown = 0;  // the number of further processes

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("processes", &StackLooks::processes),
        base::row_if_set("not_shown", &StackLooks::not_shown, base::Range{0, kMaxHostProcesses}));
  }
};

// The limit for one stack.
inline constexpr std::size_t kMaxStackBytes = std::size_t{64} << 10U;

// The look without stacks of its own: what /proc tells at once.
StackLook glance_at(pid_t pid);
// Adds the stacks to a glance. Blocks until `deadline` at most, unless the process hangs in the
// kernel. The process is stopped for a moment while its stack is read. A signal is sent only to one
// that is registered for it (python_dump.h); SIGCONT where what read the stack had to be killed.
StackLook look_at_stack(StackLook look, base::Instant deadline, const StackQuestion& question = {});

// Whether the program of this path is a Python interpreter.
bool is_python(const std::string& program);

}  // namespace gangrun::process
