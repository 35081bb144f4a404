#include "kubernetes/pods/kubernetes_tasks.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "base/format.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/job_objects.h"
#include "kubernetes/pods/job_removal.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/pod_notices.h"
#include "kubernetes/pods/pod_outputs.h"
#include "kubernetes/pods/pod_runs.h"
#include "kubernetes/pods/pod_streams.h"
#include "net/posts.h"

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
  options.gang = manifests.gang();
  options.takes_back = input.gang_scheduling == GangScheduling::kHold;
  options.timeouts = input.spec.timeouts;
  options.random = std::move(random);
  return options;
}

// An answer as the book takes it: what the refusal of a request means is in its code.
base::Result<> result_of(const Answer& answer) {
  if (answer.object.ok()) return {};
  return answer.object.error();
}

}  // namespace

class KubernetesTasks::Impl {
 public:
  Impl(net::EventLoop& loop, base::Logger& logger, Client& client, Manifests manifests,
       const Options& options);

  // Once: makes the owner and all but the pods, or finds those of an earlier client of the job.
  // Pods wait for it. Its error comes as gang::ClusterGone.
  void begin();
  void run(const gang::Start& decision, const std::shared_ptr<const job::ClusterSpec>& spec);
  void clear(std::function<void(base::Result<>)> done);
  [[nodiscard]] std::string left() const { return removal_ ? removal_->left() : ""; }
  PodNotices& notices() { return notices_; }
  PodBook& book() { return book_; }
  PodRuns& runs() { return runs_; }
  [[nodiscard]] base::Instant now() const { return loop_.now(); }
  // Does what the book wants by now. After each thing that it was told.
  void act();

  std::function<void(cluster::TasksEvent)> listener;

 private:
  void carry_out(const CreatePod& action);
  void create_next();
  void create(const job::TaskId& task, const PodRun& run);
  void created(const job::TaskId& task, const base::Result<PodFacts>& made);
  void carry_out(const DeletePod& action);
  void carry_out(const LookForPod& action);
  void carry_out(const ListEvents& action);
  void carry_out(const FollowLog& action) { streams_.read(action.task, action.uid, true); }
  void carry_out(const ReadRestOfLog& action) { streams_.read(action.task, action.uid, false); }
  void carry_out(const DropLog& action) { streams_.drop(action.task); }
  void carry_out(const LookAtOwner&) { objects_.look_at_owner(); }
  void carry_out(const FetchOutputs& action) { outputs_.fetch(action.task, action.uid); }
  void carry_out(cluster::Event& event) { tell(std::move(event)); }
  void carry_out(RunEvent& event) { tell(std::move(event)); }

  void watch();
  void tell(std::variant<cluster::Event, RunEvent> event);
  void flush();
  [[nodiscard]] PodFacts facts_of(const base::Json& pod) const;
  // Not somebody else's with our label and one of our names.
  [[nodiscard]] bool is_ours(const base::Json& pod) const;
  [[nodiscard]] std::string path_of(const std::string& collection) const;
  JobObjects::Callbacks object_callbacks();
  PodStreams::Callbacks stream_callbacks();
  PodOutputs::Callbacks output_callbacks();
  void tell_failures(std::vector<std::string> sentences);

  net::EventLoop& loop_;
  const net::Posts posts_;
  base::Logger& logger_;
  Client& client_;
  Manifests manifests_;
  std::map<std::string, job::TaskId> tasks_;  // by the names of their pods
  PodBook book_;
  PodRuns runs_;
  JobObjects objects_;
  PodStreams streams_;
  PodOutputs outputs_;
  PodNotices notices_;
  Errands errands_;
  std::map<std::string, std::uint64_t> deletions_;  // under way, by the uids of their pods
  ActivityHandle watch_;
  std::optional<JobRemoval> removal_;
  net::Timer timer_;
  std::deque<job::TaskId> to_create_;
  int being_created_ = 0;
  bool has_begun_ = false;
  bool is_cleared_ = false;
  // Events that are to be told, lines too, in their order and never from inside a call.
  std::deque<std::variant<cluster::Event, RunEvent>> outbox_;
};

