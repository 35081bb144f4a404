#include "agent/stacks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <future>
#include <utility>

#include "base/described_json.h"
#include "base/format.h"
#include "base/strings.h"
#include "cluster/question.h"
#include "process/pipe.h"
#include "process/spawn.h"
#include "process/stack_look.h"

namespace gangrun::agent {

namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";
// The limit for the processes of a task; only the first ones are examined.
constexpr std::size_t kMaxProcesses = 64;
// The time that the looking process may take to start and to write, beyond the limit of a look.
constexpr std::chrono::seconds kAllowance(1);

void drop_texts(process::StackLook& look) {
  look.python.clear();
  look.native.clear();
  look.kernel.clear();
  look.trouble = "the stacks of the task's processes are too long together";
}

}  // namespace

void Stacks::look(std::chrono::milliseconds limit, Reply reply) {
  if (look_) {
    return reply(base::unavailable("somebody else looks at its stacks now"));
  }
  std::vector<pid_t> pids = processes_();
  if (pids.empty()) {
    return reply(
        base::Error{base::Code::kFailedPrecondition, containment_.containers().names.empty()
                                                         ? "no process of it runs"
                                                         : "its processes are in containers"});
  }
  if (pids.size() > kMaxProcesses) pids.resize(kMaxProcesses);
  auto pipe = process::make_pipe();
  if (!pipe.ok()) return reply(pipe.error());
  process::SpawnOptions options;
  options.argv = {kOwnProgram, std::string(kLookCommand), std::to_string(limit.count())};
  for (const pid_t pid : pids) options.argv.push_back(std::to_string(pid));
  options.environment = process::inherited_environment();
  options.standard_output = pipe->write.get();
  containment_.confine(options);
  auto child = process::spawn(options);
  if (!child.ok()) return reply(child.error());
  look_.emplace(Look{*std::move(child), std::move(pipe->read), std::move(reply)});
  look_->readable = loop_.watch_readable(look_->output.get(), [this] { read(); });
  look_->limit = loop_.after(limit + kAllowance, [this] {
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
  if (!limit || *limit <= 0 || arguments.size() < 2) return 2;
  const base::Instant deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(*limit);
  // Beside each other: one that hangs takes its own time only.
  std::vector<std::future<process::StackLook>> looks;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto pid = base::parse_integer(arguments[i]);
    if (!pid || *pid <= 0) return 2;
    looks.push_back(
        std::async(std::launch::async, process::look_at_stack, static_cast<pid_t>(*pid), deadline));
  }
  std::vector<process::StackLook> seen;
  std::size_t bytes = 0;
  for (auto& look : looks) {
    seen.push_back(look.get());
    process::StackLook& last = seen.back();
    bytes += base::dump_json(base::to_json(last)).size();
    if (bytes > cluster::kMaxSaidBytes / 2) drop_texts(last);
  }
  base::Json processes = base::JsonOf<std::vector<process::StackLook>>::write(seen);
  std::fputs(base::dump_json({{"processes", std::move(processes)}}).c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gangrun::agent
