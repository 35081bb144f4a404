#include "process/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "process/open_files.h"
#include "process/spawn_child.h"

namespace gangrun::process {

namespace {

using spawn_child::Mapping;
using spawn_child::Plan;
using spawn_child::Step;

constexpr std::size_t kStackBytes = std::size_t{64} << 10U;
constexpr int kFirstListenFd = 3;
constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::string_view kListenPid = "LISTEN_PID=";
constexpr std::size_t kPidDigits = 12;

// Owns what a Plan points to.
struct Prepared {
  std::vector<std::string> environment;
  std::vector<std::string> programs;
  std::vector<Mapping> mappings;
  std::vector<char*> argv_pointers;
  std::vector<char*> environment_pointers;
  std::vector<const char*> program_pointers;
  Plan plan;
};

base::Error cannot_start(const SpawnOptions& options, std::string_view reason) {
  return base::invalid_argument(fmt::format("cannot start {}: {}", options.argv[0], reason));
}

bool sets(std::string_view variable, std::string_view name) {
  return variable.size() > name.size() && variable.starts_with(name) &&
         variable[name.size()] == '=';
}

std::string_view path_of(const std::vector<std::string>& environment) {
  for (const std::string& variable : environment) {
    if (sets(variable, "PATH")) return std::string_view(variable).substr(5);
  }
  return kDefaultPath;
}

std::vector<std::string> programs_to_try(const SpawnOptions& options) {
  const std::string& program = options.argv[0];
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> found;
  for (const std::string& folder : base::split(path_of(options.environment), ':')) {
    // An empty part of PATH means the working folder.
    found.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
  }
  return found;
}

base::Result<std::vector<Mapping>> mappings_of(const SpawnOptions& options) {
  std::vector<Mapping> mappings{{options.standard_input, STDIN_FILENO},
                                {options.standard_output, STDOUT_FILENO},
                                {options.standard_error, STDERR_FILENO}};
  int next = kFirstListenFd;
  for (const ListenFd& socket : options.listen) mappings.push_back({socket.fd, next++});
  for (const InheritedFd& inherited : options.inherited) {
    mappings.push_back({inherited.fd, inherited.as});
  }
  std::sort(mappings.begin(), mappings.end(),
            [](const Mapping& a, const Mapping& b) { return a.as < b.as; });
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Mapping& mapping = mappings[i];
    if (mapping.as < 0 || mapping.as > kMaxInheritedFd ||
        (mapping.as > STDERR_FILENO && mapping.fd < 0)) {
      return cannot_start(
          options, fmt::format("descriptor {} cannot be inherited as {}", mapping.fd, mapping.as));
    }
    if (i > 0 && mappings[i - 1].as == mapping.as) {
      return cannot_start(options, fmt::format("descriptor {} is given twice", mapping.as));
    }
  }
  return mappings;
}

// The child's variables; with `listen`, LISTEN_PID is the last and has room for the digits.
std::vector<std::string> environment_of(const SpawnOptions& options) {
  if (options.listen.empty()) return options.environment;
  std::vector<std::string> environment;
  for (const std::string& variable : options.environment) {
    if (!sets(variable, "LISTEN_PID") && !sets(variable, "LISTEN_FDS") &&
        !sets(variable, "LISTEN_FDNAMES")) {
      environment.push_back(variable);
    }
  }
  std::vector<std::string_view> names;
  for (const ListenFd& socket : options.listen) names.push_back(socket.name);
  environment.push_back(fmt::format("LISTEN_FDS={}", options.listen.size()));
  environment.push_back(fmt::format("LISTEN_FDNAMES={}", fmt::join(names, ":")));
  environment.push_back(std::string(kListenPid) + std::string(kPidDigits, '\0'));
  return environment;
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) {
    // execve() takes pointers to non-const for historical reasons and changes nothing.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    pointers.push_back(const_cast<char*>(string.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

base::Result<> check_strings(const SpawnOptions& options) {
  if (options.argv.empty() || options.argv[0].empty()) {
    return base::invalid_argument("cannot start a program without a name");
  }
  std::size_t bytes = 0;
  for (const auto* strings : {&options.argv, &options.environment}) {
    for (const std::string& string : *strings) {
      if (string.find('\0') != std::string::npos) {
        return cannot_start(options, "an argument or variable holds a zero byte");
      }
      bytes += string.size() + 1 + sizeof(char*);
    }
  }
  if (bytes > kMaxArgumentBytes) {
    return cannot_start(
        options, fmt::format("its arguments and environment take {} bytes, the limit is {}", bytes,
                             kMaxArgumentBytes));
  }
  for (const ListenFd& socket : options.listen) {
    if (socket.name.find(':') != std::string::npos) {
      return cannot_start(options, fmt::format("the socket name '{}' has a colon", socket.name));
    }
  }
  return {};
}

base::Result<std::unique_ptr<Prepared>> prepare(const SpawnOptions& options) {
  GANGRUN_TRY(check_strings(options));
  auto prepared = std::make_unique<Prepared>();
  GANGRUN_ASSIGN(prepared->mappings, mappings_of(options));
  prepared->environment = environment_of(options);
  prepared->programs = programs_to_try(options);
  prepared->argv_pointers = pointers_to(options.argv);
  prepared->environment_pointers = pointers_to(prepared->environment);
  for (const std::string& program : prepared->programs) {
    prepared->program_pointers.push_back(program.c_str());
  }
  prepared->program_pointers.push_back(nullptr);
  Plan& plan = prepared->plan;
  plan.argv = prepared->argv_pointers.data();
  plan.environment = prepared->environment_pointers.data();
  plan.programs = prepared->program_pointers.data();
  if (!options.working_folder.empty()) plan.working_folder = options.working_folder.c_str();
  plan.mappings = prepared->mappings.data();
  plan.mapping_count = static_cast<int>(prepared->mappings.size());
  plan.new_group = static_cast<int>(options.new_group);
  plan.takes_terminal = options.takes_terminal;
  plan.parent_death_signal = options.parent_death_signal;
  plan.parent = ::getpid();
  plan.cgroup_procs_fd = options.cgroup_procs_fd;
  plan.open_files = open_file_limit_of_children();
  if (!options.listen.empty()) {
    plan.listen_pid_digits = prepared->environment.back().data() + kListenPid.size();
  }
  return prepared;
}

// `path` as the child would see it from its working folder.
std::string from_folder(const SpawnOptions& options, const std::string& path) {
  if (path.starts_with('/') || options.working_folder.empty()) return path;
  return fmt::format("{}/{}", options.working_folder, path);
}

// A script's first line behind its "#!", "" where there is none.
std::string first_line_of(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 256> start{};
  const ssize_t got = fd.valid() ? ::read(fd.get(), start.data(), start.size()) : 0;
  if (got < 2) return "";
  std::string_view text(start.data(), static_cast<std::size_t>(got));
  if (!text.starts_with("#!")) return "";
  std::string_view line = text.substr(2, text.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line);
}

// With the carriage return that the kernel takes for a part of the name, where an editor of Windows
// has written it.
std::string interpreter_of(std::string_view first_line) {
  return std::string(first_line.substr(0, first_line.find_first_of(" \t")));
}

base::Error written_by_windows(const SpawnOptions& options, const std::string& path) {
  return base::not_found(
      fmt::format("cannot start {}: the first line of {} ends with a carriage return, as Windows "
                  "writes lines; take them out by: sed -i 's/\\r$//' {}",
                  options.argv[0], path, base::shell_quote(path)));
}

// A script for `env` that an editor of Windows has written: env is started, and looks for a program
// whose name ends with a carriage return. Others get it as an argument, which Perl takes.
std::optional<base::Error> error_of_env(const SpawnOptions& options, const Prepared& prepared) {
  for (const std::string& program : prepared.programs) {
    const std::string path = from_folder(options, program);
    if (::access(path.c_str(), X_OK) != 0) continue;
    const std::string line = first_line_of(path);
    const bool is_env = interpreter_of(line).ends_with("/env");
    if (is_env && line.ends_with('\r')) return written_by_windows(options, path);
    break;
  }
  return std::nullopt;
}

base::Error exec_error(const SpawnOptions& options, const Prepared& prepared) {
  const int error_number = prepared.plan.error_number;
  const std::string attempted = fmt::format("cannot start {}", options.argv[0]);
  for (const std::string& program : prepared.programs) {
    const std::string path = from_folder(options, program);
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      return {base::Code::kPermissionDenied, fmt::format("{}: {} is a folder", attempted, path)};
    }
    if (error_number == ENOENT) {
      const std::string interpreter = interpreter_of(first_line_of(path));
      if (interpreter.ends_with('\r')) return written_by_windows(options, path);
      return base::not_found(fmt::format(
          "{}: the interpreter that {} needs{} does not exist", attempted, path,
          interpreter.empty() ? "" : fmt::format(", {},", base::shell_quote(interpreter))));
    }
    if (error_number == EACCES) {
      return {base::Code::kPermissionDenied,
              fmt::format("{}: {} is not executable for this user{}", attempted, path,
                          start_hint(options.argv[0], options.working_folder))};
    }
    if (error_number == ENOEXEC) {
      return base::invalid_argument(fmt::format(
          "{}: {} is neither a program for this machine nor a script whose first line starts "
          "with #!",
          attempted, path));
    }
    break;
  }
  if (error_number == ENOENT && options.argv[0].find('/') == std::string::npos) {
    return base::not_found(fmt::format("{}: it is in none of the folders of PATH ({}){}", attempted,
                                       path_of(options.environment),
                                       start_hint(options.argv[0], options.working_folder)));
  }
  return base::from_errno(error_number, attempted);
}

base::Error failure_of(const SpawnOptions& options, const Prepared& prepared) {
  const Plan& plan = prepared.plan;
  const auto with = [&](std::string_view what) {
    return base::from_errno(plan.error_number,
                            fmt::format("cannot start {}: {}", options.argv[0], what));
  };
  switch (plan.failed) {
    case Step::kParentDied:
      return {base::Code::kCancelled,
              fmt::format("cannot start {}: its parent has ended", options.argv[0])};
    case Step::kGroup: return with("cannot make a process group");
    case Step::kParentDeathSignal: return with("cannot ask for a signal at the parent's death");
    case Step::kCgroup: return with("cannot enter its cgroup");
    case Step::kFolder: {
      // The program may well be there.
      base::Error error =
          with(fmt::format("cannot enter the working folder {}", options.working_folder));
      if (error.code == base::Code::kNotFound) error.code = base::Code::kFailedPrecondition;
      return error;
    }
    case Step::kNull: return with("cannot open /dev/null");
    case Step::kDescriptors: return with("cannot pass its descriptors on");
    case Step::kTerminal: return with("cannot take its terminal");
    case Step::kExec:
    case Step::kNone: break;
  }
  return exec_error(options, prepared);
}

#ifdef __SANITIZE_THREAD__
// The sanitizer's own clone() takes the child for a fork: what it notes of the child's thread it
// would note of ours, whose memory it is. The C library has it by this name too.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept;
constexpr auto* kClone = &__clone;
#else
constexpr auto* kClone = &::clone;
#endif

// Starts the child on a stack of its own in our memory and returns when it has called exec or
// ended.
pid_t clone_child(Plan& plan, int& pidfd) {
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  constexpr std::size_t kAlignment = 16;
  std::byte* top = stack.get() + kStackBytes;
  top -= reinterpret_cast<std::uintptr_t>(top) % kAlignment;
  // No handler of ours may run in the child while it shares our memory.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int flags = CLONE_VM | CLONE_VFORK | SIGCHLD | (has_pidfds() ? CLONE_PIDFD : 0);
  const pid_t pid = kClone(spawn_child::run, top, flags, &plan, &pidfd, nullptr, nullptr);
  const int error_number = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error_number;
  return pid;
}

constexpr std::pair<const char*, const char*> kInterpreters[] = {{".py", "python3"},
                                                                 {".sh", "bash"}};

}  // namespace

