#include "agent/agent.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/image_run.h"
#include "agent/task_process.h"
#include "base/files.h"
#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "base/variable.h"
#include "frameworks/environment.h"
#include "net/interfaces.h"
#include "process/listeners.h"
#include "process/proc_fs.h"
#include "process/stack_look.h"
#include "wire/exec_frames.h"

namespace gangrun::agent {

namespace {

// The last kill may take so long before the agent goes all the same, and its guardian goes on.
constexpr std::chrono::seconds kLeaveDeadline(5);
// The variable of a container's token file: a copy of the agent's without what is not the task's.
constexpr const char* kTokenFileVariable = "HADOOP_TOKEN_FILE_LOCATION";
constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kAllAddresses = "::";

}  // namespace

Agent::Agent(net::EventLoop& loop, base::Logger& logger, const process::Containment& containment,
             wire::AgentConfig config, Outputs outputs)
    : loop_(loop),
      logger_(logger),
      containment_(containment),
      config_(std::move(config)),
      task_spec_(*config_.spec.find(config_.task.type)),
      notice_(logger, config_.log_prefix + ".notice.json", config_.spec.notice_signal),
      figures_(private_prefix(config_) + ".figures.json"),
      result_path_(private_prefix(config_) + ".result"),
      keys_(loop, logger, numbers_, [this](const wire::AskMessage& question) { ask(question); }),
      outputs_(std::move(outputs)),
      stacks_(loop, containment, [this] { return task_processes(); }),
      execs_(loop, containment, [this] { return own_children(); }) {
  if (config_.in_pod) send_outputs_to_master();
  if (config_.fetches_files) fetch_files();
}

void Agent::fetch_files() {
  fetch_.emplace(
      loop_, config_.working_folder, numbers_, [this](const auto& question) { ask(question); },
      [this](const base::Result<>& how) {
        if (!how.ok()) end_because(how.error().message);
      });
}

void Agent::ask(const wire::AskMessage& question) {
  if (session_) session_->ask(question);
}

void Agent::on_answer(const wire::AnswerMessage& answer) {
  keys_.on_answer(answer);
  if (fetch_) fetch_->on_answer(answer);
  if (output_upload_) output_upload_->on_answer(answer);
  if (upload_ && upload_->on_answer(answer, loop_.now())) after_result_part();
}

void Agent::on_ask(const wire::AskMessage& question) {
  const auto reply = [this, id = question.id](base::Result<base::Json> said) {
    wire::AnswerMessage answer{.id = id, .said = {}, .refused = {}};
    if (said.ok()) {
      answer.said = *std::move(said);
    } else {
      answer.refused = said.error().message;
    }
    if (session_) session_->answer(answer);
  };
  if (question.kind == process::kStacks) return stacks_.look(question.limit, question.about, reply);
  if (question.kind == wire::kControlKind) return reply(control_answer());
  if (question.kind == cluster::kNotice) return reply(on_notice(question.about));
  if (question.kind == wire::kTokensKind) return reply(on_tokens(question.about));
  reply(base::not_found(base::format("its agent answers no question of the kind {}",
                                     base::printable(question.kind))));
}

std::vector<pid_t> Agent::own_children() const {
  std::vector<pid_t> children = stacks_.own_children();
  std::ranges::copy(execs_.own_children(), std::back_inserter(children));
  if (run_) std::ranges::copy(run_->own_children(), std::back_inserter(children));
  return children;
}

base::Result<> Agent::start() {
  GANGRUN_TRY(hold_ports());
  guardian_watch_ = loop_.watch_readable(containment_.guardian_gone_fd(), [this] {
    guardian_watch_.reset();
    forget_master();
    end(std::chrono::milliseconds(0));
  });
  serve_control();
  if (!config_.socket_path.empty()) {
    open_session(net::Endpoint::on_unix(config_.socket_path));
  } else if (config_.master_host.empty()) {
    await_master();
  } else {
    open_session(endpoint_of({config_.master_host, config_.master_port}));
  }
  if (const auto listens = keys_.listen(); !listens.ok()) {
    logger_.warning("the task has no {}: {}", frameworks::kKeysVariable, listens.error().message);
  }
  return {};
}

// A task that comes back wants its old address; where somebody else has that port now, any will do,
// and the master makes a new generation of it.
base::Result<> Agent::hold_ports() {
  GANGRUN_ASSIGN(auto held, process::PortHolds::take(task_spec_.ports.count, config_.wanted_port));
  ports_.emplace(std::move(held));
  if (!ports_->not_wanted_because().empty()) logger_.info("{}", ports_->not_wanted_because());
  return {};
}

job::Address Agent::address() const { return {config_.host, ports_->numbers().front()}; }

std::vector<std::uint16_t> Agent::more_ports() const {
  return {ports_->numbers().begin() + 1, ports_->numbers().end()};
}

// Without it, the agent goes on as long as its master stays where it is, and nobody gets a tunnel.
// Beside its master, which comes back to the same socket, it is made when somebody asks for it.
void Agent::serve_control() {
  if (config_.socket_path.empty() || config_.serves_tunnels) {
    // Users' commands come by the loopback interface of a pod, whoever else does.
    const bool is_for_all = config_.in_pod && config_.is_called_by_network;
    listen_control(is_for_all ? kAllAddresses : config_.in_pod ? kLoopback : config_.host);
    if (is_for_all) control_host_ = config_.host;
  }
}

void Agent::listen_control(const std::string& host) {
  const auto on_master = [this](const job::Address& master) { set_master(master); };
  control_ = std::make_unique<wire::ControlServer>(loop_, config_.secret, on_master, logger_);
  control_->serve_tunnels([this] { return ports_->numbers(); });
  control_->serve_execs(
      {.refusal = [this] { return execs_.refusal(); },
       .take = [this](std::unique_ptr<net::Channel> channel) { execs_.take(std::move(channel)); }});
  auto address = control_->listen(host);
  if (!address.ok()) {
    control_.reset();
    return logger_.warning("neither a tunnel nor a new master can reach this agent: {}",
                           address.error().message);
  }
  control_address_ = *std::move(address);
  control_host_ = host;
}

base::Result<base::Json> Agent::control_answer() {
  if (!control_) listen_control(kLoopback);
  if (!control_) return base::unavailable("the agent cannot listen on its loopback interface");
  return base::to_json(wire::ControlAnswer{
      {control_host_, control_address_->port, control_address_->fingerprint}, config_.secret});
}

std::vector<pid_t> Agent::task_processes() const {
  std::vector<pid_t> processes = containment_.processes();
  for (const pid_t other : execs_.processes()) std::erase(processes, other);
  return processes;
}

net::Endpoint Agent::endpoint_of(const job::Address& master) const {
  return net::Endpoint::on_tls(master.host, master.port, config_.fingerprint);
}

std::chrono::milliseconds Agent::wait_for_gang() const {
  const job::Timeouts& timeouts = config_.spec.timeouts;
  return timeouts.allocation + timeouts.hold + timeouts.roll_call;
}

void Agent::await_master() {
  const auto limit = wait_for_gang();
  master_limit_ = loop_.after(limit, [this, limit] {
    give_up(base::format("nobody has told where the master is within {}", base::to_words(limit)),
            true);
  });
}

void Agent::set_master(const job::Address& master) {
  master_limit_.reset();
  if (session_) return session_->set_endpoint(endpoint_of(master));
  if (!phases_.is_ending()) open_session(endpoint_of(master));
}

void Agent::open_session(const net::Endpoint& endpoint) {
  wire::AgentSessionCallbacks callbacks;
  callbacks.on_start = [this](const wire::StartMessage& message) { on_start(message); };
  callbacks.on_stop = [this](std::chrono::milliseconds grace) {
    phases_.stop_asked();
    if (run_) limit_run(grace);
  };
  callbacks.on_end = [this](std::chrono::milliseconds grace) { end(grace); };
  callbacks.on_heartbeat = [this] { return heartbeat(); };
  callbacks.on_outdated_spec = [this] { logger_.info("a start with an address that is not held"); };
  callbacks.on_attached = [this] {
    if (rendezvous_) rendezvous_->on_attached();
    keys_.on_attached();
    figures_.forget();
    if (upload_) upload_->on_attached(loop_.now());
    if (fetch_) fetch_->on_attached();
    if (output_upload_) output_upload_->on_attached();
  };
  callbacks.on_rendezvous = [this](const wire::RendezvousAnswerMessage& answer) {
    if (rendezvous_) rendezvous_->on_answer(answer);
  };
  callbacks.on_answer = [this](const wire::AnswerMessage& answer) { on_answer(answer); };
  callbacks.on_ask = [this](const wire::AskMessage& question) { on_ask(question); };
  callbacks.on_lost = [this](const std::string& reason) { give_up(reason, true); };
  callbacks.on_refused = [this](const std::string& reason) { give_up(reason, false); };
  wire::AgentIdentity identity;
  identity.task = config_.task;
  identity.attempt = config_.attempt;
  identity.address = address();
  identity.pid = ::getpid();
  identity.more_ports = more_ports();
  identity.address_reason = config_.host_reason;
  identity.control = control_address_;
  identity.sends_last_line_only = config_.sends_last_line_only;
  if (config_.in_pod) identity.first_contact = wait_for_gang();
  session_ = std::make_unique<wire::AgentSession>(loop_, endpoint, config_.secret, identity,
                                                  std::move(callbacks));
  session_->open();
}

void Agent::on_start(const wire::StartMessage& message) {
  if (!phases_.may_start()) return;
  const base::Result<> started = start_run(message);
  if (started.ok()) return session_->started(run_->first_pid());
  phases_.not_started();
  execs_.end(started.error().message);
  run_.reset();
  rendezvous_.reset();
  if (runs_image()) remove_environments(config_);
  job::ExitReport report;
  report.why = {
      .reason = job::Reason::kCouldNotStart, .code = 127, .detail = started.error().message};
  run_end_ = job::RunEnd{message.attempt, report};
  session_->exited(std::move(report), loop_.now());
  if (!hold_ports_again()) session_->set_address(address(), more_ports());
}

base::Result<> Agent::start_run(const wire::StartMessage& message) {
  GANGRUN_TRY(serve_rendezvous());
  keys_.begin_run(config_, message.cluster_spec);
  std::vector<UserProcess> processes;
  for (int process = 0; process < task_spec_.processes; ++process) {
    GANGRUN_ASSIGN(auto prepared, prepared_process(message, process));
    processes.push_back(std::move(prepared));
  }
  UserRun::Callbacks callbacks;
  callbacks.on_line = [this](bool is_error, std::string_view line) { on_line(is_error, line); };
  callbacks.on_incomplete_log = [this](const std::string& why, std::uint64_t lost) {
    lost_lines_ += lost;
    session_->incomplete_log(why, lost_lines_);
  };
  callbacks.on_survivors = [this](const std::string& what) {
    tell_in_log(base::format("gangrun: left alive on this host: {}", what));
  };
  callbacks.on_ended = [this](const job::ExitReport& report) { on_run_ended(report); };
  run_ = std::make_unique<UserRun>(loop_, containment_, stopping_of(config_.spec),
                                   config_.spec.timeouts.stop, std::move(callbacks));
  phases_.started();
  notice_.begin_run(loop_.now());
  run_started_at_ = loop_.now();
  run_attempt_ = message.attempt;
  restarts_ = message.restarts;
  run_end_.reset();
  progress_.begin_run();
  figures_.begin_run();
  base::remove_if_there(result_path_);
  outputs_by_.reset();
  // Not before everything else is ready, so that nobody can take them meanwhile.
  if (task_spec_.ports.hold == job::Hold::kUntilExec) ports_->release();
  const auto log_limit = static_cast<std::uint64_t>(config_.spec.log_limit_mib.value_or(0)) << 20U;
  return run_->start(
      std::move(processes),
      {.prefix = config_.in_pod ? std::string() : config_.log_prefix, .limit = log_limit});
}

// Each run has its own, at its own port: what an earlier one has asked or put is not its affair.
base::Result<> Agent::serve_rendezvous() {
  if (!config_.is_fed && !frameworks::needs_rendezvous(config_.spec, config_.task)) return {};
  rendezvous_ = std::make_unique<Rendezvous>(
      loop_, logger_,
      [this](wire::RendezvousMessage message) { session_->rendezvous(std::move(message)); });
  GANGRUN_ASSIGN(rendezvous_port_, rendezvous_->listen());
  return {};
}

base::Result<UserProcess> Agent::prepared_process(const wire::StartMessage& message, int process) {
  GANGRUN_ASSIGN(const TaskVariables task, variables_of(message, process));
  if (process == 0) {
    execs_.begin(exec_place(task.variables, config_.working_folder, containment_.containers()));
  }
  const std::string label = base::format("{}", task.rank.value_or(process));
  if (runs_image()) {
    // An engine hands no descriptor on: the ports stay held, and are bound by their numbers.
    GANGRUN_ASSIGN(auto client,
                   client_for(config_, containment_.containers(), task.variables, process));
    return UserProcess{std::move(client), label, container_report_path(config_, process)};
  }
  process::SpawnOptions options;
  options.argv = config_.spec.command_of(task_spec_).argv();
  options.working_folder = config_.working_folder;
  for (const auto& [name, value] : task.variables) {
    options.environment.push_back(base::format("{}={}", name, value));
  }
  options.listen = listening(task_spec_.ports, ports_->fds(), process);
  return UserProcess{std::move(options), label};
}

base::Result<Agent::TaskVariables> Agent::variables_of(const wire::StartMessage& message,
                                                       int process) {
  Variables inherited = inherited_variables(process::inherited_environment(), runs_image());
  name_working_folder(config_.working_folder, inherited);
  const frameworks::Inputs inputs{
      .job = config_.spec,
      .cluster = message.cluster_spec,
      .job_id = config_.job_id,
      .restarts = message.restarts,
      .cluster_spec_file = config_.log_prefix + ".cluster-spec.json",
      .notice_file = notice_.file(),
      .result_file = result_path_,
      .figures_file = figures_.path(),
      .keys_address = keys_.address(),
      .inherits_omp_num_threads = inherited.contains("OMP_NUM_THREADS"),
      .inherits_python_unbuffered = inherited.contains("PYTHONUNBUFFERED"),
      .own_address = address(),
      .more_ports = more_ports(),
      .rendezvous_port = rendezvous_port_,
      .tells_rendezvous = config_.is_fed,
      .interface = frameworks::needs_rendezvous(config_.spec, config_.task)
                       ? net::interface_of(config_.host)
                       : std::string()};
  GANGRUN_ASSIGN(auto ours, frameworks::environment_of(inputs, config_.task, process));
  if (!ours.cluster_spec_file_content.empty()) {
    GANGRUN_TRY(base::write_file_atomically(inputs.cluster_spec_file,
                                            ours.cluster_spec_file_content, 0600));
  }
  const auto gpus = config_.gpus && runs_image() ? as_seen_inside(*config_.gpus) : config_.gpus;
  return TaskVariables{task_variables(std::move(inherited), ours.variables, gpus,
                                      config_.spec.environment, task_spec_.environment),
                       ours.rank};
}

void Agent::on_line(bool is_error, std::string_view line) {
  // If the place tells the end, nobody hears what the command says of it; its file has that.
  if (!session_) return;
  session_->log(is_error ? wire::Stream::kErr : wire::Stream::kOut, line);
}

PortEnd Agent::port_end(const job::ExitReport& report) const {
  if (phases_.is_ending()) return {};
  const auto listener_of = [this](std::uint16_t port) {
    const auto foreign = process::foreign_listener(port, ports_->fds());
    if (!foreign.ok()) logger_.warning("who listens on port {}: {}", port, foreign.error().message);
    if (!foreign.ok() || !foreign->has_value()) return PortUser();
    return port_user(process::owner_of(**foreign, containment_.outer_proc_fd()), config_.job_id);
  };
  const RunPorts ports{.held = ports_->numbers(),
                       .hold = task_spec_.ports.hold,
                       .told = ports_told(config_.spec.environment, task_spec_.environment,
                                          config_.spec.command_of(task_spec_).argv())};
  return judge_ports(report, loop_.now() - run_started_at_, ports, listener_of);
}

void Agent::take_other_ports() {
  auto others = ports_->others();
  if (!others.ok()) return logger_.error("{}", others.error().message);
  ports_.emplace(std::move(*others));
}

// Holds what was let go of for the run; false where others were taken, as somebody has one of them.
bool Agent::hold_ports_again() {
  if (task_spec_.ports.hold == job::Hold::kUntilBind || phases_.is_ending()) return true;
  const base::Result<> held = ports_->hold_again();
  if (held.ok()) return true;
  logger_.info("{}", held.error().message);
  take_other_ports();
  return false;
}

void Agent::on_notice(std::optional<std::chrono::milliseconds> left) {
  const std::vector<pid_t> processes = run_ ? run_->own_children() : std::vector<pid_t>();
  notice_.tell(left, loop_.now(), base::SystemClock().wall_now(), processes);
}

base::Result<base::Json> Agent::on_notice(const base::Json& about) {
  GANGRUN_ASSIGN(const auto notice, base::from_json<cluster::Notice>(about));
  on_notice(notice.left);
  return base::Json::object();
}

// In place of the old file, so that who opens it has either all of the old or all of the new.
base::Result<base::Json> Agent::on_tokens(const base::Json& about) {
  GANGRUN_ASSIGN(const auto tokens, base::from_json<wire::Tokens>(about));
  const std::string path = base::variable(kTokenFileVariable);
  if (!path.empty()) {
    GANGRUN_TRY(base::write_file_atomically(path, tokens.file.reveal(), 0600));
    logger_.info("{} has new tokens", path);
  }
  return base::Json::object();
}

void Agent::tell_figures() {
  auto changed = figures_.changed();
  if (!changed.ok()) {
    return tell_in_log(base::format("gangrun: GANGRUN_FIGURES_FILE: {}", changed.error().message));
  }
  if (*changed) session_->figures(**std::move(changed));
}

wire::HeartbeatMessage Agent::heartbeat() {
  wire::HeartbeatMessage message;
  if (!run_) return message;
  tell_figures();
  run_->tell_redrawn();
  run_->refresh(loop_.now());
  const process::Usage usage =
      runs_image() ? run_->usage_of_containers() : process::usage_of(task_processes());
  message.memory_bytes = static_cast<std::int64_t>(usage.memory_bytes);
  message.cpu_seconds = usage.cpu_seconds;
  message.progress = progress_.since_last(run_->output_bytes(), usage.cpu_seconds);
  return message;
}

void Agent::end(std::chrono::milliseconds grace) { act(phases_.end(grace), grace); }

void Agent::act(TaskPhases::Next next, std::chrono::milliseconds grace) {
  using Next = TaskPhases::Next;
  switch (next) {
    case Next::kNothing: return;
    case Next::kStopRun: return limit_run(grace);
    case Next::kLimitResult:
      // Asking again never gives it more time.
      upload_by_ = std::min(upload_by_.value_or(base::Instant::max()), loop_.now() + grace);
      outputs_by_ = std::min(outputs_by_.value_or(base::Instant::max()), *upload_by_);
      return are_outputs_on_way_ ? limit_outputs() : after_result_part();
    case Next::kSendResult: return send_result();
    case Next::kKeepOutputs: outputs_by_ = loop_.now() + grace; return begin_outputs();
    case Next::kTellEnd: return tell_end();
    case Next::kFarewell: return leave(true);
    case Next::kEnd: return leave(false);
  }
}

void Agent::end_by_signal(int number) {
  if (config_.place_tells_end) {
    exit_status_ = base::kSignalStatus + number;
    forget_master();
  }
  end(config_.spec.timeouts.stop);
}

// A task that has ended is not lost with its master, and its result only where that was on its way.
void Agent::give_up(const std::string& reason, bool lost_master) {
  if (upload_) lose_result(reason);
  last_words_ = job::LastWords{reason, lost_master, run_end_};
  phases_.session_lost();
  end(std::chrono::milliseconds(0));
}

void Agent::forget_master() {
  phases_.session_lost();
  rendezvous_.reset();
  session_.reset();
}

void Agent::end_because(std::string reason) {
  end_reason_ = std::move(reason);
  end(std::chrono::milliseconds(0));
}

void Agent::leave(bool with_farewell) {
  // Also where nothing runs: what the containment itself has made goes with it.
  outputs_limit_.reset();
  if (std::exchange(are_outputs_on_way_, false)) outputs_.cut_short();
  if (const auto killed = containment_.kill_all(loop_.now() + kLeaveDeadline, {}); !killed.ok()) {
    logger_.warning("{}", killed.error().message);
  }
  if (!with_farewell || !session_) return loop_.stop();
  session_->finish([this] { loop_.stop(); }, end_reason_);
}

}  // namespace gangrun::agent