KubernetesTasks::Impl::Impl(net::EventLoop& loop, base::Logger& logger, Client& client,
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
               [this](auto sentences) { tell_failures(std::move(sentences)); }),
      errands_(loop, client) {
  for (const job::TaskId& task : manifests_.input().spec.task_ids()) {
    tasks_[manifests_.pod_name(task)] = task;
  }
}

JobObjects::Callbacks KubernetesTasks::Impl::object_callbacks() {
  return {.on_ready =
              [this] {
                book_.on_ready(loop_.now());
                act();
              },
          .on_gone =
              [this](const std::string& sentence, job::Reason reason) {
                book_.on_gone(sentence, reason);
                act();
              },
          .on_deleted =
              [this](const std::string& sentence) {
                book_.on_owner_deleted(sentence, loop_.now());
                act();
              },
          .on_owner_there =
              [this] {
                book_.on_owner_there(loop_.now());
                act();
              },
          .on_heard =
              [this] {
                book_.on_heard(loop_.now());
                act();
              },
          .on_silent =
              [this](const base::Error& error) {
                book_.on_trouble(error, false, loop_.now());
                act();
              }};
}

PodStreams::Callbacks KubernetesTasks::Impl::stream_callbacks() {
  return {.on_line =
              [this](const job::TaskId& task, const std::string& uid,
                     std::optional<base::WallTime> time, std::string_view text) {
                book_.on_line(task, uid, time, loop_.now());
                tell(RunEvent(RunLine{task, std::string(text), time}));
              },
          .on_ended =
              [this](const job::TaskId& task, const std::string& uid, const base::Result<>& ended) {
                book_.on_log_ended(task, uid, ended, loop_.now());
                act();
              }};
}

PodOutputs::Callbacks KubernetesTasks::Impl::output_callbacks() {
  return {
      .on_fetched =
          [this](const job::TaskId& task, const std::string& uid, const base::Result<>& fetched) {
            book_.on_outputs(task, uid, fetched, loop_.now());
            act();
          },
      .on_warning =
          [this](std::string sentence) {
            tell(RunEvent(cluster::TasksWarning{std::move(sentence)}));
          }};
}

std::string KubernetesTasks::Impl::path_of(const std::string& collection) const {
  return base::format("/api/v1/namespaces/{}/{}", manifests_.input().name_space, collection);
}

PodFacts KubernetesTasks::Impl::facts_of(const base::Json& pod) const {
  const auto task = tasks_.find(name_of(pod));
  return pod_facts(pod, task == tasks_.end() ? "" : manifests_.container_of(task->second));
}

bool KubernetesTasks::Impl::is_ours(const base::Json& pod) const {
  return is_owned_by(pod, {owner_name(manifests_.input()), objects_.owner().uid});
}

void KubernetesTasks::Impl::begin() {
  if (std::exchange(has_begun_, true)) return;
  watch();
  objects_.begin();
}

void KubernetesTasks::Impl::watch() {
  WatchRequest request;
  request.path = path_of("pods");
  request.label_selector = job_selector(manifests_.input().job_id);
  WatchCallbacks callbacks;
  callbacks.on_list = [this](const std::vector<base::Json>& objects) {
    std::vector<PodFacts> pods;
    pods.reserve(objects.size());
    for (const base::Json& object : objects) {
      if (is_ours(object)) pods.push_back(facts_of(object));
    }
    book_.on_list(pods, loop_.now());
    act();
  };
  callbacks.on_change = [this](const Change& change) {
    if (!is_ours(change.object)) {
      book_.on_stranger(loop_.now());
      return act();
    }
    book_.on_change(facts_of(change.object), change.is_deleted, loop_.now());
    act();
  };
  callbacks.on_trouble = [this](const base::Error& error, bool is_final) {
    logger_.warning("the pods cannot be watched: {}", error.message);
    book_.on_trouble(error, is_final, loop_.now());
    act();
  };
  watch_ = client_.watch(std::move(request), std::move(callbacks));
}

void KubernetesTasks::Impl::act() {
  if (is_cleared_) return;
  for (PodAction& action : book_.take_actions()) {
    std::visit([this](auto& what) { carry_out(what); }, action);
  }
  timer_.reset();
  if (const auto deadline = book_.next_deadline()) {
    timer_ = loop_.at(*deadline, [this] {
      book_.on_time(loop_.now());
      act();
    });
  }
}

