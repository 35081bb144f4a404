#include "kubernetes/commands/detached_pods.h"

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "client/run_record.h"
#include "host/ending_signals.h"
#include "kubernetes/commands/first_pods.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/kubernetes_checks.h"
#include "kubernetes/commands/pods_record.h"
#include "kubernetes/pods/detached_status.h"
#include "kubernetes/pods/job_objects.h"
#include "kubernetes/pods/job_removal.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/rights.h"
#include "process/signals.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr std::chrono::hours kWeek(7 * 24);
constexpr std::chrono::seconds kCheckTimeout(15);
// How long making it all may take; a client that is killed meanwhile leaves things behind for twice
// that.
constexpr std::chrono::minutes kMakingLimit(5);
constexpr std::chrono::seconds kMakingLease = 2 * kMakingLimit;

// A job that is being made.
class Submission {
 public:
  explicit Submission(PodsPlan pods)
      : plan_(std::move(pods.run)),
        access_(std::move(pods.access)),
        input_(std::move(pods.manifests)) {}

  // The folder of the job. An error: nothing of it is left, or its message tells what.
  Result<host::JobPaths> submit(const client::Context& context);

 private:
  void on_signal(int number);
  Result<> reach();
  Result<> make(const client::Context& context);
  Result<> make_objects();
  Result<> make_pods();
  // Checks that the pod of this name, which was there when it was to be made, is the one that we
  // made.
  Result<> check_own(const Json& pod);
  Result<> record(const client::Context& context);
  Result<> keep();
  void remove();
  // Runs the loop; an error where `done` is not true in time, or the user interrupts.
  Result<> wait_for(const std::function<bool()>& done, const std::string& what);
  [[nodiscard]] base::Error interrupted() const;
  [[nodiscard]] std::string unconfirmed() const;

  client::RunPlan plan_;
  const kubernetes::Access access_;
  pods::ManifestInput input_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<client::EndingGuard> guard_;
  std::string interrupted_by_;
  int signals_seen_ = 0;
  net::Timer silence_timer_;
  bool is_left_ = false;  // the removal, by whoever asked twice for the end
  std::unique_ptr<base::Logger> logger_;
  std::unique_ptr<kubernetes::Client> client_;
  std::optional<host::JobFolder> folder_;
  std::optional<pods::Manifests> manifests_;
  std::unique_ptr<pods::JobObjects> objects_;
  base::Instant begun_;
  pods::Owner owner_;
};

Result<host::JobPaths> Submission::submit(const client::Context& context) {
  GANGRUN_ASSIGN(
      guard_, client::EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                                    .on_signal = [this](int n) { on_signal(n); }}));
  begun_ = loop_.now();
  GANGRUN_TRY(reach());
  GANGRUN_ASSIGN(folder_,
                 host::JobFolder::create(plan_.home, plan_.spec, context.clock.wall_now()));
  pods::ManifestInput input = input_;
  input.job_id = folder_->id();
  auto manifests = pods::Manifests::make(std::move(input));
  Result<> made;
  if (manifests.ok()) {
    manifests_.emplace(*std::move(manifests));
    guard_->set_words(unconfirmed());
    made = make(context);
    if (!made.ok()) remove();
  } else {
    made = manifests.error();
  }
  if (made.ok()) return folder_->paths();
  folder_->remove();
  return made.error();
}

void Submission::on_signal(int number) {
  // There is no task yet that it could be for.
  if (process::is_notice(number)) return;
  interrupted_by_ = host::name_of_signal(number);
  if (++signals_seen_ > 1)
    silence_timer_ = loop_.after(client::kSilencePatience, [this] { is_left_ = true; });
}

Result<> Submission::reach() {
  logger_ = base::stderr_logger("gangrun", base::LogLevel::kError);
  GANGRUN_ASSIGN(client_, kubernetes::Client::make(loop_, *logger_, access_, plugin_runner()));
  const auto checked =
      check_cluster(loop_, *client_, plan_.spec, pods::client_rights(plan_.spec),
                    loop_.now() + kCheckTimeout, [this] { return !interrupted_by_.empty(); });
  if (!interrupted_by_.empty()) return interrupted();
  if (!checked.ok()) return checked.error();
  input_.gang_scheduling = *checked;
  return {};
}

