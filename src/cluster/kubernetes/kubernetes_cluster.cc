#include "cluster/kubernetes/kubernetes_cluster.h"

#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/overloaded.h"
#include "cluster/kubernetes/errands.h"
#include "cluster/kubernetes/job_objects.h"
#include "cluster/kubernetes/job_removal.h"
#include "cluster/kubernetes/kubernetes_options.h"
#include "cluster/kubernetes/names.h"
#include "cluster/kubernetes/pod_book.h"
#include "cluster/kubernetes/pod_facts.h"
#include "cluster/kubernetes/pod_notices.h"
#include "cluster/kubernetes/pod_outputs.h"
#include "cluster/kubernetes/pod_streams.h"

namespace gangrun::cluster {

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

// Of an error as the book takes it: what the refusal of a request means is in its code.
base::Result<> result_of(const kubernetes::Answer& answer) {
  if (answer.object.ok()) return {};
  return answer.object.error();
}

}  // namespace

class KubernetesCluster::Impl {
 public:
  Impl(net::EventLoop& loop, base::Logger& logger, kubernetes::Client& client, Manifests manifests,
       const Options& options);

  void begin();
  void clear(std::function<void(base::Result<>)> done);
  [[nodiscard]] std::string left() const { return removal_ ? removal_->left() : ""; }
  int give_notice(const std::string& by);
  PodBook& book() { return book_; }
  [[nodiscard]] const Manifests& manifests() const { return manifests_; }
  [[nodiscard]] base::Instant now() const { return loop_.now(); }
  // Does what the book wants by now. After each thing that it was told.
  void act();

  std::function<void(Event)> on_event;
  std::function<void(DirectEvent)> on_direct_event;

 private:
  void carry_out(const CreatePod& action);
  void create_next();
  void create(const job::TaskId& task, const DirectRun& run);
  void created(const job::TaskId& task, const base::Result<PodFacts>& made);
  void carry_out(const DeletePod& action);
  void carry_out(const LookForPod& action);
  void carry_out(const ListEvents& action);
  void carry_out(const FollowLog& action) { streams_.read(action.task, action.uid, true); }
  void carry_out(const ReadRestOfLog& action) { streams_.read(action.task, action.uid, false); }
  void carry_out(const DropLog& action) { streams_.drop(action.task); }
  void carry_out(const LookAtOwner&) { objects_.look_at_owner(); }
  void carry_out(const FetchOutputs& action) { outputs_.fetch(action.task, action.uid); }
  void carry_out(Event& event) { tell(std::move(event)); }
  void carry_out(DirectEvent& event) { tell(std::move(event)); }

