#include "client/exec.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/signal_status.h"
#include "client/fail.h"
#include "client/next_master.h"
#include "client/place.h"
#include "client/raw_terminal.h"
#include "client/report.h"
#include "client/sites.h"
#include "client/task_way.h"
#include "cluster/site.h"
#include "job/limits.h"
#include "net/channel.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/tunnel.h"
#include "net/tunnel_flow.h"
#include "wire/exec_frames.h"
#include "wire/paths.h"

namespace gangrun::client {

namespace {

using wire::ExecStream;

// As in programs that run another one: gangrun's own errors. All others are the command's, with 126
// and 127 where it could not be started.
constexpr auto kOwnTrouble = static_cast<ExitStatus>(125);
// A pipe that can be written takes so much without blocking.
constexpr std::size_t kPieceBytes = 4096;

base::Result<job::TaskId> task_of(const job::JobStatus& status, const std::string& name) {
  if (name.empty()) {
    if (status.tasks.size() == 1) return status.tasks.front().task;
    return base::invalid_argument(base::format("{} has {} tasks: name one of {}", status.id,
                                               status.tasks.size(), first_tasks(status)));
  }
  GANGRUN_ASSIGN(const job::TaskId wanted, job::parse_task_id(name));
  // A job whose state alone may be read names no tasks; the way to the task says why.
  if (status.tasks.empty()) return wanted;
  const auto found =
      std::ranges::find_if(status.tasks, [&](const auto& one) { return one.task == wanted; });
  if (found == status.tasks.end()) return no_such_task(status, name);
  if (!job::is_final(found->state)) return wanted;
  const std::string how =
      found->exit ? job::to_words(*found->exit) : std::string(job::to_string(found->state));
  return base::Error{base::Code::kFailedPrecondition, base::format("{} has ended: {}", name, how)};
}

base::Result<job::TaskId> find_task(cluster::Job& job, const std::string& name) {
  GANGRUN_ASSIGN(const job::JobStatus status, job.status());
  if (job::is_final(status.state)) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} has ended: {}", status.id, job::to_string(status.state))};
  }
  return task_of(status, name);
}

wire::ExecWindow window_of(int terminal) {
  wire::ExecWindow window;
  winsize size{};
  if (::ioctl(terminal, TIOCGWINSZ, &size) != 0) return window;
  if (size.ws_row > 0) window.rows = std::min<int>(size.ws_row, wire::kMaxWindowSide);
  if (size.ws_col > 0) window.columns = std::min<int>(size.ws_col, wire::kMaxWindowSide);
  return window;
}

// The user's side of a command beside a task: carries three descriptors to and from it. Never
// blocks for longer than a terminal takes what it is given.
class ExecSession {
 public:
  // `on_end` is called once, from the loop: with the command's end, or why none is known.
  ExecSession(net::EventLoop& loop, std::unique_ptr<net::Channel> channel,
              const wire::ExecBegin& begin,
              std::function<void(base::Result<wire::ExecExit>)> on_end)
      : loop_(loop),
        channel_(std::move(channel)),
        has_terminal_(begin.terminal.has_value()),
        on_end_(std::move(on_end)) {
    channel_->send(to_frame(begin));
    channel_->on_closed([this](const base::Error& reason) {
      // All was said by then.
      if (exit_) return;
      const auto why = channel_->farewell();
      if (!why) {
        return end(reason.context(
            "the command was ended, since the connection to the task's agent broke"));
      }
      // Else it was refused.
      const bool has_begun = reason.code == base::Code::kUnavailable;
      end(base::Error{reason.code, has_begun ? "the command was ended: " + *why : *why});
    });
    channel_->on_message([this](std::string_view message) { on_message(message); });
    read_on();
  }
  ExecSession(const ExecSession&) = delete;
  ExecSession& operator=(const ExecSession&) = delete;

  void signal(int number) { channel_->send(to_frame(wire::ExecSignal{number})); }
  void set_window(const wire::ExecWindow& window) { channel_->send(to_frame(window)); }

 private:
  struct Output {
    int fd;
    wire::ExecStream which;
    net::TunnelFlow flow{};
    std::string bytes{};  // that it has not taken
    bool is_broken = false;
    net::Watch writable{};
  };

  void on_message(std::string_view message) {
    if (const auto taken = on_frame(message); !taken.ok()) {
      end(taken.error().context("the task's agent says what is not understood"));
    }
  }

