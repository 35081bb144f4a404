#include "agent/stacks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <future>
#include <iterator>
#include <utility>

#include "agent/image_run.h"
#include "base/described_json.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "cluster/question.h"
#include "process/engine.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "process/stack_look.h"

namespace gangrun::agent {

namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";
// The limit for the processes of a task, or of a container of it; only the first ones are examined.
constexpr std::size_t kMaxProcesses = 64;
// The argument before an engine and the names of its containers, in place of processes.
constexpr std::string_view kInContainers = "in";
constexpr pid_t kFirstProcess = 1;  // of a container, which is ours
// The time that a looking process, or an engine, may take to start and to hand on what it has seen.
constexpr std::chrono::seconds kAllowance(1);

std::chrono::milliseconds without_allowance(std::chrono::milliseconds limit) {
  return std::max({limit - kAllowance, limit / 2, std::chrono::milliseconds(1)});
}

void drop_texts(process::StackLook& look) {
  look.python.clear();
  look.native.clear();
  look.kernel.clear();
  look.trouble = "the stacks of the task's processes are too long together";
}

using Looks = process::StackLooks<>;

// Beside each other: one that hangs takes its own time only.
Looks looks_at(std::vector<pid_t> pids, base::Instant deadline) {
  Looks seen;
  if (pids.size() > kMaxProcesses) {
    seen.not_shown = static_cast<int>(pids.size() - kMaxProcesses);
    pids.resize(kMaxProcesses);
  }
  std::vector<std::future<process::StackLook>> looks;
  looks.reserve(pids.size());
  for (const pid_t pid : pids) {
    looks.push_back(std::async(std::launch::async, process::look_at_stack, pid, deadline));
  }
  for (auto& look : looks) seen.processes.push_back(look.get());
  return seen;
}

// Ends before `limit`, as the engine takes time to start it and to hand on what it says; of a short
// limit it has half.
base::Result<Looks> look_inside(const std::string& engine, const std::string& container,
                                std::chrono::milliseconds limit) {
  const process::EngineQuestion question{
      .argv = {engine, "exec", container, std::string(kFirstProgram), std::string(kLookCommand),
               std::to_string(without_allowance(limit).count())},
      .max_bytes = cluster::kMaxSaidBytes};
  GANGRUN_ASSIGN(const auto answer,
                 process::ask(question, std::chrono::steady_clock::now() + limit));
  if (answer.status != 0) {
    return base::unavailable(base::their_words(base::trim(answer.output)));
  }
  GANGRUN_ASSIGN(const auto json, base::parse_json(answer.output, cluster::kMaxSaidBytes));
  return base::from_json<Looks>(json);
}

// A container that cannot be examined is told as if it were a process.
Looks looks_inside(const std::string& engine, const std::vector<std::string>& containers,
                   std::chrono::milliseconds limit) {
  std::vector<std::future<base::Result<Looks>>> looks;
  looks.reserve(containers.size());
  for (const std::string& container : containers) {
    looks.push_back(std::async(std::launch::async, look_inside, engine, container, limit));
  }
  Looks seen;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    auto inside = looks[i].get();
    if (!inside.ok()) {
      inside = Looks{{{.name = containers[i], .trouble = inside.error().message}}};
    }
    std::ranges::move(inside->processes, std::back_inserter(seen.processes));
    seen.not_shown += inside->not_shown;
  }
  return seen;
}

}  // namespace

void Stacks::look(std::chrono::milliseconds limit, Reply reply) {
  if (look_) {
    return reply(base::unavailable("somebody else looks at its stacks now"));
  }
  const std::vector<pid_t> pids = processes_();
  if (pids.empty()) {
    return reply(base::Error{base::Code::kFailedPrecondition, "no process of it runs"});
  }
  auto pipe = process::make_pipe();
  if (!pipe.ok()) return reply(pipe.error());
  process::SpawnOptions options;
  const std::chrono::milliseconds own = without_allowance(limit);
  options.argv = {kOwnProgram, std::string(kLookCommand), std::to_string(own.count())};
  if (const auto& containers = containment_.containers(); !containers.empty()) {
    // The engine's clients are all that runs here.
    options.argv.insert(options.argv.end(), {std::string(kInContainers), containers.engine});
    std::ranges::copy(containers.names, std::back_inserter(options.argv));
  } else {
    for (const pid_t pid : pids) options.argv.push_back(std::to_string(pid));
  }
  options.environment = process::inherited_environment();
  options.standard_output = pipe->write.get();
  containment_.confine(options);
  auto child = process::spawn(options);
  if (!child.ok()) return reply(child.error());
  look_.emplace(Look{*std::move(child), std::move(pipe->read), std::move(reply)});
  look_->readable = loop_.watch_readable(look_->output.get(), [this] { read(); });
  // Before whoever asks gives up, so that he learns the reason.
  look_->limit = loop_.after((own + limit) / 2, [this] {
    finish(base::deadline_exceeded("the look at its processes takes too long"));
  });
}

std::vector<pid_t> Stacks::own_children() const {
  if (!look_) return {};
  return {look_->child.pid()};
}

void Stacks::read() {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(look_->output.get(), buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got > 0 && look_->text.size() < cluster::kMaxSaidBytes) {
    look_->text.append(buffer.data(), static_cast<std::size_t>(got));
    return;
  }
  finish(base::parse_json(look_->text, cluster::kMaxSaidBytes).context("what was seen"));
}

void Stacks::finish(base::Result<base::Json> said) {
  Reply reply = std::move(look_->reply);
  end();
  reply(std::move(said));
}

// It may wait in the kernel for the process that it looks at: nobody waits for it then, and whoever
// reaps orphans reaps it.
void Stacks::end() {
  if (!look_) return;
  (void)look_->child.signal_group(SIGKILL);
  (void)look_->child.reap();
  look_.reset();
}

int run_look(const std::vector<std::string>& arguments) {
  const auto limit = arguments.empty() ? std::nullopt : base::parse_integer(arguments[0]);
  if (!limit || *limit <= 0) return 2;
  const std::chrono::milliseconds time(*limit);
  Looks seen;
  if (arguments.size() > 3 && arguments[1] == kInContainers) {
    seen = looks_inside(arguments[2], {arguments.begin() + 3, arguments.end()}, time);
  } else {
    std::vector<pid_t> pids;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      const auto pid = base::parse_integer(arguments[i]);
      if (!pid || *pid <= 0) return 2;
      pids.push_back(static_cast<pid_t>(*pid));
    }
    if (pids.empty()) pids = process::descendants_of(kFirstProcess);
    seen = looks_at(std::move(pids), std::chrono::steady_clock::now() + time);
  }
  std::size_t bytes = 0;
  for (process::StackLook& look : seen.processes) {
    bytes += base::dump_json(base::to_json(look)).size();
    if (bytes > cluster::kMaxSaidBytes / 2) drop_texts(look);
  }
  std::fputs(base::dump_json(base::to_json(seen)).c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gangrun::agent
