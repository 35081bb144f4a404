#include "agent/exec_helper.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include "agent/frame_pipe.h"
#include "base/json.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "net/tunnel_flow.h"
#include "process/child.h"
#include "process/containment.h"
#include "process/first_process.h"
#include "process/pipe.h"
#include "process/pseudo_terminal.h"
#include "process/spawn.h"

// The way of the bytes: the user's terminal or pipes, a WebSocket to the agent, two pipes to this
// process, and from here a terminal or three pipes to the command. The windows of TunnelFlow hold
// from end to end, so that none between them has to keep more than a window.
namespace gangrun::agent {

namespace {

using wire::ExecFrame;
using wire::ExecStream;

// A process that survives that long is in the kernel's hands.
constexpr std::chrono::seconds kMaxKilling(5);
// A survivor may keep the output open; then its end is not waited for.
constexpr std::chrono::seconds kMaxDraining(5);
// As shells have them.
constexpr int kNotFound = 127;
constexpr int kNotStarted = 126;
constexpr std::size_t kMaxStartBytes = std::size_t{8} << 20U;
constexpr std::string_view kShellVariable = "SHELL=";
constexpr const char* kShell = "/bin/sh";

class Beside {
 public:
  Beside(net::EventLoop& loop, const process::Containment& containment)
      : loop_(loop),
        containment_(containment),
        pipe_(loop, base::UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
              base::UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)),
              {.on_frame = [this](std::string_view frame) { on_frame(frame); },
               .on_end = [this](const base::Result<>&) { loop_.stop(); }}) {}

  void reap_orphans() const {
    std::vector<pid_t> own;
    if (child_ && !child_->reaped()) own.push_back(child_->pid());
    containment_.reap_orphans(own);
  }
  void kill_rest() { (void)containment_.kill_all(loop_.now() + kMaxKilling, {}); }

 private:
  // One output of the command.
  struct Output {
    ExecStream which;
    net::TunnelFlow flow{};
    base::UniqueFd fd{};
    net::Watch readable{};
  };

  void on_frame(std::string_view frame);
  base::Result<> begin(const ExecStart& start);
  base::Result<> open_terminal(const wire::ExecWindow& window, process::SpawnOptions& options);
  base::Result<> open_pipes(process::SpawnOptions& options);
  void on_flow(const wire::ExecFlow& flow);
  void read_on(Output& output);
  void on_readable(Output& output);
  void end_output(Output& output);
  void write_input();
  void tell_taken(std::size_t bytes);
  void pass_on(int signal);
  void on_child_ended();
  void drain();
  void look_for_end();
  void tell_exit(wire::ExecExit exit);

  Output& output(ExecStream which) { return which == ExecStream::kMain ? main_ : errors_; }

  net::EventLoop& loop_;
  const process::Containment& containment_;
  Output main_{.which = ExecStream::kMain};
  Output errors_{.which = ExecStream::kErrors};
  base::UniqueFd input_;
  std::string in_bytes_;  // for it
  bool has_terminal_ = false;
  bool has_begun_ = false;
  bool has_told_exit_ = false;
  std::string buffer_;
  std::vector<base::UniqueFd> ends_of_child_;  // until it has been started
  std::optional<process::Child> child_;
  std::optional<int> status_;
  net::Watch input_writable_;
  net::Watch child_ended_;
  net::Timer drain_limit_;
  FramePipe pipe_;  // its callbacks use the others
};

void Beside::on_frame(std::string_view frame) {
  if (!has_begun_) {
    has_begun_ = true;
    const auto json = base::parse_json(frame, kMaxStartBytes);
    const auto start =
        json.ok() ? base::from_json<ExecStart>(*json) : base::Result<ExecStart>(json.error());
    const auto begun = start.ok() ? begin(*start) : base::Result<>(start.error());
    if (begun.ok()) return;
    const bool is_absent = begun.error().code == base::Code::kNotFound;
    return tell_exit({is_absent ? kNotFound : kNotStarted, begun.error().message});
  }
  const auto parsed = wire::parse_exec_frame(frame);
  if (!parsed.ok()) return loop_.stop();
  std::visit(base::Overloaded{
                 [this](const wire::ExecFlow& flow) { on_flow(flow); },
                 [this](const wire::ExecWindow& window) {
                   if (has_terminal_ && main_.fd.valid()) {
                     process::set_window(main_.fd.get(), window.rows, window.columns);
                   }
                 },
                 [this](const wire::ExecSignal& signal) { pass_on(signal.number); },
                 // It is said once, and by us.
                 [](const wire::ExecBegin&) {},
                 [](const wire::ExecExit&) {},
             },
             *parsed);
}