  base::Result<> on_frame(std::string_view message) {
    GANGRUN_ASSIGN(const auto frame, wire::parse_exec_frame(message));
    using Taken = base::Result<>;
    return std::visit(base::Overloaded{
                          [this](const wire::ExecFlow& flow) { return on_flow(flow); },
                          [this](const wire::ExecExit& exit) {
                            exit_ = exit;
                            look_for_end();
                            return Taken();
                          },
                          // Those are for the task's side.
                          [](const wire::ExecBegin&) { return Taken(); },
                          [](const wire::ExecWindow&) { return Taken(); },
                          [](const wire::ExecSignal&) { return Taken(); },
                      },
                      frame);
  }

  base::Result<> on_flow(const wire::ExecFlow& flow) {
    Output& output = flow.stream == ExecStream::kMain ? out_ : err_;
    GANGRUN_ASSIGN(const auto message, output.flow.on_message(flow.message));
    std::visit(base::Overloaded{
                   [&](const net::TunnelData& data) {
                     output.bytes += data.bytes;
                     write_on(output);
                   },
                   [&](const net::TunnelTaken&) { read_on(); },
                   [&](const net::TunnelEnd&) { tell_taken(output, 0); },
                   [](const net::TunnelOpened&) {},
               },
               message);
    return {};
  }

  // Input that may not be sent yet is left where it is.
  void read_on() {
    if (input_is_over_ || out_.flow.may_send() == 0) return readable_.reset();
    if (readable_.active()) return;
    readable_ = loop_.watch_readable(STDIN_FILENO, [this] { on_readable(); });
  }

  void on_readable() {
    buffer_.resize(out_.flow.may_send());
    const ssize_t got = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) {
      const std::string data =
          out_.flow.data(std::string_view(buffer_).substr(0, static_cast<std::size_t>(got)));
      channel_->send(to_frame(wire::ExecFlow{ExecStream::kMain, data}));
      return read_on();
    }
    input_is_over_ = true;
    readable_.reset();
    // A terminal that is gone.
    if (has_terminal_) return end(wire::ExecExit{base::kSignalStatus + SIGHUP});
    const std::string over = out_.flow.end();
    channel_->send(to_frame(wire::ExecFlow{ExecStream::kMain, over}));
  }

  void write_on(Output& output) {
    if (output.writable.active()) return;
    output.writable = loop_.watch_writable(output.fd, [this, &output] { write(output); });
  }

  void write(Output& output) {
    const std::size_t piece = std::min(output.bytes.size(), kPieceBytes);
    const ssize_t size = output.is_broken ? static_cast<ssize_t>(piece)
                                          : ::write(output.fd, output.bytes.data(), piece);
    if (size < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      output.is_broken = true;
      if (output.which != ExecStream::kMain) return;
      // As if the command itself had written where nobody reads.
      if (errno == EPIPE) return end(wire::ExecExit{base::kSignalStatus + SIGPIPE});
      return end(base::from_errno(errno, "the output is incomplete: writing standard output"));
    }
    output.bytes.erase(0, static_cast<std::size_t>(size));
    tell_taken(output, static_cast<std::size_t>(size));
    if (!output.bytes.empty()) return;
    output.writable.reset();
    look_for_end();
  }

  void tell_taken(Output& output, std::size_t bytes) {
    if (const auto taken = output.flow.taken(bytes)) {
      channel_->send(to_frame(wire::ExecFlow{output.which, *taken}));
    }
  }

  void look_for_end() {
    if (exit_ && out_.bytes.empty() && err_.bytes.empty()) end(*exit_);
  }

  void end(base::Result<wire::ExecExit> how) {
    if (end_timer_.pending() || !on_end_) return;
    readable_.reset();
    out_.writable.reset();
    err_.writable.reset();
    end_timer_ = loop_.after(base::Duration(0), [this, how = std::move(how)] {
      const auto on_end = std::exchange(on_end_, nullptr);
      on_end(how);
    });
  }

  net::EventLoop& loop_;
  std::unique_ptr<net::Channel> channel_;
  const bool has_terminal_;
  std::function<void(base::Result<wire::ExecExit>)> on_end_;
  Output out_{.fd = STDOUT_FILENO, .which = ExecStream::kMain};
  Output err_{.fd = STDERR_FILENO, .which = ExecStream::kErrors};
  bool input_is_over_ = false;
  std::string buffer_;
  std::optional<wire::ExecExit> exit_;
  net::Watch readable_;
  net::Timer end_timer_;
};

// One command, from the connection to its end.
class Beside {
 public:
  Beside(cluster::Job& job, job::TaskId task, const ExecOptions& options, Context& context)
      : job_(job), task_(std::move(task)), context_(context) {
    begin_.command = options.command;
    if (options.no_terminal || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) return;
    begin_.terminal = window_of(STDOUT_FILENO);
    begin_.term = context.variable("TERM");
  }

