#include "master/master.h"

#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "cluster/asking.h"
#include "cluster/task_files.h"
#include "master/task_status.h"

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

Master::Master(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger,
               cluster::Tasks& tasks, journal::Writer& journal, Listener& listener,
               Settings settings)
    : loop_(loop),
      clock_(clock),
      logger_(logger),
      tasks_(tasks),
      journal_(journal),
      listener_(listener),
      job_(std::move(settings.job)),
      records_(std::move(settings.records)),
      waits_(settings.waits),
      on_published_(std::move(settings.on_published)),
      recorded_(job_.past ? std::move(job_.past->gang)
                          : gang::Gang(job_.spec, gang_limits(waits_.master_lost)),
                journal, records_.can_be_followed),
      gang_(recorded_.gang()),
      state_(gang_.state()),
      gate_(records_.far_copy, [this](const gang::Decision& decision) { carry_out(decision); }),
      submitted_(base::to_iso8601(job_.past ? job_.past->submitted : clock.wall_now())) {}

base::Result<> Master::start() {
  if (!job_.past) GANGRUN_TRY(journal_.append(journal::SpecRecord{job_.spec}));
  tasks_.on_event([this](const cluster::TasksEvent& event) {
    std::visit([this](const auto& each) { on(each); }, event);
  });
  remarks_ = job_.remarks;
  // The listener may not be ready before this has returned.
  remarks_timer_ = loop_.after(base::Duration::zero(), [this] {
    for (const std::string& sentence : job_.remarks) {
      logger_.info("{}", sentence);
      listener_.on_remark(sentence);
    }
  });
  zookeeper_ = mirror::ZooKeeperCopy::begin(
      loop_, logger_, job_.spec, job_.zookeeper, gang_,
      [this](const job::TaskId& task) { return tasks_.place_name(task); },
      [this](std::string_view sentence) { listener_.on_warning(sentence); });
  if (job_.past) {
    resume();
  } else {
    handle(gang::Begin{});
  }
  return {};
}

void Master::resume() {
  logger_.info("continues from the journal of an earlier master");
  if (const auto& all_started = job_.past->all_started) {
    all_started_ms_ = to_milliseconds(*all_started - job_.commanded_at);
  }
  if (gang_.cluster_spec().generation > 0) {
    if (job_.past->generation < gang_.cluster_spec().generation) {
      record(journal_.append(journal::GenerationRecord{gang_.cluster_spec()}));
    }
    publish(gang_.cluster_spec());
  }
  std::vector<cluster::Left> left;
  for (const gang::Task& task : gang_.tasks()) {
    if (task.phase == gang::Phase::kAsked || task.phase == gang::Phase::kGone) continue;
    const auto place = job_.past->places.find({task.id, task.allocated_attempt});
    left.push_back({.task = task.id,
                    .allocated_attempt = task.allocated_attempt,
                    .attempt = task.attempt,
                    .has_reported = task.address.port != 0,
                    .handle = place == job_.past->places.end() ? base::Json() : place->second});
  }
  tasks_.resume(left);
  for (const gang::Task& task : gang_.tasks()) tell_if_out(task.id);
  if (job_.past->finish) {
    // The dead one may not have come to it.
    for (const std::string& warning : job_.past->warnings) listener_.on_warning(warning);
    obey(*job_.past->finish);
    return arm_timer();
  }
  handle(gang::Resumed{});
}

void Master::request_stop(std::string by, bool at_once) {
  if (is_settling_) return tasks_.cut_short();
  const bool is_urgent = at_once || gang_.state() == job::JobState::kStopping;
  handle(gang::StopRequested{std::move(by), at_once});
  // Behind all that is decided for it.
  if (is_urgent) tasks_.hurry();
}