void KubernetesTasks::Impl::tell(std::variant<cluster::Event, RunEvent> event) {
  outbox_.push_back(std::move(event));
  if (outbox_.size() > 1) return;
  posts_.post([this] { flush(); });
}

// An event may lead to more, which are told in the same go.
void KubernetesTasks::Impl::flush() {
  while (!outbox_.empty()) {
    const auto event = std::move(outbox_.front());
    const auto told = std::visit([this](const auto& own) { return runs_.told(own); }, event);
    for (const cluster::TasksEvent& each : told) listener(each);
    // Only now: a first one asks for this to be called.
    outbox_.pop_front();
  }
}

// Pods of a large job are large together: few of them are in memory at a time.
void KubernetesTasks::Impl::carry_out(const CreatePod& action) {
  to_create_.push_back(action.task);
  create_next();
}

void KubernetesTasks::Impl::create_next() {
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

void KubernetesTasks::Impl::create(const job::TaskId& task, const PodRun& run) {
  Request request;
  request.method = "POST";
  request.path = path_of("pods");
  request.query = {kStrictFields};
  request.body = manifests_.pod(task, run, objects_.owner());
  // The watch tells what becomes of it.
  request.wants_metadata_only = true;
  // Then the book, which asks again too, can say what is waited for.
  request.patience = kCreationPatience;
  errands_.ask(std::move(request), [this, task](const Answer& answer) {
    created(task, answer.object.ok() ? base::Result<PodFacts>(facts_of(*answer.object))
                                     : base::Result<PodFacts>(answer.object.error()));
  });
}

void KubernetesTasks::Impl::created(const job::TaskId& task, const base::Result<PodFacts>& made) {
  --being_created_;
  book_.on_created(task, made, loop_.now());
  act();
  if (!is_cleared_) create_next();
}

void KubernetesTasks::Impl::carry_out(const DeletePod& action) {
  Request request;
  request.method = "DELETE";
  request.path = path_of("pods/" + manifests_.pod_name(action.task));
  request.body = {{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"gracePeriodSeconds", action.grace.count()},
                  {"preconditions", {{"uid", action.uid}}}};
  request.wants_metadata_only = true;
  // A node keeps to the time that it hears of first: an earlier order must not come before this
  // one.
  errands_.drop(deletions_[action.uid]);
  deletions_[action.uid] = errands_.ask(
      std::move(request), [this, task = action.task, uid = action.uid](const Answer& answer) {
        deletions_.erase(uid);
        book_.on_deleted(task, uid, result_of(answer), loop_.now());
        act();
      });
}

// By a list of one, for which the right to list is enough.
void KubernetesTasks::Impl::carry_out(const LookForPod& action) {
  Request request;
  request.path = path_of("pods");
  request.query = {{"fieldSelector", "metadata.name=" + manifests_.pod_name(action.task)}};
  errands_.ask(std::move(request), [this, task = action.task](Answer answer) {
    base::Result<std::optional<PodFacts>> found(std::nullopt);
    if (!answer.object.ok()) {
      found = answer.object.error();
    } else if (const auto pods = items_of(*std::move(answer.object)); !pods.empty()) {
      PodFacts facts = facts_of(pods.front());
      if (!is_ours(pods.front())) facts.job.clear();
      found = std::optional<PodFacts>(std::move(facts));
    }
    book_.on_looked_for(task, found, loop_.now());
    act();
  });
}

void KubernetesTasks::Impl::carry_out(const ListEvents& action) {
  Request request;
  request.path = path_of("events");
  request.query = {{"fieldSelector", "involvedObject.uid=" + action.uid}, {"limit", "50"}};
  errands_.ask(std::move(request),
               [this, task = action.task, uid = action.uid](const Answer& answer) {
                 if (!answer.object.ok()) return;
                 book_.on_events(task, uid, latest_warning(*answer.object));
               });
}

void KubernetesTasks::Impl::run(const gang::Start& decision,
                                const std::shared_ptr<const job::ClusterSpec>& spec) {
  auto run = runs_.begin(decision, spec);
  if (run.ok()) {
    book_.run(decision.task, *std::move(run), loop_.now());
    return act();
  }
  job::ExitReport report;
  report.why = {.reason = job::Reason::kCouldNotStart, .detail = run.error().message};
  tell(RunEvent(job::Exited{decision.task, decision.attempt, std::move(report), loop_.now()}));
}

void KubernetesTasks::Impl::tell_failures(std::vector<std::string> sentences) {
  for (auto& sentence : sentences) tell(RunEvent(cluster::TasksWarning{std::move(sentence)}));
}

void KubernetesTasks::Impl::clear(std::function<void(base::Result<>)> done) {
  is_cleared_ = true;
  timer_.reset();
  watch_.reset();
  notices_.clear();
  const bool is_owner_deleted = objects_.is_owner_deleted();
  objects_.end();
  removal_.emplace(loop_, client_, manifests_, objects_.owner().uid, std::move(done));
  if (is_owner_deleted) {
    removal_->begin_after_deletion();
  } else {
    removal_->begin();
  }
}

KubernetesTasks::KubernetesTasks(net::EventLoop& loop, base::Logger& logger, Client& client,
                                 Manifests manifests, const Options& options)
    : impl_(std::make_unique<Impl>(loop, logger, client, std::move(manifests), options)) {}

KubernetesTasks::~KubernetesTasks() = default;

void KubernetesTasks::clear(std::function<void(base::Result<>)> done) {
  impl_->clear(std::move(done));
}

std::string KubernetesTasks::left() const { return impl_->left(); }

void KubernetesTasks::on_event(std::function<void(cluster::TasksEvent)> listener) {
  impl_->listener = std::move(listener);
}

void KubernetesTasks::start(const gang::Allocate& decision) {
  impl_->begin();
  impl_->book().start(decision.task, decision.attempt, impl_->now());
  impl_->act();
}

void KubernetesTasks::run(const gang::Start& decision,
                          const std::shared_ptr<const job::ClusterSpec>& spec) {
  impl_->run(decision, spec);
}

void KubernetesTasks::stop(const gang::Stop& decision) {
  impl_->book().end_run(decision.task, decision.grace, impl_->now());
  impl_->act();
}

void KubernetesTasks::end(const gang::End& decision) {
  impl_->book().stop(decision.task, decision.attempt, decision.grace, impl_->now());
  impl_->act();
}

void KubernetesTasks::kill(const gang::Kill& decision) {
  end({decision.task, decision.attempt, std::chrono::milliseconds(0)});
}

void KubernetesTasks::resume(const std::vector<cluster::Left>& tasks) {
  impl_->begin();
  for (const cluster::Left& left : tasks) {
    impl_->runs().adopt(left);
    impl_->book().adopt(left.task, left.allocated_attempt, impl_->now());
  }
  impl_->book().release_others(impl_->now());
  impl_->act();
}

void KubernetesTasks::ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
                          const cluster::OnTaskAnswer& on_answer) {
  if (question.kind != cluster::kNotice) {
    for (const job::TaskId& task : tasks) on_answer(task, cluster::no_agent_there());
    return;
  }
  std::vector<job::TaskId> there = impl_->book().running();
  std::erase_if(there,
                [&](const auto& task) { return std::ranges::find(tasks, task) == tasks.end(); });
  // A command that is not told goes on: that changes nothing for the job, and a warning names it.
  impl_->notices().give(there, cluster::notice_by(question));
  for (const job::TaskId& task : tasks) {
    const bool is_there = std::ranges::find(there, task) != there.end();
    on_answer(task, is_there ? base::Json()
                             : base::Result<base::Json>(base::unavailable("its pod does not run")));
  }
}

void KubernetesTasks::settle(std::function<void()> done) {
  if (auto sentence = impl_->runs().lost_lines()) {
    impl_->listener(cluster::TasksWarning{*std::move(sentence)});
  }
  done();
}

std::string KubernetesTasks::waiting_for(std::string of_gang) const {
  // The book knows better what a run waits for.
  std::string of_pods = impl_->book().waiting_for(impl_->now());
  return of_pods.empty() ? std::move(of_gang) : std::move(of_pods);
}

const cluster::TaskFacts* KubernetesTasks::facts(const job::TaskId& task) const {
  return impl_->runs().facts(task);
}

}  // namespace gangrun::kubernetes::pods