base::Result<> Beside::begin(const ExecStart& start) {
  process::SpawnOptions options;
  options.environment = start.environment;
  if (!start.begin.term.empty()) options.environment.push_back("TERM=" + start.begin.term);
  if (start.adds_environment) {
    std::string added;
    for (const std::string& variable : options.environment) added += variable + '\0';
    options.environment = process::merge_environment(process::inherited_environment(), added);
  }
  options.argv = command_or_shell(start.begin, options.environment);
  options.working_folder = start.folder;
  options.new_group = process::NewGroup::kSession;
  if (start.begin.terminal) {
    GANGRUN_TRY(open_terminal(*start.begin.terminal, options));
  } else {
    GANGRUN_TRY(open_pipes(options));
  }
  containment_.confine(options);
  auto child = process::spawn(options);
  ends_of_child_.clear();
  if (!child.ok()) return child.error();
  child_.emplace(*std::move(child));
  child_ended_ = loop_.watch_readable(child_->end_fd(), [this] { on_child_ended(); });
  read_on(main_);
  if (has_terminal_) {
    end_output(errors_);
  } else {
    read_on(errors_);
  }
  return {};
}

base::Result<> Beside::open_terminal(const wire::ExecWindow& window,
                                     process::SpawnOptions& options) {
  GANGRUN_ASSIGN(auto terminal, process::open_pseudo_terminal(window.rows, window.columns));
  input_.reset(::fcntl(terminal.ours.get(), F_DUPFD_CLOEXEC, 3));
  main_.fd = std::move(terminal.ours);
  has_terminal_ = true;
  options.takes_terminal = true;
  const int theirs = terminal.theirs.get();
  options.standard_input = theirs;
  options.standard_output = theirs;
  options.standard_error = theirs;
  ends_of_child_.push_back(std::move(terminal.theirs));
  return {};
}

base::Result<> Beside::open_pipes(process::SpawnOptions& options) {
  GANGRUN_ASSIGN(process::Pipe in, process::make_pipe());
  GANGRUN_ASSIGN(process::Pipe out, process::make_pipe());
  GANGRUN_ASSIGN(process::Pipe err, process::make_pipe());
  options.standard_input = in.read.get();
  options.standard_output = out.write.get();
  options.standard_error = err.write.get();
  input_ = std::move(in.write);
  main_.fd = std::move(out.read);
  errors_.fd = std::move(err.read);
  for (const int fd : {input_.get(), main_.fd.get(), errors_.fd.get()}) {
    process::set_non_blocking(fd);
  }
  ends_of_child_.push_back(std::move(in.read));
  ends_of_child_.push_back(std::move(out.write));
  ends_of_child_.push_back(std::move(err.write));
  return {};
}

void Beside::on_flow(const wire::ExecFlow& flow) {
  Output& stream = output(flow.stream);
  const auto message = stream.flow.on_message(flow.message);
  if (!message.ok()) return loop_.stop();
  const bool is_main = flow.stream == ExecStream::kMain;
  std::visit(base::Overloaded{
                 [&](const net::TunnelData& data) {
                   if (is_main) in_bytes_ += data.bytes;
                 },
                 [&](const net::TunnelTaken&) { read_on(stream); },
                 [](const net::TunnelEnd&) {},
                 [](const net::TunnelOpened&) {},
             },
             *message);
  if (is_main) write_input();
}

void Beside::read_on(Output& output) {
  if (!output.fd.valid() || output.flow.may_send() == 0) return output.readable.reset();
  if (output.readable.active()) return;
  output.readable = loop_.watch_readable(output.fd.get(), [this, &output] { on_readable(output); });
}