void Master::ask(const cluster::Question& question, cluster::OnAnswer on_answer) {
  std::vector<cluster::AskableTask> tasks;
  for (const gang::Task& task : gang_.tasks()) {
    tasks.push_back(
        {task.id, task.phase == gang::Phase::kStarting || task.phase == gang::Phase::kRunning});
  }
  cluster::ask_tasks(
      question, tasks, std::move(on_answer), [this](const auto& to_ask, const auto& told) {
        // The content of a question may be confidential.
        logger_.info("a question ({}) goes to {}", base::printable(to_ask.kind),
                     base::count_text(static_cast<std::int64_t>(to_ask.tasks.size()), "task"));
        tasks_.ask(to_ask.tasks, to_ask, told);
      });
}

void Master::on(const cluster::Happened& event) {
  if (auto run_end = gang::run_end_in(event.event)) handle(*std::move(run_end));
  std::optional<journal::PlaceRecord> place;
  if (const auto& where = event.whereabouts) place = {where->task, where->attempt, where->handle};
  handle(event.event, std::move(place));
}

void Master::on(const cluster::IncompleteLog& event) {
  listener_.on_incomplete_log(event.task, event.what);
}

void Master::on(const cluster::TasksWarning& event) {
  logger_.warning("{}", event.sentence);
  listener_.on_warning(event.sentence);
}

void Master::on(const cluster::Remark& event) {
  logger_.info("{}", event.sentence);
  if (remarks_.size() < kMaxRemarks) remarks_.push_back(event.sentence);
  listener_.on_remark(event.sentence);
}

// Carrying out a decision may bring the next event before it returns: events are handled one after
// another, each when it is in the journal.
void Master::handle(gang::Event event, std::optional<journal::PlaceRecord> place) {
  recorded_.add(std::move(event), std::move(place));
  if (handling_) return;
  handling_ = true;
  while (const auto handled = recorded_.next(clock_.now())) act_upon(*handled);
  handling_ = false;
  tell_of_journal();
  arm_timer();
}

void Master::act_upon(const journal::RecordedGang::Handled& handled) {
  gate_.pass(handled.decisions);
  if (const auto task = gang::ended_in(handled.event)) tell_if_out(*task);
  if (gang::tells_of_start(handled.event)) note_all_started();
  if (zookeeper_) zookeeper_->changed();
  if (gang_.finished()) return;
  if (std::exchange(state_, gang_.state()) != gang_.state())
    record(journal_.append(journal::StatusRecord{status()}));
  listener_.on_changed();
}

void Master::tell_if_out(const job::TaskId& id) {
  const gang::Task* task = gang_.find(id);
  if (task == nullptr || !gang_.is_out(*task)) return;
  cluster::OutOfGeneration news{id, gang_.cluster_spec().generation};
  if (task->outcome != gang::Outcome::kSucceeded) news.failure = task->exit.value_or(job::Why{});
  tasks_.note(news);
}

// Lines that follow from events may be missing: a next master writes them again.
void Master::record(const base::Result<>& written) {
  if (!written.ok()) logger_.warning("not recorded: {}", written.error().message);
}

