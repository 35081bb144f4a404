#include "kubernetes/pods/job_pods.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"
#include "kubernetes/pods/amounts.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"

namespace gangrun::kubernetes::pods {

namespace {

// Some more than the client asks for at a time, so that it never waits.
constexpr int kMaxCreations = 20;
constexpr base::Duration kCreationPatience = std::chrono::seconds(3);

// An answer as the book takes it: what the refusal of a request means is in its code.
base::Result<> result_of(const ApiAnswer& answer) {
  if (answer.object.ok()) return {};
  return answer.object.error();
}

std::map<std::string, job::TaskId> tasks_by_pod(const std::map<job::TaskId, std::string>& names) {
  std::map<std::string, job::TaskId> tasks;
  for (const auto& [task, pod] : names) tasks[pod] = task;
  return tasks;
}

}  // namespace

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

JobPods::JobPods(net::EventLoop& loop, base::Logger& logger, Client& client,
                 const Manifests& manifests, PodBook::Options options, Callbacks callbacks,
                 std::optional<Guest> guest)
    : loop_(loop),
      posts_(loop),
      logger_(logger),
      client_(client),
      manifests_(manifests),
      callbacks_(std::move(callbacks)),
      guest_(std::move(guest)),
      tasks_(tasks_by_pod(options.names)),
      book_(std::move(options)),
      objects_(loop, logger, client, manifests_, object_callbacks()),
      errands_(loop, client) {
  if (callbacks_.on_owner) ++awaited_;
  const ManifestInput& input = manifests_.input();
  if (input.gang_scheduling != GangScheduling::kKueue) return;
  kueue_.emplace(loop, client,
                 KueueGroup{input.name_space, kubernetes_of(input.spec).queue, job_name(input)},
                 [this](std::string words) { book_.on_turn(std::move(words)); });
}

JobObjects::Callbacks JobPods::object_callbacks() {
  return {
      .on_owner =
          [this] {
            if (callbacks_.on_owner) callbacks_.on_owner(objects_.owner());
          },
      .on_ready = [this] { more_is_ready(); },
      .on_gone = [this](const std::string& sentence,
                        job::Reason reason) { give_up(sentence, reason); },
      .on_deleted =
          [this](const std::string& sentence) { tell_book(&PodBook::on_owner_deleted, sentence); },
      .on_owner_there = [this] { tell_book(&PodBook::on_owner_there); },
      .on_heard = [this] { tell_book(&PodBook::on_heard); },
      .on_silent =
          [this](const base::Error& error) { tell_book(&PodBook::on_trouble, error, false); }};
}

void JobPods::more_is_ready() {
  if (--awaited_ == 0) tell_book(&PodBook::on_ready);
}

void JobPods::give_up(const std::string& sentence, job::Reason reason) {
  book_.on_gone(sentence, reason);
  act();
}

std::string JobPods::pods_path() const {
  return kubernetes::pods_path(manifests_.input().name_space);
}

PodFacts JobPods::facts_of(const base::Json& pod) const {
  const auto task = tasks_.find(name_of(pod));
  return pod_facts(pod, task == tasks_.end() ? "" : manifests_.container_of(task->second));
}

bool JobPods::is_ours(const base::Json& pod) const {
  return is_owned_by(pod, {owner_name(manifests_.input()), objects_.owner().uid});
}

void JobPods::begin() {
  if (std::exchange(has_begun_, true)) return;
  if (guest_) objects_.use(guest_->owner);
  watch();
  if (!guest_) return objects_.begin();
  if (callbacks_.on_owner) callbacks_.on_owner(guest_->owner);
}

// A watch begins with a list of what there is by then.
void JobPods::watch() {
  // News of the last one would be older.
  watch_.reset();
  WatchRequest request;
  request.path = pods_path();
  const std::string& job_id = manifests_.input().job_id;
  request.label_selector = guest_ ? task_pods_selector(job_id) : job_selector(job_id);
  WatchCallbacks callbacks;
  callbacks.on_list = [this](const std::vector<base::Json>& objects) {
    std::vector<PodFacts> pods;
    pods.reserve(objects.size());
    for (const base::Json& object : objects) {
      if (!is_ours(object)) continue;
      pods.push_back(facts_of(object));
      release(object);
    }
    tell_book(&PodBook::on_list, pods);
  };
  callbacks.on_change = [this](const Change& change) {
    if (!is_ours(change.object)) return tell_book(&PodBook::on_stranger);
    if (!change.is_deleted) release(change.object);
    tell_book(&PodBook::on_change, facts_of(change.object), change.is_deleted);
  };
  callbacks.on_trouble = [this](const base::Error& error, bool is_final) {
    logger_.warning("the pods cannot be watched: {}", error.message);
    tell_book(&PodBook::on_trouble, error, is_final);
  };
  watch_ = client_.watch(std::move(request), std::move(callbacks));
}

// The next pod of the task needs its name; Kueue lets go only when that is there.
void JobPods::release(const base::Json& pod) {
  if (!kueue_ || !is_kept_by_kueue(pod) || !may_act()) return;
  if (!released_.insert(uid_of(pod)).second) return;
  errands_.ask(release_request(manifests_.input().name_space, pod),
               [this, pod](const ApiAnswer& answer) { on_released(pod, answer); });
}

// Whatever is heard of the pod next tries again.
void JobPods::on_released(const base::Json& pod, const ApiAnswer& answer) {
  if (answer.object.ok() || answer.object.error().code == base::Code::kNotFound) return;
  const base::Error& error = answer.object.error();
  if (error.code == base::Code::kPermissionDenied) {
    return tell(cluster::TasksWarning{
        base::format("the pod {} cannot be taken from Kueue: {}", name_of(pod), error.message)});
  }
  logger_.warning("the pod {} could not be taken from Kueue: {}", name_of(pod), error.message);
  released_.erase(uid_of(pod));
}

void JobPods::act() {
  if (is_cleared_) return;
  for (PodAction& action : book_.take_actions()) {
    std::visit([this](auto& what) { carry_out(what); }, action);
  }
  if (kueue_) kueue_->watch(book_.waits_at_gate());
  timer_.reset();
  if (const auto deadline = book_.next_deadline()) {
    timer_ = loop_.at(*deadline, [this] { tell_book(&PodBook::on_time); });
  }
}

void JobPods::tell(PodEvent event) {
  outbox_.push_back(std::move(event));
  if (outbox_.size() > 1) return;
  posts_.post([this] { flush(); });
}

// An event may lead to more, which are told in the same go.
void JobPods::flush() {
  while (!outbox_.empty()) {
    const PodEvent event = std::move(outbox_.front());
    callbacks_.on_event(event);
    // Only now: a first one asks for this to be called.
    outbox_.pop_front();
  }
}

// Pods of a large job are large together: few of them are in memory at a time.
void JobPods::carry_out(const CreatePod& action) {
  to_create_.push_back(action.task);
  create_next();
}

void JobPods::create_next() {
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

void JobPods::create(const job::TaskId& task, const PodRun& run) {
  if (!may_act()) return;
  Request request;
  request.method = "POST";
  request.path = pods_path();
  request.query = {kStrictFields};
  request.body = callbacks_.pod(task, run, objects_.owner());
  // The watch tells what becomes of it.
  request.wants_metadata_only = true;
  // Then the book, which asks again too, can say what is waited for.
  request.patience = kCreationPatience;
  errands_.ask(std::move(request), [this, task](const ApiAnswer& answer) {
    if (answer.object.ok()) return created(task, facts_of(*answer.object));
    base::Error error = answer.object.error();
    if (task == kRelayTask) error.message += fields_for_amounts(error.message, "kubernetes.relay");
    created(task, std::move(error));
  });
}

void JobPods::created(const job::TaskId& task, const base::Result<PodFacts>& made) {
  --being_created_;
  tell_book(&PodBook::on_created, task, made);
  if (!is_cleared_) create_next();
}

void JobPods::carry_out(const DeletePod& action) {
  if (!may_act()) return;
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
void JobPods::carry_out(const LookForPod& action) {
  Request request;
  request.path = pods_path();
  request.query = {{"fieldSelector", "metadata.name=" + manifests_.pod_name(action.task)}};
  errands_.ask(std::move(request), [this, task = action.task](ApiAnswer answer) {
    base::Result<std::optional<PodFacts>> found(std::nullopt);
    if (!answer.object.ok()) {
      found = answer.object.error();
    } else if (const auto pods = items_of(*std::move(answer.object)); !pods.empty()) {
      PodFacts facts = facts_of(pods.front());
      if (is_ours(pods.front())) {
        release(pods.front());
      } else {
        facts.job.clear();
      }
      found = std::optional<PodFacts>(std::move(facts));
    }
    tell_book(&PodBook::on_looked_for, task, found);
  });
}

void JobPods::carry_out(const ListEvents& action) {
  Request request;
  request.path = base::format("/api/v1/namespaces/{}/events", manifests_.input().name_space);
  request.query = {{"fieldSelector", "involvedObject.uid=" + action.uid}, {"limit", "50"}};
  errands_.ask(std::move(request),
               [this, task = action.task, uid = action.uid](const ApiAnswer& answer) {
                 if (!answer.object.ok()) return;
                 book_.on_events(task, uid, latest_warning(*answer.object));
               });
}

void JobPods::clear(std::function<void(base::Result<>)> done) {
  is_cleared_ = true;
  if (kueue_) kueue_->watch(false);
  timer_.reset();
  watch_.reset();
  objects_.end();
  removal_.emplace(loop_, client_, manifests_, objects_.owner().uid, std::move(done));
  if (guest_) removal_->spare_owner();
  removal_->begin(objects_.is_owner_deleted());
}

}  // namespace gangrun::kubernetes::pods