std::vector<std::string> inherited_environment() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return environment;
}

base::Result<Child> spawn(const SpawnOptions& options) {
  GANGRUN_ASSIGN(const auto prepared, prepare(options));
  if (auto error = error_of_env(options, *prepared)) return *std::move(error);
  int raw_pidfd = -1;
  const pid_t pid = clone_child(prepared->plan, raw_pidfd);
  if (pid < 0) return base::from_errno(errno, fmt::format("cannot start {}", options.argv[0]));
  base::UniqueFd pidfd(raw_pidfd);
  if (prepared->plan.failed != Step::kNone) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return failure_of(options, *prepared);
  }
  ProcessHandle handle =
      has_pidfds() ? ProcessHandle(pid, std::move(pidfd)) : ProcessHandle::open(pid);
  if (!handle.valid()) {
    // Nobody could watch it.
    const int error_number = errno;
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return base::from_errno(error_number, fmt::format("cannot watch {}", options.argv[0]));
  }
  return Child(pid, std::move(handle));
}

std::string start_hint(const std::string& program, const std::string& folder) {
  const bool is_whole = folder.empty() || program.starts_with('/');
  const std::string path = is_whole ? program : folder + "/" + program;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const std::string name = base::shell_quote(program);
  if (::access(path.c_str(), X_OK) == 0) {
    return program.find('/') == std::string::npos ? "; use ./" + name : std::string();
  }
  for (const auto& [ending, interpreter] : kInterpreters) {
    if (program.ends_with(ending)) return std::string("; use ") + interpreter + " " + name;
  }
  return {};
}

}  // namespace gangrun::process