void Master::tell_of_journal() {
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

void Master::arm_timer() {
  const auto deadline = recorded_.next_deadline();
  timer_.reset();
  if (deadline) timer_ = loop_.at(*deadline, [this] { on_time(); });
}

void Master::on_time() {
  if (!finished_at_) return handle(gang::TimePassed{});
  if (is_settling_) return;
  conclude();
  arm_timer();
}

void Master::carry_out(const gang::Decision& decision) {
  std::visit([this](const auto& each) { obey(each); }, decision);
}

void Master::obey(const gang::Publish& decision) {
  logger_.info("generation {} of the cluster spec is complete", decision.spec.generation);
  record(journal_.append(journal::GenerationRecord{decision.spec}));
  publish(decision.spec);
}

void Master::publish(const job::ClusterSpec& spec) {
  published_ = std::make_shared<const job::ClusterSpec>(spec);
  on_published_(spec);
}

void Master::obey(const gang::Kill& decision) {
  logger_.warning("{} did not end: killed", job::to_string(decision.task));
  tasks_.kill(decision);
}

void Master::obey(const gang::Warn& decision) {
  gang::Warning warning = decision.warning;
  std::visit(base::Overloaded{
                 // The gang knows no host of a run that is not where its task's address says.
                 [this](gang::EndNotConfirmed& lost) {
                   const auto* facts = tasks_.facts(lost.task);
                   if (lost.host.empty() && facts != nullptr) lost.host = facts->host;
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

void Master::obey(const gang::Finish& decision) {
  cause_ = decision.cause;
  const bool has_failed = decision.state == job::JobState::kFailed;
  if (has_failed && cause_) cause_->beside = trouble_;
  finished_at_ = clock_.now();
  ended_ = base::to_iso8601(clock_.wall_now());
  logger_.info("the job has {}", job::to_string(decision.state));
  if (zookeeper_) zookeeper_->end();
  // The verdict is the last that is known of a job: whoever waits for it finds its files too.
  is_settling_ = true;
  tasks_.settle([this] {
    is_settling_ = false;
    conclude();
    arm_timer();
  });
}

// The job has ended when that is recorded, or no room is waited for any more.
void Master::conclude() {
  const bool concluded = recorded_.verdict(status(), clock_.now());
  tell_of_journal();
  if (!concluded) return;
  const auto tell = [this] { listener_.on_finished(); };
  if (records_.far_copy != nullptr) {
    records_.far_copy->copy(tell);
  } else {
    loop_.post(tell);
  }
}

void Master::note_all_started() {
  if (all_started_ms_ >= 0 || !gang_.all_started()) return;
  all_started_ms_ = to_milliseconds(clock_.now() - job_.commanded_at);
}

job::TaskStatus Master::status_of(const gang::Task& task) const {
  job::TaskStatus status =
      master::status_of(task, tasks_.facts(task.id), job_.spec.find(task.id.type)->ports.names);
  status.log_path = cluster::log_prefix(records_.log_folder, task.id);
  return status;
}

std::string Master::waiting_for(base::Instant now) const {
  std::string words =
      tasks_.waiting_for(is_settling_ ? "the lines and files that its tasks have written"
                                      : recorded_.waiting_for(now));
  const std::string trouble = records_.far_copy == nullptr ? "" : records_.far_copy->trouble();
  if (trouble.empty()) return words;
  // First: all else waits for it too.
  return words.empty() ? trouble : base::format("{}; {}", trouble, words);
}

std::optional<std::string> Master::over() const {
  const job::JobState state = gang_.state();
  const bool is_stopping = state == job::JobState::kStopping;
  if (!is_stopping && !job::is_final(state)) return std::nullopt;
  std::string words =
      base::format("the job has {}", is_stopping ? "begun to stop" : job::to_string(state));
  const auto cause = gang_.first_cause();
  if (cause) words += base::format(": {}", job::to_words(*cause));
  return words;
}

job::JobStatus Master::status() const {
  const base::Instant now = finished_at_.value_or(clock_.now());
  job::JobStatus status;
  status.id = job_.id;
  status.name = job_.spec.name;
  // Final together with its cause, not while the end waits to be known elsewhere.
  const bool has_ended = (finished_at_ && !is_settling_) || !job::is_final(gang_.state());
  status.state = has_ended ? gang_.state() : job::JobState::kStopping;
  status.generation = gang_.cluster_spec().generation;
  status.restarts_used = gang_.restarts_used();
  status.restarts_max = job_.spec.restarts.max;
  status.submitted = submitted_;
  if (!is_settling_) status.ended = ended_;
  status.elapsed_ms = to_milliseconds(now - job_.commanded_at);
  status.all_started_ms = all_started_ms_;
  status.has_run = gang_.has_run();
  status.waiting_for = waiting_for(now);
  status.folder = job_.folder;
  if (waits_.tells_cause_early && !cause_) {
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

}  // namespace gangrun::master
