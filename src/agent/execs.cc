#include "agent/execs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <set>

#include "agent/exec_helper.h"
#include "agent/image_run.h"
#include "base/described_json.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "base/random.h"
#include "frameworks/environment.h"
#include "process/kill_processes.h"
#include "process/pipe.h"
#include "process/proc_fs.h"
#include "process/spawn.h"
#include "wire/exec_frames.h"

namespace gangrun::agent {

namespace {

base::Error too_many() {
  return {
      base::Code::kResourceExhausted,
      base::format("{} commands run beside the task already, the most that may", wire::kMaxExecs)};
}

constexpr const char* kOwnProgram = "/proc/self/exe";
// From the channel until its first message.
constexpr std::chrono::seconds kMaxBeginning(10);
// A helper whose user is gone kills what its command has started, and ends.
constexpr std::chrono::seconds kMaxEnding(10);
// The agent does nothing else meanwhile.
constexpr std::chrono::seconds kMaxKilling(2);
// More than a user's side may have on the way.
constexpr std::size_t kMaxQueued = std::size_t{4} << 20U;
constexpr int kNotStarted = 126;
// By these the task itself speaks.
constexpr std::array<std::string_view, 2> kOfTheTask{"GANGRUN_RESULT_FILE", "GANGRUN_FIGURES_FILE"};

bool has_mark(pid_t pid, const std::string& mark) {
  const std::string whole = base::format("{}={}", frameworks::kExecVariable, mark) + '\0';
  return ('\0' + process::read_proc(pid, "environ")).find('\0' + whole) != std::string::npos;
}

// Those that have the mark, and with them whoever is in their sessions or descends from them: a
// program may have emptied its environment.
std::vector<pid_t> marked(const process::Containment& containment, const std::string& mark) {
  const std::vector<pid_t> all = containment.processes();
  std::set<pid_t> found;
  std::set<pid_t> sessions;
  for (const pid_t pid : all) {
    if (!has_mark(pid, mark)) continue;
    const auto stat = process::read_stat(pid);
    if (!stat) continue;
    found.insert(pid);
    sessions.insert(stat->session);
    for (const pid_t below : process::descendants_of(pid)) found.insert(below);
  }
  if (found.empty()) return {};
  const auto own = process::read_stat(::getpid());
  if (own) sessions.erase(own->session);
  for (const pid_t pid : all) {
    const auto stat = process::read_stat(pid);
    if (stat && sessions.contains(stat->session)) found.insert(pid);
  }
  return {found.begin(), found.end()};
}

// Kills what is left of the command among the processes of the task: where both processes that
// ran it were killed, nobody else knows that it is no process of the task's own. `own_children` as
// in process::kill_processes().
base::Result<> kill_exec_rest(const process::Containment& containment, const std::string& mark,
                              const std::vector<pid_t>& own_children, base::Instant deadline) {
  process::Victims victims;
  victims.list = [&] { return marked(containment, mark); };
  victims.is_victim = [&](pid_t pid) {
    const std::vector<pid_t> now = marked(containment, mark);
    return std::ranges::find(now, pid) != now.end();
  };
  return process::kill_processes(victims, own_children, deadline);
}

}  // namespace

std::string exec_mark(std::uint64_t number) {
  return base::format("{}.{}.{:x}", ::getpid(), number, base::random_number<std::uint64_t>());
}

ExecPlace exec_place(const Variables& variables, const std::string& folder,
                     const process::EngineContainers& containers) {
  ExecPlace place;
  for (const auto& [name, value] : variables) {
    if (std::ranges::find(kOfTheTask, name) != kOfTheTask.end()) continue;
    place.environment.push_back(base::format("{}={}", name, value));
  }
  place.folder = folder;
  if (!containers.empty()) {
    place.engine_argv = {containers.engine, "exec", "--interactive",
                         "--workdir",       folder, containers.names.front()};
  }
  return place;
}

Execs::~Execs() {
  for (auto& [id, exec] : execs_) {
    if (exec.helper) (void)exec.helper->signal_group(SIGKILL);
  }
}

void Execs::end(std::string_view why) {
  place_.reset();
  for (auto& [id, exec] : execs_) {
    if (exec.channel) exec.channel->close(why);
    if (exec.pipe) exec.pipe->close_out();
  }
}

std::optional<base::Error> Execs::refusal() const {
  if (!place_) return base::Error{base::Code::kFailedPrecondition, "no process of the task runs"};
  // There may be some more connections whose command has not come yet.
  const bool is_crowded = execs_.size() >= 2 * wire::kMaxExecs;
  if (is_crowded || running() >= wire::kMaxExecs) return too_many();
  return std::nullopt;
}

std::size_t Execs::running() const {
  const auto runs = [](const auto& entry) { return entry.second.helper.has_value(); };
  return static_cast<std::size_t>(std::ranges::count_if(execs_, runs));
}

void Execs::take(std::unique_ptr<net::Channel> channel) {
  const Id id = next_++;
  Exec& exec = execs_[id];
  exec.channel = std::move(channel);
  exec.limit = loop_.after(kMaxBeginning, [this, id] { finish(id); });
  exec.channel->on_closed([this, id](const base::Error& /*reason*/) { on_user_gone(id); });
  exec.channel->on_message([this, id](std::string_view message) { on_message(id, message); });
}

void Execs::on_message(Id id, std::string_view message) {
  Exec& exec = execs_.at(id);
  if (exec.pipe) {
    exec.pipe->send(message);
    if (exec.pipe->queued() > kMaxQueued) exec.channel->close("more is sent than may be");
    return;
  }
  // Messages behind a first one that was refused.
  if (exec.has_told_exit) return;
  const auto started = start(id, message);
  if (started.ok()) return;
  // It is our trouble, and none of the command.
  const bool is_ours = started.error().code == base::Code::kResourceExhausted;
  if (is_ours) return exec.channel->close(started.error().message, started.error().code);
  refuse(id, started.error());
}

base::Result<> Execs::start(Id id, std::string_view begin) {
  GANGRUN_ASSIGN(const auto frame, wire::parse_exec_frame(begin));
  std::optional<wire::ExecBegin> asked;
  std::visit(base::Overloaded{
                 [&asked](const wire::ExecBegin& command) { asked = command; },
                 [](const wire::ExecFlow&) {},
                 [](const wire::ExecWindow&) {},
                 [](const wire::ExecSignal&) {},
                 [](const wire::ExecExit&) {},
             },
             frame);
  if (!asked) return base::invalid_argument("the first message is to be the command");
  if (!place_) return *refusal();
  // Several may have come at the same moment.
  if (running() >= wire::kMaxExecs) return too_many();
  const std::string mark = exec_mark(id);
  ExecStart start{*asked, place_->environment, !place_->engine_argv.empty(), place_->folder};
  start.environment.push_back(base::format("{}={}", frameworks::kExecVariable, mark));
  process::SpawnOptions options;
  options.argv = place_->engine_argv;
  const bool is_inside = !options.argv.empty();
  options.argv.emplace_back(is_inside ? kFirstProgram : kOwnProgram);
  options.argv.emplace_back(kBesideCommand);
  options.argv.emplace_back(is_inside ? kInsideContainer : kBesideAgent);
  options.environment = process::inherited_environment();
  GANGRUN_ASSIGN(process::Pipe in, process::make_pipe());
  GANGRUN_ASSIGN(process::Pipe out, process::make_pipe());
  options.standard_input = in.read.get();
  options.standard_output = out.write.get();
  options.standard_error = STDERR_FILENO;
  containment_.confine(options);
  GANGRUN_ASSIGN(process::Child helper, process::spawn(options));
  Exec& exec = execs_.at(id);
  exec.limit.reset();
  exec.helper.emplace(std::move(helper));
  exec.mark = mark;
  exec.pipe = std::make_unique<FramePipe>(
      loop_, std::move(out.read), std::move(in.write),
      FramePipe::Callbacks{[&exec](std::string_view said) {
                             exec.has_told_exit |= said.starts_with(wire::ExecExit::kName);
                             if (exec.channel) exec.channel->send(std::string(said));
                           },
                           [this, id](const base::Result<>&) {
                             execs_.at(id).is_read = true;
                             on_helper_ended(id);
                           }});
  exec.ended = loop_.watch_readable(exec.helper->end_fd(), [this, id] { on_helper_ended(id); });
  exec.pipe->send(base::dump_json(base::to_json(start)));
  return {};
}

void Execs::refuse(Id id, const base::Error& error) {
  Exec& exec = execs_.at(id);
  exec.has_told_exit = true;
  exec.channel->send(to_frame(wire::ExecExit{kNotStarted, error.message}));
  exec.finished = loop_.after(base::Duration(0), [this, id] { finish(id); });
}

// The helper sees the end of its input.
void Execs::on_user_gone(Id id) {
  Exec& exec = execs_.at(id);
  exec.channel.reset();
  if (!exec.helper) return finish(id);
  exec.pipe->close_out();
  exec.limit = loop_.after(kMaxEnding, [&exec] { (void)exec.helper->signal_group(SIGKILL); });
}

// It has killed all, unless it was killed itself.
void Execs::kill_rest(const Exec& exec) {
  (void)kill_exec_rest(containment_, exec.mark, all_own_children_(), loop_.now() + kMaxKilling);
}

// When all that it has said is read, too. It may have been reaped with others that were killed.
void Execs::on_helper_ended(Id id) {
  Exec& exec = execs_.at(id);
  const auto reaped = exec.helper->reap();
  if (reaped.ok() && !*reaped) return;
  exec.ended.reset();
  if (!exec.is_read) return;
  kill_rest(exec);
  if (exec.channel && !exec.has_told_exit) {
    exec.channel->close("what ran it beside the task was killed");
  }
  // Not from inside a call of its pipe.
  exec.finished = loop_.after(base::Duration(0), [this, id] { finish(id); });
}

void Execs::finish(Id id) { execs_.erase(id); }

std::vector<pid_t> Execs::own_children() const {
  std::vector<pid_t> children;
  for (const auto& [id, exec] : execs_) {
    if (exec.helper && !exec.helper->reaped()) children.push_back(exec.helper->pid());
  }
  return children;
}

std::vector<pid_t> Execs::processes() const {
  std::vector<pid_t> all = own_children();
  for (const pid_t child : own_children()) {
    const auto below = process::descendants_of(child);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace gangrun::agent
