#include "master/master.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/files.h"
#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "cluster/container_names.h"
#include "frameworks/environment.h"
#include "job/described.h"
#include "master/agent_launch.h"
#include "master/master_internal.h"

namespace gangrun::master {

namespace {

// How much longer than an agent's own lease the master waits before it takes the agent for dead.
constexpr std::chrono::seconds kLeaseAllowance(5);

std::int64_t to_milliseconds(base::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

gang::Gang::Limits gang_limits(std::chrono::milliseconds master_lost) {
  gang::Gang::Limits limits;
  limits.silence = master_lost + kLeaseAllowance;
  return limits;
}

registry::ServerCallbacks Master::Impl::callbacks() {
  registry::ServerCallbacks callbacks;
  callbacks.event = [this](registry::DeskEvent event) { on_desk(std::move(event)); };
  callbacks.status = [this] { return status(); };
  callbacks.stop = [this](bool at_once, std::string by) { request_stop(std::move(by), at_once); };
  callbacks.notice = [this](const std::string& by) { (void)give_notice(by); };
  if (settings_.joining != nullptr) {
    callbacks.join = [this](const registry::JoinRequest& request) { return on_join(request); };
  }
  return callbacks;
}

base::Result<> Master::Impl::start() {
  if (!settings_.socket_path.empty()) GANGRUN_TRY(server_.listen_unix(settings_.socket_path));
  if (settings_.certificate) {
    GANGRUN_ASSIGN(tls_port_, listen_tls());
    if (!settings_.tls_port_file.empty()) {
      GANGRUN_TRY(
          base::write_file_atomically(settings_.tls_port_file, std::to_string(tls_port_), 0600));
    }
  }
  if (settings_.writes_lines) line_files_.emplace(logger_);
  if (!settings_.past) GANGRUN_TRY(journal_.spec(settings_.spec));
  cluster_.on_event([this](const cluster::Event& event) { on_cluster(event); });
  remarks_ = settings_.remarks;
  // Who listens may not be ready before this has returned.
  remarks_timer_ = loop_.after(base::Duration::zero(), [this] {
    for (const std::string& sentence : settings_.remarks) {
      logger_.info("{}", sentence);
      listener_.on_remark(sentence);
    }
  });
  if (settings_.direct != nullptr) {
    settings_.direct->on_direct_event(
        [this](const cluster::DirectEvent& event) { on_direct(event); });
  }
  zookeeper_ =
      ZooKeeperCopy::begin(loop_, logger_, settings_, gang_, places_,
                           [this](std::string_view sentence) { listener_.on_warning(sentence); });
  if (settings_.past) {
    resume();
  } else {
    handle(gang::Begin{});
  }
  return {};
}

base::Result<std::uint16_t> Master::Impl::listen_tls() {
  std::uint16_t port = settings_.tls_port;
  while (true) {
    auto listening =
        settings_.listen_address.empty()
            ? server_.listen_tls_everywhere(port, *settings_.certificate)
            : server_.listen_tls(settings_.listen_address, port, *settings_.certificate);
    if (listening.ok() || port >= settings_.last_tls_port) return listening;
    ++port;
  }
}

// The agents of the dead master are found again by their places, and have to be heard of within
// their lease.
void Master::Impl::resume() {
  logger_.info("continues from the journal of an earlier master");
  if (const auto& all_started = settings_.past->all_started) {
    all_started_ms_ = to_milliseconds(*all_started - settings_.commanded_at);
  }
  if (gang_.cluster_spec().generation > 0) {
    if (settings_.past->generation < gang_.cluster_spec().generation) {
      record(journal_.generation(gang_.cluster_spec()));
    }
    publish(gang_.cluster_spec());
  }
  for (const gang::Task& task : gang_.tasks()) {
    if (task.phase == gang::Phase::kAsked || task.phase == gang::Phase::kGone) continue;
    server_.expect(task.id, task.allocated_attempt);
    server_.set_attempt(task.id, task.attempt);
    cluster_.adopt(task.id, task.allocated_attempt, places_.handle(task));
    // It has been told nothing yet, knows only where the old master was, and nobody knows where it
    // is: another one is quicker than its time-out.
    const bool is_out_of_reach = task.address.port == 0 && settings_.may_move;
    if (is_out_of_reach) cluster_.stop(task.id, task.allocated_attempt, kAtOnce);
  }
  cluster_.release_others();
  if (settings_.past->finish) {
    // The dead one may not have come to it.
    for (const std::string& warning : settings_.past->warnings) listener_.on_warning(warning);
    obey(*settings_.past->finish);
    return arm_timer();
  }
  // One that is where the dead one was is found by its agents.
  if (settings_.may_move) {
    call_back_.begin({settings_.secret, {settings_.host, tls_port_}, settings_.attempt},
                     places_.controls(gang_), clock_.now() + settings_.master_lost);
  }
  handle(gang::Resumed{});
}

// Carrying out a decision may bring the next event before it returns: events are handled one after
// another, each when it is in the journal.
void Master::Impl::handle(gang::Event event, std::optional<journal::PlaceRecord> place) {
  recorded_.add(std::move(event), std::move(place));
  if (handling_) return;
  handling_ = true;
  while (const auto handled = recorded_.next(clock_.now())) act_upon(*handled);
  handling_ = false;
  tell_of_journal();
  arm_timer();
}

void Master::Impl::act_upon(const journal::RecordedGang::Handled& handled) {
  gate_.pass(handled.decisions);
  if (gang::tells_of_start(handled.event)) note_all_started();
  if (zookeeper_) zookeeper_->changed();
  if (gang_.finished()) return;
  if (std::exchange(state_, gang_.state()) != gang_.state()) record(journal_.status(status()));
  listener_.on_changed();
}

// Lines that follow from events may be missing: a next master writes them again.
void Master::Impl::record(const base::Result<>& written) {
  if (!written.ok()) logger_.warning("not recorded: {}", written.error().message);
}

void Master::Impl::tell_of_journal() {
  const bool is_behind = recorded_.is_behind();
  if (is_behind != std::exchange(was_behind_, is_behind)) {
    const std::string sentence =
        is_behind
            ? base::format("decisions wait until they can be recorded: {}", recorded_.trouble())
            : "the journal has room again, or the wait is over";
    logger_.warning("{}", sentence);
    if (is_behind) listener_.on_warning(sentence);
    if (!finished_at_) listener_.on_changed();
  }
  if (!recorded_.is_incomplete() || std::exchange(journal_failed_, true)) return;
  const std::string sentence =
      base::format("the journal is incomplete from here on: {}", recorded_.trouble());
  logger_.error("{}", sentence);
  listener_.on_warning(sentence);
}

void Master::Impl::arm_timer() {
  const auto deadline = recorded_.next_deadline();
  timer_.reset();
  if (deadline) timer_ = loop_.at(*deadline, [this] { on_time(); });
}

void Master::Impl::on_time() {
  if (!finished_at_) return handle(gang::TimePassed{});
  if (is_settling_) return;
  conclude();
  arm_timer();
}

void Master::Impl::carry_out(const gang::Decision& decision) {
  std::visit([this](const auto& each) { obey(each); }, decision);
}

void Master::Impl::obey(const gang::Publish& decision) {
  logger_.info("generation {} of the cluster spec is complete", decision.spec.generation);
  record(journal_.generation(decision.spec));
  publish(decision.spec);
}

void Master::Impl::obey(const gang::Start& decision) {
  if (settings_.direct != nullptr) return run_direct(decision);
  // Without a session the gang hears of its loss, and decides again when it is back.
  (void)server_.send_start(decision.task, decision.attempt, decision.restarts);
}

void Master::Impl::obey(const gang::Stop& decision) {
  if (settings_.direct != nullptr) settings_.direct->end_run(decision.task, decision.grace);
  (void)server_.send_stop(decision.task, decision.grace);
}

void Master::Impl::obey(const gang::Kill& decision) {
  logger_.warning("{} did not end: killed", job::to_string(decision.task));
  cluster_.stop(decision.task, decision.attempt, kAtOnce);
}

void Master::Impl::obey(const gang::Warn& decision) {
  gang::Warning warning = decision.warning;
  std::visit(base::Overloaded{
                 // Of a task that no agent is beside the gang knows no host.
                 [this](gang::EndNotConfirmed& lost) {
                   if (lost.host.empty()) lost.host = direct_runs_.host_of(lost.task);
                 },
                 [](const base::OneOf<gang::TaskFailed, gang::Replaced, gang::Resized,
                                      gang::CameBackElsewhere, gang::HostAvoided, gang::NoProgress,
                                      gang::HostNotConfirmed> auto&) {},
             },
             warning);
  const std::string words = gang::to_words(warning);
  logger_.warning("{}", words);
  listener_.on_warning(words);
}

void Master::Impl::publish(const job::ClusterSpec& spec) {
  server_.publish(spec, frameworks::is_content_with_outline(settings_.spec)
                            ? frameworks::kMaxClusterSpecInEnvironment
                            : registry::kNoOutline);
}

void Master::Impl::obey(const gang::Allocate& decision) {
  if (settings_.direct == nullptr) server_.expect(decision.task, decision.attempt);
  const job::TaskSpec& task_spec = *settings_.spec.find(decision.task.type);
  cluster::Launch launch;
  launch.resources = task_spec.resources_of(decision.task.index);
  launch.wanted = decision.wanted;
  launch.avoided = decision.avoided;
  if (settings_.direct != nullptr) {
    return cluster_.start(decision.task, decision.attempt, std::move(launch));
  }
  launch.containers =
      cluster::containers(settings_.spec, settings_.job_id, decision.task, decision.attempt);
  launch.agent_config =
      base::to_json(agent_config_of(settings_, decision.task, decision.attempt, tls_port_));
  cluster_.start(decision.task, decision.attempt, std::move(launch));
}

void Master::Impl::obey(const gang::End& decision) {
  if (server_.send_end(decision.task, decision.grace)) return;
  cluster_.stop(decision.task, decision.attempt, decision.grace);
}

void Master::Impl::obey(const gang::Finish& decision) {
  cause_ = decision.cause;
  const bool has_failed = decision.state == job::JobState::kFailed;
  if (has_failed && cause_) cause_->beside = trouble_;
  finished_at_ = clock_.now();
  ended_ = base::to_iso8601(clock_.wall_now());
  logger_.info("the job has {}", job::to_string(decision.state));
  if (zookeeper_) zookeeper_->end();
  // The verdict is the last that is known of a job: whoever waits for it finds its files too.
  is_settling_ = true;
  cluster_.settle([this] {
    is_settling_ = false;
    conclude();
    arm_timer();
  });
}

// The job has ended when that is recorded, or no room is waited for any more.
void Master::Impl::conclude() {
  const bool concluded = recorded_.verdict(status(), clock_.now());
  tell_of_journal();
  if (!concluded) return;
  if (line_files_ && line_files_->lost_lines() > 0) {
    listener_.on_warning(base::format(
        "{} of the tasks' output could not be kept",
        base::count_text(static_cast<std::int64_t>(line_files_->lost_lines()), "line")));
  }
  const auto tell = [this] { listener_.on_finished(); };
  if (settings_.far_copy != nullptr) {
    settings_.far_copy->copy(tell);
  } else {
    loop_.post(tell);
  }
}

void Master::Impl::note_all_started() {
  if (all_started_ms_ >= 0 || !gang_.all_started()) return;
  all_started_ms_ = to_milliseconds(clock_.now() - settings_.commanded_at);
}

job::TaskStatus Master::Impl::status_of(const gang::Task& task) const {
  const auto facts = facts_.find(task.id);
  job::TaskStatus status = master::status_of(task, facts == facts_.end() ? nullptr : &facts->second,
                                             settings_.spec.find(task.id.type)->ports.names);
  status.log_path = log_prefix_of(settings_, task.id);
  return status;
}

job::JobStatus Master::Impl::status() const {
  const base::Instant now = finished_at_.value_or(clock_.now());
  job::JobStatus status;
  status.id = settings_.job_id;
  status.name = settings_.spec.name;
  // Final together with its cause, not while the end waits to be known elsewhere.
  const bool has_ended = (finished_at_ && !is_settling_) || !job::is_final(gang_.state());
  status.state = has_ended ? gang_.state() : job::JobState::kStopping;
  status.generation = gang_.cluster_spec().generation;
  status.restarts_used = gang_.restarts_used();
  status.restarts_max = settings_.spec.restarts.max;
  status.submitted = submitted_;
  if (!is_settling_) status.ended = ended_;
  status.elapsed_ms = to_milliseconds(now - settings_.commanded_at);
  status.all_started_ms = all_started_ms_;
  status.has_run = gang_.has_run();
  status.waiting_for =
      is_settling_ ? "the lines and files that its tasks have written" : recorded_.waiting_for(now);
  // What a run waits for is known better where it runs.
  const std::string place = settings_.direct == nullptr ? "" : settings_.direct->waiting_for();
  if (!place.empty()) status.waiting_for = place;
  const std::string preparations = cluster_.preparations();
  if (!preparations.empty() && !status.waiting_for.empty()) {
    status.waiting_for += "; " + preparations;
  }
  const std::string trouble = settings_.far_copy == nullptr ? "" : settings_.far_copy->trouble();
  if (!trouble.empty()) {
    // First: all else waits for it too.
    status.waiting_for =
        status.waiting_for.empty() ? trouble : base::format("{}; {}", trouble, status.waiting_for);
  }
  status.folder = settings_.folder;
  // Who waits on Spark is told as soon as it is known: others may take long to stop.
  const bool tells_early = settings_.joining != nullptr && !cause_;
  if (tells_early) {
    status.cause = gang_.first_cause();
  } else if (!is_settling_) {
    status.cause = cause_;
  }
  if (zookeeper_ && !zookeeper_->trouble().empty()) status.notes = {zookeeper_->trouble()};
  if (!trouble_.empty() && !cause_) status.notes.push_back(trouble_);
  status.notes.insert(status.notes.end(), remarks_.begin(), remarks_.end());
  for (const gang::Task& task : gang_.tasks()) status.tasks.push_back(status_of(task));
  return status;
}

Master::Master(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
               cluster::Cluster& cluster, journal::Writer& journal, Listener& listener,
               Settings settings)
    : impl_(std::make_unique<Impl>(loop, clock, logger, cluster, journal, listener,
                                   std::move(settings))) {}
Master::~Master() = default;

base::Result<> Master::start() { return impl_->start(); }
int Master::give_notice(const std::string& by) { return impl_->give_notice(by); }
void Master::set_tokens(base::Secret file) { impl_->set_tokens(std::move(file)); }

void Master::set_trouble(std::string sentence) { impl_->set_trouble(std::move(sentence)); }

void Master::request_stop(std::string by, bool at_once) {
  impl_->request_stop(std::move(by), at_once);
}
job::JobStatus Master::status() const { return impl_->status(); }
bool Master::lines_are_told() const { return impl_->lines_are_told(); }

bool Master::is_settling() const { return impl_->is_settling(); }
std::uint16_t Master::tls_port() const { return impl_->tls_port(); }

}  // namespace gangrun::master