Result<> Submission::make(const client::Context& context) {
  GANGRUN_TRY(make_objects());
  GANGRUN_TRY(make_pods());
  GANGRUN_TRY(record(context));
  return keep();
}

Result<> Submission::wait_for(const std::function<bool()>& done, const std::string& what) {
  const auto is_over = [&] { return done() || !interrupted_by_.empty(); };
  if (!loop_.run_until(is_over, begun_ + kMakingLimit)) {
    return base::deadline_exceeded(
        base::format("{} were not created within {}", what, base::to_words(kMakingLimit)));
  }
  return interrupted_by_.empty() ? Result<>() : interrupted();
}

base::Error Submission::interrupted() const {
  return {base::Code::kCancelled, base::format("{}: the job is not started", interrupted_by_)};
}

Result<> Submission::make_objects() {
  bool is_ready = false;
  Result<> made;
  objects_ = std::make_unique<pods::JobObjects>(
      loop_, *logger_, *client_, *manifests_, kMakingLease, kMakingLease,
      pods::JobObjects::Callbacks{
          .on_ready = [&] { is_ready = true; },
          .on_gone =
              [&](const std::string& sentence, job::Reason /*reason*/) {
                made = base::Error{base::Code::kFailedPrecondition, sentence};
              },
          .on_deleted =
              [&](const std::string& sentence) {
                made = base::Error{base::Code::kFailedPrecondition, sentence};
              },
          .on_owner_there = [] {},
          .on_heard = [] {},
          .on_silent = [](const base::Error&) {}});
  objects_->begin();
  const Result<> waited = wait_for([&] { return is_ready || !made.ok(); }, "the job's objects");
  owner_ = objects_->owner();
  objects_->end();
  return made.ok() ? waited : made;
}

Result<> Submission::make_pods() {
  GANGRUN_ASSIGN(const std::vector<Json> pods, first_pods(*manifests_, owner_));
  std::size_t missing = pods.size();
  Result<> made;
  std::vector<const Json*> taken;
  std::vector<kubernetes::ActivityHandle> asked;
  for (const Json& pod : pods) {
    kubernetes::Request request{.method = "POST",
                                .path = pods::collection_path(pod, input_.name_space),
                                .query = {kubernetes::kStrictFields},
                                .body = pod};
    asked.push_back(
        client_->request(std::move(request), begun_ + kMakingLimit, [&](const ApiAnswer& answer) {
          --missing;
          if (answer.object.ok()) return;
          if (answer.object.error().code == base::Code::kAlreadyExists) {
            taken.push_back(&pod);
          } else if (made.ok()) {
            made = answer.object.error().context(
                base::format("{} cannot be made", pods::words_of_object(pod)));
          }
        }));
  }
  const Result<> waited = wait_for([&] { return missing == 0 || !made.ok(); }, "the job's pods");
  if (!made.ok()) return made;
  GANGRUN_TRY(waited);
  for (const Json* pod : taken) GANGRUN_TRY(check_own(*pod));
  return {};
}

// Its own first try may be what has the name.
Result<> Submission::check_own(const Json& pod) {
  GANGRUN_ASSIGN(const std::vector<Json> found,
                 kubernetes::list(loop_, *client_, pods::collection_path(pod, input_.name_space),
                                  {{"fieldSelector", "metadata.name=" + pods::name_of(pod)}},
                                  loop_.now() + pods::kRequestLimit));
  if (!found.empty() && pods::is_owned_by(found.front(), owner_)) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("{} does not belong to this job: its name is taken",
                                  pods::words_of_object(pod))};
}

Result<> Submission::record(const client::Context& context) {
  PodsRecord record;
  const pods::KubernetesOptions& options = pods::kubernetes_of(plan_.spec);
  const kubernetes::Access& access = client_->access();
  record.name_space = access.name_space;
  record.kubeconfig =
      options.kubeconfig.empty() ? "" : client::in_folder(context.folder, options.kubeconfig);
  record.context = access.context;
  record.server = access.remote.url;
  record.lease = detached_lease(plan_.spec);
  record.last_seen = pods::unseen_status(*manifests_);
  record.last_seen.folder = folder_->paths().folder;
  record.last_seen.submitted = base::to_iso8601(context.clock.wall_now());
  return write_pods_record(folder_->paths(), record);
}