// A terminal that no process has open any more is an error to read.
void Beside::on_readable(Output& output) {
  buffer_.resize(output.flow.may_send());
  const ssize_t got = ::read(output.fd.get(), buffer_.data(), buffer_.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end_output(output);
  const std::string data =
      output.flow.data(std::string_view(buffer_).substr(0, static_cast<std::size_t>(got)));
  pipe_.send(to_frame(wire::ExecFlow{output.which, data}));
  read_on(output);
}

void Beside::end_output(Output& output) {
  output.readable.reset();
  output.fd.reset();
  if (output.flow.has_ended()) return;
  const std::string end = output.flow.end();
  pipe_.send(to_frame(wire::ExecFlow{output.which, end}));
  look_for_end();
}

// Input that the command does not read any more is taken all the same, as from a pipe that it has
// closed.
void Beside::write_input() {
  std::size_t written = 0;
  while (!in_bytes_.empty()) {
    const ssize_t size =
        input_.valid() ? ::write(input_.get(), in_bytes_.data(), in_bytes_.size()) : -1;
    if (size >= 0) {
      in_bytes_.erase(0, static_cast<std::size_t>(size));
      written += static_cast<std::size_t>(size);
    } else if (input_.valid() && errno == EAGAIN) {
      if (!input_writable_.active()) {
        input_writable_ = loop_.watch_writable(input_.get(), [this] { write_input(); });
      }
      return tell_taken(written);
    } else if (!input_.valid() || errno != EINTR) {
      written += in_bytes_.size();
      in_bytes_.clear();
      input_writable_.reset();
      input_.reset();
    }
  }
  input_writable_.reset();
  tell_taken(written);
  if (main_.flow.other_has_ended()) input_.reset();
}

void Beside::tell_taken(std::size_t bytes) {
  if (const auto taken = main_.flow.taken(bytes)) {
    pipe_.send(to_frame(wire::ExecFlow{ExecStream::kMain, *taken}));
  }
}

// As a terminal does it: to whom it is in the hands of; without one, to all that has stayed with
// the command.
void Beside::pass_on(int signal) {
  if (!child_ || child_->reaped()) return;
  const pid_t group = has_terminal_ && main_.fd.valid() ? ::tcgetpgrp(main_.fd.get()) : -1;
  if (group > 1) {
    (void)::kill(-group, signal);
  } else {
    (void)child_->signal_group(signal);
  }
}

void Beside::on_child_ended() {
  const auto exit = child_->reap();
  if (exit.ok() && !*exit) return;
  child_ended_.reset();
  status_ = exit.ok() ? (*exit)->shell_status() : 1;
  input_.reset();
  kill_rest();
  drain();
  look_for_end();
}

void Beside::drain() {
  drain_limit_ = loop_.after(kMaxDraining, [this] {
    for (Output* output : {&main_, &errors_}) {
      // An output that the user's side does not take is still to come.
      if (output->flow.may_send() > 0) end_output(*output);
    }
    drain();
  });
}

void Beside::look_for_end() {
  if (status_ && main_.flow.has_ended() && errors_.flow.has_ended()) tell_exit({*status_, ""});
}

void Beside::tell_exit(wire::ExecExit exit) {
  if (std::exchange(has_told_exit_, true)) return;
  drain_limit_.reset();
  pipe_.send(to_frame(std::move(exit)));
  pipe_.when_sent([this] { loop_.stop(); });
}

}  // namespace

std::vector<std::string> command_or_shell(const wire::ExecBegin& begin,
                                          const std::vector<std::string>& environment) {
  if (!begin.command.empty()) return begin.command;
  for (const std::string& variable : environment) {
    if (!variable.starts_with(kShellVariable)) continue;
    std::string shell = variable.substr(kShellVariable.size());
    if (shell.starts_with('/') && ::access(shell.c_str(), X_OK) == 0) return {std::move(shell)};
  }
  return {kShell};
}

int run_exec_helper(std::string_view where) {
  const auto logger = base::stderr_logger("gangrun-agent beside", base::LogLevel::kInfo);
  const auto fail = [&logger](const base::Error& error) {
    logger->error("{}", error.message);
    return 1;
  };
  // In a container the process that starts this one is outside.
  const auto containment = process::contain({.level = process::Level::kSubreaper,
                                             .name = "beside",
                                             .die_with_parent = where == kBesideAgent});
  if (!containment.ok()) return fail(containment.error());
  net::EventLoop loop;
  Beside beside(loop, *containment);
  const auto orphans =
      loop.watch_signals({SIGCHLD}, [&beside](int /*number*/) { beside.reap_orphans(); });
  if (!orphans.ok()) return fail(orphans.error());
  const auto guardian = loop.watch_readable(containment->guardian_gone_fd(), [&] { loop.stop(); });
  loop.run();
  beside.kill_rest();
  return 0;
}

}  // namespace gangrun::agent