  void watch();
  void tell(std::variant<Event, DirectEvent> event);
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
  base::Logger& logger_;
  kubernetes::Client& client_;
  Manifests manifests_;
  std::map<std::string, job::TaskId> tasks_;  // by the names of their pods
  PodBook book_;
  JobObjects objects_;
  PodStreams streams_;
  PodOutputs outputs_;
  PodNotices notices_;
  Errands errands_;
  std::map<std::string, std::uint64_t> deletions_;  // under way, by the uids of their pods
  kubernetes::ActivityHandle watch_;
  std::optional<JobRemoval> removal_;
  net::Timer timer_;
  std::deque<job::TaskId> to_create_;
  int being_created_ = 0;
  bool is_cleared_ = false;
  // What is to be told, lines too, in its order and never from inside a call.
  std::deque<std::variant<Event, DirectEvent>> outbox_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

KubernetesCluster::Impl::Impl(net::EventLoop& loop, base::Logger& logger,
                              kubernetes::Client& client, Manifests manifests,
                              const Options& options)
    : loop_(loop),
      logger_(logger),
      client_(client),
      manifests_(std::move(manifests)),
      book_(book_options(manifests_, options.random)),
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

JobObjects::Callbacks KubernetesCluster::Impl::object_callbacks() {
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

PodStreams::Callbacks KubernetesCluster::Impl::stream_callbacks() {
  return {.on_line =
              [this](const job::TaskId& task, const std::string& uid,
                     std::optional<base::WallTime> time, std::string_view text) {
                book_.on_line(task, uid, time, loop_.now());
                tell(DirectEvent(RunLine{task, std::string(text), time}));
              },
          .on_ended =
              [this](const job::TaskId& task, const std::string& uid, const base::Result<>& ended) {
                book_.on_log_ended(task, uid, ended, loop_.now());
                act();
              }};
}

PodOutputs::Callbacks KubernetesCluster::Impl::output_callbacks() {
  return {
      .on_fetched =
          [this](const job::TaskId& task, const std::string& uid, const base::Result<>& fetched) {
            book_.on_outputs(task, uid, fetched, loop_.now());
            act();
          },
      .on_warning =
          [this](std::string sentence) { tell(DirectEvent(RunWarning{std::move(sentence)})); }};
}

std::string KubernetesCluster::Impl::path_of(const std::string& collection) const {
  return base::format("/api/v1/namespaces/{}/{}", manifests_.input().name_space, collection);
}

PodFacts KubernetesCluster::Impl::facts_of(const base::Json& pod) const {
  const auto task = tasks_.find(name_of(pod));
  return pod_facts(pod, task == tasks_.end() ? "" : manifests_.container_of(task->second));
}

bool KubernetesCluster::Impl::is_ours(const base::Json& pod) const {
  return is_owned_by(pod, {owner_name(manifests_.input()), objects_.owner().uid});
}

void KubernetesCluster::Impl::begin() {
  watch();
  objects_.begin();
}

void KubernetesCluster::Impl::watch() {
  kubernetes::WatchRequest request;
  request.path = path_of("pods");
  request.label_selector = job_selector(manifests_.input().job_id);
  kubernetes::WatchCallbacks callbacks;
  callbacks.on_list = [this](const std::vector<base::Json>& objects) {
    std::vector<PodFacts> pods;
    pods.reserve(objects.size());
    for (const base::Json& object : objects) {
      if (is_ours(object)) pods.push_back(facts_of(object));
    }
    book_.on_list(pods, loop_.now());
    act();
  };
  callbacks.on_change = [this](const kubernetes::Change& change) {
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

void KubernetesCluster::Impl::act() {
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

void KubernetesCluster::Impl::tell(std::variant<Event, DirectEvent> event) {
  outbox_.push_back(std::move(event));
  if (outbox_.size() > 1) return;
  loop_.post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) flush();
  });
}

// What is told may lead to more, which is told in the same go.
void KubernetesCluster::Impl::flush() {
  while (!outbox_.empty()) {
    const auto event = std::move(outbox_.front());
    std::visit(base::Overloaded{
                   [this](const Event& own) {
                     if (on_event) on_event(own);
                   },
                   [this](const DirectEvent& own) {
                     if (on_direct_event) on_direct_event(own);
                   },
               },
               event);
    // Only now: a first one asks for this to be called.
    outbox_.pop_front();
  }
}

// Pods of a large job are large together: few of them are in memory at a time.
void KubernetesCluster::Impl::carry_out(const CreatePod& action) {
  to_create_.push_back(action.task);
  create_next();
}

void KubernetesCluster::Impl::create_next() {
  while (!to_create_.empty() && being_created_ < kMaxCreations) {
    const job::TaskId task = to_create_.front();
    to_create_.pop_front();
    ++being_created_;
    if (const auto run = book_.wanted(task)) {
      create(task, *run);
      continue;
    }
    loop_.post([this, alive = std::weak_ptr<bool>(alive_), task] {
      if (alive.expired()) return;
      created(task, base::Error{base::Code::kCancelled, "not wanted any more"});
    });
  }
}

void KubernetesCluster::Impl::create(const job::TaskId& task, const DirectRun& run) {
  kubernetes::Request request;
  request.method = "POST";
  request.path = path_of("pods");
  request.query = {kubernetes::kStrictFields};
  request.body = manifests_.pod(task, run, objects_.owner());
  // What becomes of it the watch tells.
  request.wants_metadata_only = true;
  // Then the book, which asks again too, can say what is waited for.
  request.patience = kCreationPatience;
  errands_.ask(std::move(request), [this, task](const kubernetes::Answer& answer) {
    created(task, answer.object.ok() ? base::Result<PodFacts>(facts_of(*answer.object))
                                     : base::Result<PodFacts>(answer.object.error()));
  });
}

void KubernetesCluster::Impl::created(const job::TaskId& task, const base::Result<PodFacts>& made) {
  --being_created_;
  book_.on_created(task, made, loop_.now());
  act();
  if (!is_cleared_) create_next();
}

void KubernetesCluster::Impl::carry_out(const DeletePod& action) {
  kubernetes::Request request;
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
  deletions_[action.uid] =
      errands_.ask(std::move(request),
                   [this, task = action.task, uid = action.uid](const kubernetes::Answer& answer) {
                     deletions_.erase(uid);
                     book_.on_deleted(task, uid, result_of(answer), loop_.now());
                     act();
                   });
}

// By a list of one, for which the right to list is enough.
void KubernetesCluster::Impl::carry_out(const LookForPod& action) {
  kubernetes::Request request;
  request.path = path_of("pods");
  request.query = {{"fieldSelector", "metadata.name=" + manifests_.pod_name(action.task)}};
  errands_.ask(std::move(request), [this, task = action.task](kubernetes::Answer answer) {
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

void KubernetesCluster::Impl::carry_out(const ListEvents& action) {
  kubernetes::Request request;
  request.path = path_of("events");
  request.query = {{"fieldSelector", "involvedObject.uid=" + action.uid}, {"limit", "50"}};
  errands_.ask(std::move(request),
               [this, task = action.task, uid = action.uid](const kubernetes::Answer& answer) {
                 if (!answer.object.ok()) return;
                 book_.on_events(task, uid, latest_warning(*answer.object));
               });
}

// A command that is not told goes on: that changes nothing for the job.
int KubernetesCluster::Impl::give_notice(const std::string& by) {
  const std::vector<job::TaskId> tasks = book_.running();
  notices_.give(tasks, by);
  return static_cast<int>(tasks.size());
}

void KubernetesCluster::Impl::tell_failures(std::vector<std::string> sentences) {
  for (std::string& sentence : sentences) tell(DirectEvent(RunWarning{std::move(sentence)}));
}

void KubernetesCluster::Impl::clear(std::function<void(base::Result<>)> done) {
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

KubernetesCluster::KubernetesCluster(net::EventLoop& loop, base::Logger& logger,
                                     kubernetes::Client& client, Manifests manifests,
                                     const Options& options)
    : impl_(std::make_unique<Impl>(loop, logger, client, std::move(manifests), options)) {}

KubernetesCluster::~KubernetesCluster() = default;

void KubernetesCluster::begin() { impl_->begin(); }

void KubernetesCluster::clear(std::function<void(base::Result<>)> done) {
  impl_->clear(std::move(done));
}

std::string KubernetesCluster::left() const { return impl_->left(); }

void KubernetesCluster::on_event(std::function<void(Event)> listener) {
  impl_->on_event = std::move(listener);
}

void KubernetesCluster::on_direct_event(std::function<void(DirectEvent)> listener) {
  impl_->on_direct_event = std::move(listener);
}

void KubernetesCluster::start(const job::TaskId& task, int attempt, Launch) {
  impl_->book().start(task, attempt, impl_->now());
  impl_->act();
}

void KubernetesCluster::adopt(const job::TaskId& task, int attempt, const base::Json&) {
  impl_->book().adopt(task, attempt, impl_->now());
  impl_->act();
}

void KubernetesCluster::release_others() {
  impl_->book().release_others(impl_->now());
  impl_->act();
}

void KubernetesCluster::stop(const job::TaskId& task, int attempt,
                             std::chrono::milliseconds grace) {
  impl_->book().stop(task, attempt, grace, impl_->now());
  impl_->act();
}

job::Address KubernetesCluster::address_of(const job::TaskId& task) const {
  return impl_->manifests().address_of(task);
}

std::vector<std::uint16_t> KubernetesCluster::more_ports_of(const job::TaskId& task) const {
  return impl_->manifests().more_ports_of(task);
}

void KubernetesCluster::run(const job::TaskId& task, DirectRun run) {
  impl_->book().run(task, std::move(run), impl_->now());
  impl_->act();
}

void KubernetesCluster::end_run(const job::TaskId& task, std::chrono::milliseconds grace) {
  impl_->book().end_run(task, grace, impl_->now());
  impl_->act();
}

int KubernetesCluster::give_notice(const std::string& by) { return impl_->give_notice(by); }

std::string KubernetesCluster::waiting_for() const {
  return impl_->book().waiting_for(impl_->now());
}

}  // namespace gangrun::cluster
