#include "process/stack_look.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "process/host_turn.h"
#include "process/proc_fs.h"
#include "process/program_output.h"
#include "process/python_dump.h"

namespace gangrun::process {

namespace {

// The limit for what a program says.
constexpr std::size_t kMaxOutputBytes = std::size_t{256} << 10U;
// A step has one part of the time, so that one is left for the native stack when Python's takes too
// long.
constexpr int kParts = 2;
// One of these parts of its time is left to a native stack whose turn comes late.
constexpr int kPartsToRead = 4;

std::string proc_file(pid_t pid, std::string_view name) {
  return std::string(base::trim(read_proc(pid, name)));
}

// The path that "exe" or "cwd" of a process leads to.
std::string linked_path(pid_t pid, std::string_view name) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size =
      ::readlink(base::format("/proc/{}/{}", pid, name).c_str(), path.data(), path.size() - 1);
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

// A variable of the environment that the process was started with.
std::string variable_of(pid_t pid, std::string_view name) {
  for (const std::string& entry : base::split(read_proc(pid, "environ"), '\0')) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

// Whether the process is of our user. Else nothing that it says of itself names a program for us.
bool is_ours(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  const std::string_view users = status_value(status, "Uid");
  return parse_number(users.substr(0, users.find_first_of(" \t"))) == ::geteuid();
}

// The task's own environment may have it where ours has not.
std::string find_program(pid_t pid, const std::string& name) {
  const std::string of_task = is_ours(pid) ? variable_of(pid, "PATH") : std::string();
  for (const std::string& path : {of_task, base::variable("PATH")}) {
    for (const std::string& folder : base::split(path, ':')) {
      const std::string program = base::format("{}/{}", folder, name);
      if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return {};
}

// Beside the interpreter, as a virtual environment has it that is not active; empty where others
// than root and we may write the program.
std::string find_beside(pid_t pid, const std::string& name) {
  const std::string words = read_proc(pid, "cmdline");
  const std::string first = words.substr(0, words.find('\0'));
  if (first.find('/') == std::string::npos || !is_ours(pid)) return {};
  const std::filesystem::path started = std::filesystem::path(linked_path(pid, "cwd")) / first;
  const std::string program = (started.parent_path() / name).string();
  struct stat file {};
  if (!program.starts_with('/') || ::stat(program.c_str(), &file) != 0) return {};
  const bool is_owned = file.st_uid == 0 || file.st_uid == ::geteuid();
  const bool is_closed = (file.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const bool is_program = S_ISREG(file.st_mode) && ::access(program.c_str(), X_OK) == 0;
  return is_owned && is_closed && is_program ? program : std::string();
}

struct Seen {
  std::string text{};
  std::string trouble{};
  bool is_late = false;
};

bool is_late(const base::Error& error) { return error.code == base::Code::kDeadlineExceeded; }

bool stands(const StackLook& look) { return look.state == "T" || look.state == "t"; }

// By a program that stops the process while it reads. Where it is killed, the SIGSTOP by which it
// does so may come after it, and would stop the process for good (ptrace(2), PTRACE_ATTACH).
Seen seen_by(const std::vector<std::string>& argv, const StackLook& look, base::Instant deadline) {
  auto output = program_output(argv, deadline, kMaxOutputBytes);
  if (output.ok()) return {base::shorten(base::trim(*output), kMaxStackBytes), {}};
  const bool late = is_late(output.error());
  if (late && !stands(look)) (void)::kill(look.pid, SIGCONT);
  return {{}, output.error().message, late};
}

Seen stack_by_py_spy(const std::string& spy, const StackLook& look, base::Instant deadline) {
  if (spy.empty()) return {{}, "py-spy is not installed (pip install 'gangrun[stacks]')"};
  return seen_by({spy, "dump", "--pid", std::to_string(look.pid)}, look, deadline);
}

// By py-spy, else by the process itself, where it runs a function of the Python package. Returns
// why there is none.
Seen read_python_stack(base::Instant deadline, StackLook& look) {
  const base::Instant now = std::chrono::steady_clock::now();
  std::string spy = find_program(look.pid, std::string(kPySpy));
  if (spy.empty()) spy = find_beside(look.pid, std::string(kPySpy));
  Seen stack = stack_by_py_spy(spy, look, now + (deadline - now) / kParts);
  look.python_by = kPySpy;
  // One that is stopped answers nobody.
  if (stack.text.empty() && !stands(look)) {
    if (const auto dump = python_dump(look.pid, deadline)) {
      if (dump->ok()) stack = {base::shorten(**dump, kMaxStackBytes), {}};
      if (!dump->ok()) {
        stack.trouble += base::format("; {}", dump->error().message);
        stack.is_late = stack.is_late || is_late(dump->error());
      }
      look.python_by = kFaulthandler;
    }
  }
  if (stack.text.empty()) {
    look.python_by.clear();
    look.needs_py_spy = spy.empty();
  }
  look.python = std::move(stack.text);
  return stack;
}

Seen stack_by_gdb(const std::string& gdb, const StackLook& look, base::Instant deadline) {
  Seen stacks = seen_by({gdb, "--batch", "--nx", "-iex", "set auto-load no", "-iex",
                         "set print frame-arguments none", "-iex", "set print entry-values no",
                         "-p", std::to_string(look.pid), "-ex", "thread apply all bt"},
                        look, deadline);
  // Before them it tells of its own affairs.
  if (const std::size_t first = stacks.text.find("\nThread "); first != std::string::npos) {
    stacks.text.erase(0, first + 1);
  }
  return stacks;
}

// By programs that read all symbols of the process: many of them at once would all be late. One
// whose turn does not come in time is not started.
Seen native_stack(const StackLook& look, base::Instant deadline) {
  const std::string stack = find_program(look.pid, "eu-stack");
  const std::string gdb = stack.empty() ? find_program(look.pid, "gdb") : std::string();
  if (stack.empty() && gdb.empty()) return {{}, "neither eu-stack nor gdb is installed"};
  const base::Instant now = std::chrono::steady_clock::now();
  const auto turn = wait_for_turn(processor_places(), deadline - (deadline - now) / kPartsToRead);
  if (!turn) return {{}, "the stacks of other processes of its host took all the time", true};
  if (stack.empty()) return stack_by_gdb(gdb, look, deadline);
  return seen_by({stack, "-p", std::to_string(look.pid)}, look, deadline);
}

std::string kernel_stack(pid_t pid) {
  if (std::string stack = proc_file(pid, "stack"); !stack.empty()) return stack;
  const std::string channel = proc_file(pid, "wchan");
  const std::string call = proc_file(pid, "syscall");
  std::string words;
  if (!channel.empty() && channel != "0") words = base::format("waits in {}", channel);
  if (!call.empty()) words += base::format("{}system call {}", words.empty() ? "" : ", ", call);
  return words;
}

}  // namespace

bool is_python(const std::string& program) {
  return std::string_view(program).substr(program.rfind('/') + 1).starts_with("python");
}

StackLook glance_at(pid_t pid) {
  StackLook look;
  look.pid = pid;
  const auto stat = read_stat(pid);
  if (!stat || !stat->alive()) {
    look.trouble = "it has ended";
    return look;
  }
  look.name = base::printable(stat->name);
  look.state = std::string(1, stat->state);
  look.cpu_seconds = std::chrono::duration<double>(stat->cpu).count();
  look.kernel = kernel_stack(pid);
  return look;
}

StackLook look_at_stack(StackLook look, base::Instant deadline, const StackQuestion& question) {
  if (!look.trouble.empty()) return look;
  const base::Instant now = std::chrono::steady_clock::now();
  Seen why;
  if (is_python(linked_path(look.pid, "exe"))) {
    why = read_python_stack(now + (deadline - now) / kParts, look);
  }
  if (look.python.empty() || !question.is_one_enough) {
    Seen stack = native_stack(look, deadline);
    look.native = std::move(stack.text);
    // More time helps against one that is late.
    if (why.trouble.empty() || (stack.is_late && !why.is_late)) why = std::move(stack);
  }
  if (look.python.empty() && look.native.empty()) {
    look.trouble = std::move(why.trouble);
    look.is_late = why.is_late;
  }
  return look;
}

}  // namespace gangrun::process
