#include "kubernetes/pods/kubernetes_tasks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"

namespace gangrun::kubernetes::pods {

namespace {

// Some more than the client asks for at a time, so that it never waits.
constexpr int kMaxCreations = 20;
constexpr base::Duration kCreationPatience = std::chrono::seconds(3);

PodBook::Options book_options(const Manifests& manifests, std::function<double()> random) {
  const ManifestInput& input = manifests.input();
  PodBook::Options options;
  options.job_id = input.job_id;
  for (const job::TaskId& task : input.spec.task_ids()) {
    options.names[task] = manifests.pod_name(task);
    if (!manifests.outputs_of(task).empty()) options.with_outputs.insert(task);
  }
  const std::vector<job::TaskId> gang = gang_of(input.spec);
  options.gang = {gang.begin(), gang.end()};
  options.takes_back = input.gang_scheduling == GangScheduling::kHold;
  options.timeouts = input.spec.timeouts;
  options.random = std::move(random);
  return options;
}

// An answer as the book takes it: what the refusal of a request means is in its code.
base::Result<> result_of(const ApiAnswer& answer) {
  if (answer.object.ok()) return {};
  return answer.object.error();
}

}  // namespace

KubernetesTasks::KubernetesTasks(net::EventLoop& loop, base::Logger& logger, Client& client,
                                 Manifests manifests, const Options& options)
    : loop_(loop),
      posts_(loop),
      logger_(logger),
      client_(client),
      manifests_(std::move(manifests)),
      book_(book_options(manifests_, options.random)),
      runs_(manifests_, options.log_folder, logger),
      objects_(loop, logger, client, manifests_, options.lease,
               std::min(kLeaseRenewal, options.lease / 3), object_callbacks()),
      streams_(loop, client, manifests_, stream_callbacks()),
      outputs_(loop, client, manifests_, options.output_folder, options.unpack, output_callbacks()),
      notices_(loop, logger, client, manifests_,
               [this](auto sentences) {
                 for (std::string& sentence : sentences) warn(std::move(sentence));
               }),
      errands_(loop, client) {
  for (const job::TaskId& task : manifests_.input().spec.task_ids()) {
    tasks_[manifests_.pod_name(task)] = task;
  }
}

JobObjects::Callbacks KubernetesTasks::object_callbacks() {
  return {
      .on_ready = [this] { tell_book(&PodBook::on_ready); },
      .on_gone =
          [this](const std::string& sentence, job::Reason reason) {
            book_.on_gone(sentence, reason);
            act();
          },
      .on_deleted =
          [this](const std::string& sentence) { tell_book(&PodBook::on_owner_deleted, sentence); },
      .on_owner_there = [this] { tell_book(&PodBook::on_owner_there); },
      .on_heard = [this] { tell_book(&PodBook::on_heard); },
      .on_silent =
          [this](const base::Error& error) { tell_book(&PodBook::on_trouble, error, false); }};
}

PodStreams::Callbacks KubernetesTasks::stream_callbacks() {
  return {.on_line =
              [this](const job::TaskId& task, const std::string& uid,
                     std::optional<base::WallTime> time, std::string_view text) {
                book_.on_line(task, uid, time, loop_.now());
                tell(RunLine{task, std::string(text), time});
              },
          .on_ended =
              [this](const job::TaskId& task, const std::string& uid, const base::Result<>& ended) {
                tell_book(&PodBook::on_log_ended, task, uid, ended);
              }};
}

PodOutputs::Callbacks KubernetesTasks::output_callbacks() {
  return {
      .on_fetched =
          [this](const job::TaskId& task, const std::string& uid, const base::Result<>& fetched) {
            tell_book(&PodBook::on_outputs, task, uid, fetched);
          },
      .on_warning = [this](std::string sentence) { warn(std::move(sentence)); }};
}

std::string KubernetesTasks::pods_path() const {
  return kubernetes::pods_path(manifests_.input().name_space);
}

PodFacts KubernetesTasks::facts_of(const base::Json& pod) const {
  const auto task = tasks_.find(name_of(pod));
  return pod_facts(pod, task == tasks_.end() ? "" : manifests_.container_of(task->second));
}

bool KubernetesTasks::is_ours(const base::Json& pod) const {
  return is_owned_by(pod, {owner_name(manifests_.input()), objects_.owner().uid});
}

void KubernetesTasks::begin() {
  if (std::exchange(has_begun_, true)) return;
  watch();
  objects_.begin();
}

void KubernetesTasks::watch() {
  WatchRequest request;
  request.path = pods_path();
  request.label_selector = job_selector(manifests_.input().job_id);
  WatchCallbacks callbacks;
  callbacks.on_list = [this](const std::vector<base::Json>& objects) {
    std::vector<PodFacts> pods;
    pods.reserve(objects.size());
    for (const base::Json& object : objects) {
      if (is_ours(object)) pods.push_back(facts_of(object));
    }
    tell_book(&PodBook::on_list, pods);
  };
  callbacks.on_change = [this](const Change& change) {
    if (!is_ours(change.object)) return tell_book(&PodBook::on_stranger);
    tell_book(&PodBook::on_change, facts_of(change.object), change.is_deleted);
  };
  callbacks.on_trouble = [this](const base::Error& error, bool is_final) {
    logger_.warning("the pods cannot be watched: {}", error.message);
    tell_book(&PodBook::on_trouble, error, is_final);
  };
  watch_ = client_.watch(std::move(request), std::move(callbacks));
}

void KubernetesTasks::act() {
  if (is_cleared_) return;
  for (PodAction& action : book_.take_actions()) {
    std::visit([this](auto& what) { carry_out(what); }, action);
  }
  timer_.reset();
  if (const auto deadline = book_.next_deadline()) {
    timer_ = loop_.at(*deadline, [this] { tell_book(&PodBook::on_time); });
  }
}

void KubernetesTasks::tell(PodEvent event) {
  outbox_.push_back(std::move(event));
  if (outbox_.size() > 1) return;
  posts_.post([this] { flush(); });
}

// An event may lead to more, which are told in the same go.
void KubernetesTasks::flush() {
  while (!outbox_.empty()) {
    const PodEvent event = std::move(outbox_.front());
    for (const cluster::TasksEvent& each : runs_.told(event)) listener_(each);
    // Only now: a first one asks for this to be called.
    outbox_.pop_front();
  }
}

// Pods of a large job are large together: few of them are in memory at a time.
void KubernetesTasks::carry_out(const CreatePod& action) {
  to_create_.push_back(action.task);
  create_next();
}

void KubernetesTasks::create_next() {
  while (!to_create_.empty() && being_created_ < kMaxCreations) {
    const job::TaskId task = to_create_.front();
    to_create_.pop_front();
    ++being_created_;
    if (const auto run = book_.wanted(task)) {
      create(task, *run);
      continue;
    }
    posts_.post([this, task] {
      created(task, base::Error{base::Code::kCancelled, "not wanted any more"});
    });
  }
}

void KubernetesTasks::create(const job::TaskId& task, const PodRun& run) {
  Request request;
  request.method = "POST";
  request.path = pods_path();
  request.query = {kStrictFields};
  request.body = manifests_.pod(task, run, objects_.owner());
  // The watch tells what becomes of it.
  request.wants_metadata_only = true;
  // Then the book, which asks again too, can say what is waited for.
  request.patience = kCreationPatience;
  errands_.ask(std::move(request), [this, task](const ApiAnswer& answer) {
    created(task, answer.object.ok() ? base::Result<PodFacts>(facts_of(*answer.object))
                                     : base::Result<PodFacts>(answer.object.error()));
  });
}

void KubernetesTasks::created(const job::TaskId& task, const base::Result<PodFacts>& made) {
  --being_created_;
  tell_book(&PodBook::on_created, task, made);
  if (!is_cleared_) create_next();
}

void KubernetesTasks::carry_out(const DeletePod& action) {
  Request request;
  request.method = "DELETE";
  request.path = pods_path() + "/" + manifests_.pod_name(action.task);
  request.body = {{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"gracePeriodSeconds", action.grace.count()},
                  {"preconditions", {{"uid", action.uid}}}};
  request.wants_metadata_only = true;
  // A node keeps to the time that it hears of first: an earlier order must not come before this
  // one.
  errands_.drop(deletions_[action.uid]);
  deletions_[action.uid] = errands_.ask(
      std::move(request), [this, task = action.task, uid = action.uid](const ApiAnswer& answer) {
        deletions_.erase(uid);
        tell_book(&PodBook::on_deleted, task, uid, result_of(answer));
      });
}

// By a list of one, for which the right to list is enough.
void KubernetesTasks::carry_out(const LookForPod& action) {
  Request request;
  request.path = pods_path();
  request.query = {{"fieldSelector", "metadata.name=" + manifests_.pod_name(action.task)}};
  errands_.ask(std::move(request), [this, task = action.task](ApiAnswer answer) {
    base::Result<std::optional<PodFacts>> found(std::nullopt);
    if (!answer.object.ok()) {
      found = answer.object.error();
    } else if (const auto pods = items_of(*std::move(answer.object)); !pods.empty()) {
      PodFacts facts = facts_of(pods.front());
      if (!is_ours(pods.front())) facts.job.clear();
      found = std::optional<PodFacts>(std::move(facts));
    }
    tell_book(&PodBook::on_looked_for, task, found);
  });
}

void KubernetesTasks::carry_out(const ListEvents& action) {
  Request request;
  request.path = base::format("/api/v1/namespaces/{}/events", manifests_.input().name_space);
  request.query = {{"fieldSelector", "involvedObject.uid=" + action.uid}, {"limit", "50"}};
  errands_.ask(std::move(request),
               [this, task = action.task, uid = action.uid](const ApiAnswer& answer) {
                 if (!answer.object.ok()) return;
                 book_.on_events(task, uid, latest_warning(*answer.object));
               });
}

void KubernetesTasks::run(const gang::Start& decision,
                          const std::shared_ptr<const job::ClusterSpec>& spec) {
  auto run = runs_.begin(decision, spec);
  if (run.ok()) return tell_book(&PodBook::run, decision.task, *run);
  job::ExitReport report;
  report.why = {.reason = job::Reason::kCouldNotStart, .detail = run.error().message};
  tell(job::Exited{decision.task, decision.attempt, std::move(report), loop_.now()});
}

void KubernetesTasks::clear(std::function<void(base::Result<>)> done) {
  is_cleared_ = true;
  timer_.reset();
  watch_.reset();
  notices_.clear();
  objects_.end();
  removal_.emplace(loop_, client_, manifests_, objects_.owner().uid, std::move(done));
  removal_->begin(objects_.is_owner_deleted());
}

void KubernetesTasks::start(const gang::Allocate& decision) {
  begin();
  tell_book(&PodBook::start, decision.task, decision.attempt);
}

void KubernetesTasks::stop(const gang::Stop& decision) {
  tell_book(&PodBook::end_run, decision.task, decision.grace);
}

void KubernetesTasks::end(const gang::End& decision) {
  tell_book(&PodBook::stop, decision.task, decision.attempt, decision.grace);
}

void KubernetesTasks::kill(const gang::Kill& decision) {
  end({decision.task, decision.attempt, std::chrono::milliseconds(0)});
}

void KubernetesTasks::resume(const std::vector<cluster::Left>& tasks) {
  begin();
  for (const cluster::Left& left : tasks) {
    runs_.adopt(left);
    book_.adopt(left.task, left.allocated_attempt, loop_.now());
  }
  tell_book(&PodBook::release_others);
}

void KubernetesTasks::ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
                          const cluster::OnTaskAnswer& on_answer) {
  if (question.kind != cluster::kNotice) {
    for (const job::TaskId& task : tasks) on_answer(task, cluster::no_agent_there());
    return;
  }
  std::vector<job::TaskId> there = book_.running();
  std::erase_if(there,
                [&](const auto& task) { return std::ranges::find(tasks, task) == tasks.end(); });
  for (const job::TaskId& task : tasks) {
    const bool is_there = std::ranges::find(there, task) != there.end();
    if (!is_there) on_answer(task, base::unavailable("its pod does not run"));
  }
  // A command that is not told goes on: that changes nothing for the job, and a warning names it.
  notices_.give(there, cluster::notice_by(question), question.limit,
                [on_answer](const job::TaskId& task, const base::Result<>& told) {
                  on_answer(task,
                            told.ok() ? base::Result<base::Json>(base::Json()) : told.error());
                });
}

void KubernetesTasks::settle(std::function<void()> done) {
  if (auto sentence = runs_.lost_lines()) {
    listener_(cluster::TasksWarning{*std::move(sentence)});
  }
  done();
}

std::string KubernetesTasks::waiting_for(std::string of_gang) const {
  // The book knows better what a run waits for.
  std::string of_pods = book_.waiting_for(loop_.now());
  return of_pods.empty() ? std::move(of_gang) : std::move(of_pods);
}

}  // namespace gangrun::kubernetes::pods
