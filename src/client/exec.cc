#include "client/exec.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "client/exec_session.h"
#include "client/fail.h"
#include "client/next_master.h"
#include "client/place.h"
#include "client/raw_terminal.h"
#include "client/sites.h"
#include "client/task_agent.h"
#include "client/task_way.h"
#include "cluster/site.h"
#include "host/local_site.h"
#include "job/limits.h"
#include "net/client.h"
#include "net/event_loop.h"
#include "net/tunnel.h"
#include "wire/exec_frames.h"
#include "wire/paths.h"

namespace gangrun::client {

namespace {

// As in programs that run another one: gangrun's own errors. All others are the command's, with 126
// and 127 where it could not be started.
constexpr auto kOwnTrouble = static_cast<ExitStatus>(125);

base::Result<job::TaskId> task_of(const job::JobStatus& status, const std::string& name) {
  const auto text_of = [](const job::TaskStatus& one) { return job::to_string(one.task); };
  std::vector<std::string> all;
  std::ranges::transform(status.tasks, std::back_inserter(all), text_of);
  constexpr std::size_t kMaxNamed = 10;
  if (all.size() > kMaxNamed) {
    all.resize(kMaxNamed);
    all.emplace_back("…");
  }
  if (name.empty()) {
    if (status.tasks.size() == 1) return status.tasks.front().task;
    return base::invalid_argument(base::format("{} has {} tasks: name one of {}", status.id,
                                               status.tasks.size(), base::join(all, ", ")));
  }
  GANGRUN_ASSIGN(const job::TaskId wanted, job::parse_task_id(name));
  const auto found =
      std::ranges::find_if(status.tasks, [&](const auto& one) { return one.task == wanted; });
  if (found == status.tasks.end()) {
    return base::not_found(
        base::format("{} has no task {}; it has {}", status.id, name, base::join(all, ", ")));
  }
  if (!job::is_final(found->state)) return wanted;
  const std::string how =
      found->exit ? job::to_words(*found->exit) : std::string(job::to_string(found->state));
  return base::Error{base::Code::kFailedPrecondition, base::format("{} has ended: {}", name, how)};
}

base::Result<job::TaskId> find_task(cluster::Job& job, const std::string& name) {
  GANGRUN_ASSIGN(const job::JobStatus status, job.status());
  if (job::is_final(status.state)) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} has {}", status.id, job::to_string(status.state))};
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
  base::Result<> watch_signals();
  base::Result<> make_way();
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
  std::optional<job::JobSpec> spec_;
  std::unique_ptr<TaskWay> way_;
  std::string broken_;  // what the way said last
  base::Secret secret_;
  net::Connecting connecting_;
  std::unique_ptr<RawTerminal> raw_;
  std::unique_ptr<ExecSession> session_;
  std::optional<base::Result<wire::ExecExit>> ended_;
};

base::Result<wire::ExecExit> Beside::run() {
  GANGRUN_TRY(watch_signals());
  GANGRUN_TRY(make_way());
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

base::Result<> Beside::watch_signals() {
  GANGRUN_ASSIGN(signals_, loop_.watch_signals({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGWINCH},
                                               [this](int number) { on_signal(number); }));
  return {};
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

base::Result<> Beside::make_way() {
  const std::string job = job_.id();
  const Place* place = context_.places.with_job(job);
  if (place == nullptr) {
    GANGRUN_ASSIGN(const std::string home, home_of(context_));
    GANGRUN_ASSIGN(
        spec_, host::stored_spec(host::paths_of(home, job), context_.places.rules().sections()));
    place = context_.places.find(spec_->on);
  }
  if (place == nullptr) return base::not_found(base::format("{} is on no known place", job));
  GANGRUN_ASSIGN(way_, place->jobs->way({.loop = loop_,
                                         .context = context_,
                                         .spec = spec_ ? &*spec_ : nullptr,
                                         .job = job,
                                         .task = task_,
                                         .on_broken = [this](const base::Error& error) {
                                           broken_ = error.message;
                                         }}));
  return {};
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
      loop_, ExecSession::Files{}, std::move(channel), begin_,
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