// From here on it lives without us.
Result<> Submission::keep() {
  const auto passed = std::chrono::ceil<std::chrono::seconds>(loop_.now() - begun_);
  kubernetes::Request request{
      .method = "PATCH",
      .path = pods::owner_path(manifests_->input()),
      .body = {{"spec",
                {{"activeDeadlineSeconds", (detached_lease(plan_.spec) + passed).count()}}}},
      .content_type = "application/merge-patch+json"};
  GANGRUN_TRY(
      kubernetes::ask(loop_, *client_, std::move(request), loop_.now() + pods::kRequestLimit)
          .context("the job's deadline cannot be set"));
  return {};
}

std::string Submission::unconfirmed() const {
  return base::format(
      "the API server has not confirmed that all objects of {} are deleted; what is left ends by "
      "itself within {}",
      folder_->id(), base::to_words(kMakingLease));
}

void Submission::remove() {
  std::optional<Result<>> removed;
  pods::JobRemoval removal(loop_, *client_, *manifests_, owner_.uid,
                           [&](Result<> done) { removed.emplace(std::move(done)); });
  removal.begin(false);
  (void)loop_.run_until([&] { return removed.has_value() || is_left_; },
                        loop_.now() + pods::kRemovalLimit + pods::kRequestLimit);
  if (removed && removed->ok()) return;
  logger_->error("{}", unconfirmed());
}

}  // namespace

std::chrono::seconds detached_lease(const job::JobSpec& spec) {
  if (spec.timeouts.job.count() == 0) return kWeek;
  return std::chrono::ceil<std::chrono::seconds>(spec.timeouts.job);
}

Result<> check_detached_pods(const job::JobSpec& spec) {
  const auto refuse = [](const std::string& what, std::string_view why, std::string_view allowed) {
    return base::invalid_argument(
        base::format("{} is not allowed with --detach on kubernetes, where {}; allowed: {}", what,
                     why, allowed));
  };
  // A limit that has its default counts as not set.
  const job::Timeouts usual;
  const job::Timeouts& own = spec.timeouts;
  const std::tuple<const char*, std::chrono::milliseconds, std::chrono::milliseconds> limits[] = {
      {"allocation", own.allocation, usual.allocation},
      {"hold", own.hold, usual.hold},
      {"roll_call", own.roll_call, usual.roll_call}};
  for (const auto& [name, limit, default_limit] : limits) {
    if (limit == default_limit) continue;
    return refuse(base::format("timeouts.{}: {}", name, base::to_words(limit)),
                  "no client is running that could end the job then",
                  "none, and timeouts.job, which the cluster keeps");
  }
  if (spec.restarts.max > 0) {
    return refuse(base::format("restarts: {}", spec.restarts.max),
                  "no client is running to handle a failure", "0");
  }
  if (spec.outputs && !spec.outputs->empty()) {
    return refuse(base::format("outputs: {}", spec.outputs->front()),
                  "no client is running to fetch them", "none, and a volume of the cluster");
  }
  for (const job::TaskSpec& task : spec.tasks) {
    if (task.outputs && !task.outputs->empty()) {
      return refuse(base::format("tasks.{}.outputs: {}", task.type, task.outputs->front()),
                    "no client is running to fetch them", "none, and a volume of the cluster");
    }
    const job::Policy policy = job::effective_policy(spec, task);
    if (policy == job::Policy::kTracked || policy == job::Policy::kService) continue;
    return refuse(base::format("tasks.{}.policy: {}", task.type, job::to_string(policy)),
                  "no client is running to stop it after the others", "tracked, service");
  }
  return {};
}

client::ExitStatus run_detached_pods(PodsPlan plan, const client::RunOptions& options,
                                     client::Context& context) {
  const job::JobSpec spec = plan.run.spec;
  Submission submission(std::move(plan));
  const auto submitted = submission.submit(context);
  if (!submitted.ok()) {
    const base::Code code = submitted.error().code;
    const client::ExitStatus status =
        code == base::Code::kInvalidArgument ? client::ExitStatus::kBadInput
        : code == base::Code::kCancelled     ? client::ExitStatus::kInterrupted
                                             : client::ExitStatus::kCouldNotStart;
    return client::fail(context, submitted.error(), status);
  }
  const std::string id = submitted->folder.substr(submitted->folder.rfind('/') + 1);
  return client::leave_submitted(id, {{"job", id}, {"folder", submitted->folder}}, spec, options,
                                 context);
}

}  // namespace gangrun::kubernetes::commands
