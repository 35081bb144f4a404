#include "agents/agents.h"

#include <utility>

#include "base/strings.h"
#include "cluster/task_files.h"
#include "job/described.h"

namespace gangrun::agents {

namespace {

// The words for one task's end have so many bytes at most, as several are told together.
constexpr std::size_t kMaxEndBytes = 200;
// The gang hears so often in the time of a roll call that files still come.
constexpr int kToldInRollCall = 4;

bool is_tracked(const job::JobSpec& spec, const job::TaskId& task) {
  return job::effective_policy(spec, *spec.find(task.type)) == job::Policy::kTracked;
}

}  // namespace

Agents::Agents(net::EventLoop& loop, const base::Clock& clock, base::Logger& logger, Server& server,
               std::unique_ptr<cluster::Launcher> starter, AgentsOptions options)
    : clock_(clock),
      logger_(logger),
      server_(server),
      options_(std::move(options)),
      starter_(std::move(starter)),
      results_(options_.records.result_folder, options_.records.far_results,
               [this](const job::TaskId& task, wire::AnswerMessage answer) {
                 server_.send_answer(task, std::move(answer));
               }),
      outputs_(
          options_.records.output_folder,
          static_cast<std::uint64_t>(options_.launch.spec.outputs_limit_mib.value_or(0)) << 20U,
          [this](const job::TaskId& task, wire::AnswerMessage answer) {
            server_.send_answer(task, std::move(answer));
          },
          [this](const auto& task, auto lost) { on_outputs_over(task, std::move(lost)); }),
      files_(loop, options_.files, options_.launch.spec.timeouts.roll_call / kToldInRollCall,
             file_callbacks()),
      questions_(loop, server),
      keys_(
          loop, logger, options_.records.key_folder, options_.records.far_keys,
          [this](const job::TaskId& task) { return is_tracked(options_.launch.spec, task); },
          [this](const job::TaskId& task, wire::AnswerMessage answer) {
            server_.send_answer(task, std::move(answer));
          }),
      call_back_(loop, logger, [this](const auto& task) { return server_.is_connected(task); }) {
  if (options_.launch.lines == LinesFor::kLogFolder) {
    line_files_.emplace(logger_, cluster::line_limit(options_.launch.spec));
  }
  starter_->on_event([this](const cluster::LaunchEvent& event) { on_starter(event); });
  server_.serve_agents([this](DeskEvent event) { on_agent(std::move(event)); });
}

void Agents::on_event(std::function<void(cluster::TasksEvent)> listener) {
  listener_ = std::move(listener);
}

void Agents::emit(gang::Event event, std::optional<cluster::Whereabouts> whereabouts) {
  listener_(cluster::Happened{std::move(event), std::move(whereabouts)});
}

void Agents::start(const gang::Allocate& decision) {
  const auto& [task, attempt, wanted, avoided] = decision;
  server_.expect(task, attempt);
  places_.expect(task, attempt);
  expect_files(task, attempt);
  const AgentLaunch& job = options_.launch;
  cluster::Launch launch;
  launch.resources = job.spec.find(task.type)->resources_of(task.index);
  launch.wanted = wanted;
  launch.avoided = avoided;
  launch.containers = cluster::containers(job.spec, job.job_id, task, attempt);
  wire::AgentConfig config = agent_config_of(job, task, attempt, server_.tls_port());
  config.fetches_files = files_.has_files();
  launch.agent_config = base::to_json(config);
  starter_->start(task, attempt, std::move(launch));
}

void Agents::run(const gang::Start& decision,
                 const std::shared_ptr<const job::ClusterSpec>& /*spec*/) {
  facts_[decision.task].is_to_end = false;
  // With the spec that the registry has published. Without a session the gang hears of its loss,
  // and decides again when it is back.
  (void)server_.send_start(decision.task, decision.attempt, decision.restarts);
}

// From now on nothing is looked for when it fails; a failure that is held came before.
void Agents::let_end(const job::TaskId& task) {
  facts_[task].is_to_end = true;
  if (const auto failure = failures_.take(task)) tell_exit(*failure);
}

void Agents::stop(const gang::Stop& decision) {
  let_end(decision.task);
  (void)server_.send_stop(decision.task, decision.grace);
}

void Agents::end(const gang::End& decision) {
  coming_ends_.forget(decision.task);
  let_end(decision.task);
  if (server_.send_end(decision.task, decision.grace)) return;
  starter_->stop(decision.task, decision.attempt, decision.grace);
}

void Agents::kill(const gang::Kill& decision) {
  coming_ends_.forget(decision.task);
  let_end(decision.task);
  starter_->stop(decision.task, decision.attempt, kAtOnce);
}

// Agents of the dead master are found again by their places, and have to be heard of within their
// lease.
void Agents::resume(const std::vector<cluster::Left>& tasks) {
  for (const cluster::Left& left : tasks) {
    server_.expect(left.task, left.allocated_attempt);
    server_.set_attempt(left.task, left.attempt);
    expect_files(left.task, left.allocated_attempt);
    places_.expect(left.task, left.allocated_attempt, left.handle);
    starter_->adopt(left.task, left.allocated_attempt, left.handle);
    // It has been told nothing yet, knows only where the old master was, and nobody knows where it
    // is: another one is quicker than its time-out.
    const bool is_out_of_reach = !left.has_reported && options_.moved.has_value();
    if (is_out_of_reach) starter_->stop(left.task, left.allocated_attempt, kAtOnce);
  }
  starter_->release_others();
  // A master that is where the dead one was is found by its agents.
  if (!options_.moved) return;
  const auto& [attempt, lease] = *options_.moved;
  call_back_.begin({options_.launch.secret, {options_.launch.host, server_.tls_port()}, attempt},
                   places_.controls(), clock_.now() + lease);
}

void Agents::ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
                 const cluster::OnTaskAnswer& on_answer) {
  for (const job::TaskId& task : tasks) questions_.ask(task, question, on_answer);
}

void Agents::set_tokens(base::Secret file) {
  tokens_ = std::move(file);
  for (const auto& entry : facts_) {
    if (server_.is_connected(entry.first)) tell_tokens(entry.first);
  }
}

void Agents::note(const cluster::OutOfGeneration& news) {
  keys_.on_task_ended(
      news.generation, news.task, is_tracked(options_.launch.spec, news.task),
      news.failure ? base::shorten(job::to_words(*news.failure), kMaxEndBytes) : "has succeeded");
}

void Agents::settle(std::function<void()> done) {
  starter_->settle([this, done = std::move(done)] {
    const auto missing = line_files_ ? line_files_->missing() : std::nullopt;
    if (missing) listener_(cluster::TasksWarning{*missing});
    done();
  });
}

std::string Agents::waiting_for(std::string of_gang) const {
  // It is why agents are silent, where they are.
  if (std::string silence = starter_->silence(); !silence.empty()) return silence;
  for (const std::string& preparations : {starter_->preparations(), files_.words()}) {
    if (!preparations.empty() && !of_gang.empty()) of_gang += "; " + preparations;
  }
  return of_gang;
}

const cluster::TaskFacts* Agents::facts(const job::TaskId& task) const {
  const auto found = facts_.find(task);
  return found == facts_.end() ? nullptr : &found->second.told;
}

std::string Agents::place_name(const job::TaskId& task) const { return places_.container_of(task); }

}  // namespace gangrun::agents
