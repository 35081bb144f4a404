#include "process/engine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "process/pipe.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

constexpr std::array<std::string_view, 2> kEngines{"docker", "podman"};
constexpr std::string_view kEnginePath = "/usr/local/bin:/usr/bin:/bin";
// The beginning of an answer is kept. A program that writes more is heard to its end, as it may be
// done then; one that has none is ended.
constexpr std::size_t kMaxHeardBytes = std::size_t{4} << 20U;
// Between two looks at what the engine is still busy with.
constexpr std::chrono::milliseconds kLookAgain(100);
// The time that a client which was killed may take to be gone.
constexpr base::seconds kKilled(5);

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string in_folders(std::string_view name, std::string_view path) {
  for (const std::string& folder : base::split(path, ':')) {
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && is_program(candidate)) return candidate;
  }
  return {};
}

struct Heard {
  std::string beginning;
  std::size_t bytes = 0;
};

// False: no more will come.
bool hear_some(int fd, std::size_t max_bytes, Heard& heard) {
  std::array<char, 16384> part{};
  const ssize_t got = ::read(fd, part.data(), part.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  const auto size = static_cast<std::size_t>(got);
  heard.bytes += size;
  heard.beginning.append(part.data(), std::min(size, max_bytes - heard.beginning.size()));
  return true;
}

// Until the end of the output, or of the program where something that it has started keeps its
// output open; until the deadline, or `is_over`.
Heard hear(int fd, Child& child, std::size_t max_bytes, base::Instant deadline,
           const std::function<bool()>& is_over) {
  Heard heard;
  while (heard.bytes <= kMaxHeardBytes && std::chrono::steady_clock::now() < deadline) {
    const base::Instant look = std::chrono::steady_clock::now() + kLookAgain;
    if (wait_readable(fd, std::min(deadline, look))) {
      if (!hear_some(fd, max_bytes, heard)) break;
      continue;
    }
    if (is_over && is_over()) break;
    const auto ended = child.reap();
    if (!ended.ok() || !ended->has_value()) continue;
    // Between the two looks it may have written the whole of its answer.
    const base::Instant now = std::chrono::steady_clock::now();
    while (heard.bytes <= kMaxHeardBytes && wait_readable(fd, now) &&
           hear_some(fd, max_bytes, heard)) {
    }
    break;
  }
  return heard;
}

// For errors.
std::string first_words(const std::vector<std::string>& argv) {
  const auto count = std::min<std::ptrdiff_t>(2, std::ssize(argv));
  return fmt::format("{}", fmt::join(argv.begin(), argv.begin() + count, " "));
}

}  // namespace

base::Result<std::string> find_engine(const std::string& wanted, std::string_view path) {
  if (path.empty()) path = kEnginePath;
  if (wanted.find('/') != std::string::npos) {
    if (is_program(wanted)) return wanted;
    return base::not_found(
        fmt::format("{}: '{}' is not a program that this user can run", kEngineVariable, wanted));
  }
  for (const std::string_view name : kEngines) {
    std::string found = in_folders(wanted.empty() ? name : wanted, path);
    if (!found.empty()) return found;
  }
  if (!wanted.empty()) {
    return base::not_found(fmt::format("{}: '{}' is in none of the folders of PATH ({})",
                                       kEngineVariable, wanted, path));
  }
  return base::not_found(fmt::format(
      "there is no container engine: neither docker nor podman is in the folders of PATH ({})",
      path));
}

std::vector<std::string> removal_argv(const EngineContainers& containers) {
  std::vector<std::string> argv{containers.engine, "rm", "--force", "--volumes"};
  argv.insert(argv.end(), containers.names.begin(), containers.names.end());
  return argv;
}

bool says_absent(std::string_view output) {
  bool said = false;
  for (const std::string& line : base::split(base::in_small_letters(output), '\n')) {
    if (base::trim(line).empty()) continue;
    if (line.find("no such container") == std::string::npos &&
        line.find("no container with") == std::string::npos) {
      return false;
    }
    said = true;
  }
  return said;
}

base::Result<EngineAnswer> ask(const std::vector<std::string>& argv, base::Instant deadline,
                               const std::function<bool()>& is_over) {
  return ask(EngineQuestion{.argv = argv}, deadline, is_over);
}

base::Result<EngineAnswer> ask(const EngineQuestion& question, base::Instant deadline,
                               const std::function<bool()>& is_over) {
  const std::vector<std::string>& argv = question.argv;
  GANGRUN_ASSIGN(Pipe pipe, make_pipe());
  SpawnOptions options;
  options.argv = argv;
  options.environment = question.environment;  // of a repeated name a program finds the first
  for (std::string& variable : inherited_environment()) {
    options.environment.push_back(std::move(variable));
  }
  options.standard_output = pipe.write.get();
  options.standard_error = question.shows_errors ? STDERR_FILENO : pipe.write.get();
  GANGRUN_ASSIGN(Child child, spawn(options));
  pipe.write.reset();
  EngineAnswer answer;
  Heard heard = hear(pipe.read.get(), child, question.max_bytes, deadline, is_over);
  if (heard.bytes > kMaxHeardBytes) {
    child.end_group(kKilled);
    return base::Error{base::Code::kResourceExhausted,
                       fmt::format("{} wrote more than {} MiB, and was ended", first_words(argv),
                                   kMaxHeardBytes >> 20U)};
  }
  answer.output = std::move(heard.beginning);
  const bool is_unwanted = is_over && is_over();
  auto ended = child.wait(is_unwanted ? std::chrono::steady_clock::now() : deadline);
  if (!ended.ok()) {
    child.end_group(kKilled);
    return base::deadline_exceeded(fmt::format("{} did not answer in time", first_words(argv)));
  }
  answer.status = ended->shell_status();
  return answer;
}

base::Result<> remove_containers(const EngineContainers& containers, base::Duration settling,
                                 base::Instant deadline) {
  if (containers.empty()) return {};
  const base::Instant settled = std::chrono::steady_clock::now() + settling;
  while (true) {
    const auto answer = ask(removal_argv(containers), deadline);
    const std::string what =
        fmt::format("the containers {} are not removed", fmt::join(containers.names, ", "));
    if (!answer.ok()) return base::Error{answer.error().code, what + ": " + answer.error().message};
    const bool gone = answer->status == 0 || says_absent(answer->output);
    const base::Instant now = std::chrono::steady_clock::now();
    if (gone && now >= settled) return {};
    if (now >= deadline) {
      return base::deadline_exceeded(
          fmt::format("{}: {}", what, base::their_words(base::trim(answer->output))));
    }
    (void)wait_any_readable({}, now + kLookAgain);
  }
}

}  // namespace gangrun::process