  // The command's end; the error is gangrun's own.
  base::Result<wire::ExecExit> run();

 private:
  base::Result<net::Endpoint> find_agent();
  void connect(const net::Endpoint& agent);
  void on_channel(std::unique_ptr<net::Channel> channel);
  void on_signal(int number);
  void end(base::Result<wire::ExecExit> how) {
    if (!ended_) ended_ = std::move(how);
  }

  cluster::Job& job_;
  const job::TaskId task_;
  Context& context_;
  wire::ExecBegin begin_;
  net::EventLoop loop_;
  net::Watch signals_;
  std::unique_ptr<TaskWay> way_;
  std::string broken_;  // what the way said last
  base::Secret secret_;
  net::Call connecting_;
  std::unique_ptr<RawTerminal> raw_;
  std::unique_ptr<ExecSession> session_;
  std::optional<base::Result<wire::ExecExit>> ended_;
};

base::Result<wire::ExecExit> Beside::run() {
  GANGRUN_ASSIGN(signals_, loop_.watch_signals({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGWINCH},
                                               [this](int number) { on_signal(number); }));
  GANGRUN_ASSIGN(
      way_,
      way_to_task({.loop = loop_,
                   .context = context_,
                   .job = job_.id(),
                   .task = task_,
                   .on_broken = [this](const base::Error& error) { broken_ = error.message; }}));
  GANGRUN_ASSIGN(const net::Endpoint agent, find_agent().context(job::to_string(task_)));
  connect(agent);
  (void)loop_.run_until([this] { return ended_.has_value(); },
                        context_.clock.now() + job::kLongestJob);
  raw_.reset();
  session_.reset();
  if (!ended_) return base::deadline_exceeded("the command took longer than any job may");
  if (!ended_->ok() && !broken_.empty()) {
    return base::Error{ended_->error().code,
                       base::format("{}: {}", ended_->error().message, broken_)};
  }
  return *ended_;
}

base::Result<net::Endpoint> Beside::find_agent() {
  if (!way_->has_agent()) return way_->to_agent({});
  GANGRUN_ASSIGN(TaskAgent agent,
                 with_next_master(context_, [this] { return agent_of(job_, task_); }));
  secret_ = agent.secret;
  return way_->to_agent(agent);
}

// The command's own user may interrupt it; whoever ends gangrun ends the command with it.
void Beside::on_signal(int number) {
  if (number == SIGWINCH) {
    if (session_ && begin_.terminal) session_->set_window(window_of(STDOUT_FILENO));
    return;
  }
  const bool is_for_command = number == SIGINT || number == SIGQUIT;
  if (session_ && is_for_command) return session_->signal(number);
  end(wire::ExecExit{base::kSignalStatus + number});
}

void Beside::connect(const net::Endpoint& agent) {
  net::ChannelOptions options = net::tunnel_channel_options();
  options.max_message_bytes = wire::kMaxExecFrameBytes;
  connecting_ = net::connect_channel(
      loop_, agent, std::string(wire::kExecPath), {{"Authorization", "Bearer " + secret_.reveal()}},
      loop_.now() + net::kTunnelConnectTimeout,
      [this](base::Result<std::unique_ptr<net::Channel>> channel) {
        if (!channel.ok()) return end(channel.error().context(job::to_string(task_)));
        on_channel(*std::move(channel));
      },
      options);
}

void Beside::on_channel(std::unique_ptr<net::Channel> channel) {
  if (begin_.terminal) {
    auto raw = RawTerminal::enter(STDIN_FILENO);
    if (!raw.ok()) return end(raw.error());
    raw_ = *std::move(raw);
  }
  session_ = std::make_unique<ExecSession>(
      loop_, std::move(channel), begin_,
      [this](base::Result<wire::ExecExit> how) { end(std::move(how)); });
}

}  // namespace

ExitStatus exec(const ExecOptions& options, Context& context) {
  const auto job = find_job(context, options.job);
  if (!job.ok()) return fail(context, job.error(), kOwnTrouble);
  auto task = with_next_master(context, [&] { return find_task(**job, options.task); });
  if (!task.ok()) return fail(context, task.error(), kOwnTrouble);
  const auto exit = Beside(**job, *std::move(task), options, context).run();
  if (!exit.ok()) return fail(context, exit.error(), kOwnTrouble);
  if (!exit->refused.empty()) context.console.error(exit->refused);
  return static_cast<ExitStatus>(exit->status);
}

}  // namespace gangrun::client
