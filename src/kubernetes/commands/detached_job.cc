#include "kubernetes/commands/detached_job.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/pause.h"
#include "base/random.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/run_record.h"
#include "client/sites.h"
#include "host/ending_signals.h"
#include "host/job_folder.h"
#include "host/own_user.h"
#include "kubernetes/commands/checked_maps.h"
#include "kubernetes/commands/cluster_records.h"
#include "kubernetes/commands/first_pods.h"
#include "kubernetes/commands/job_making.h"
#include "kubernetes/commands/kubernetes_access.h"
#include "kubernetes/commands/kubernetes_checks.h"
#include "kubernetes/commands/master_account.h"
#include "kubernetes/commands/master_start.h"
#include "kubernetes/pods/job_pods.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/master_pod.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/where_pods_work.h"
#include "kubernetes/records/head.h"
#include "kubernetes/refusal.h"
#include "net/certificate.h"
#include "process/signals.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;
using base::Result;

constexpr std::chrono::hours kMasterCertificateLife(24 * 366);
constexpr std::chrono::seconds kReviewLimit(15);
constexpr std::chrono::minutes kObjectsLimit(5);
// How long the master's pod may take until it leads, at most.
constexpr std::chrono::minutes kMasterLimit(10);
// An image that cannot be pulled, or a program that fails each time, may pass for so long.
constexpr std::chrono::seconds kTroubleLimit(60);
// A start that takes longer is told of.
constexpr std::chrono::seconds kQuietStart(5);
constexpr std::chrono::milliseconds kFirstLookPause(100);
constexpr std::chrono::seconds kLongestLookPause(1);
// The name of a service account for who has none yet.
constexpr std::string_view kUsualAccount = "gangrun-master";

Json records_metadata(const pods::ManifestInput& input, const pods::Owner* owner) {
  Json metadata = pods::metadata_of(input, pods::head_name(input), owner);
  metadata["labels"][pods::kRecordsLabel] = "head";
  return metadata;
}

records::Head first_head(const pods::ManifestInput& input, const std::string& user,
                         base::WallTime submitted) {
  records::Head head;
  head.job = input.job_id;
  head.summary = {.name = input.spec.name,
                  .user = user,
                  .submitted = base::to_iso8601(submitted),
                  .tasks = static_cast<int>(input.spec.task_ids().size())};
  return head;
}

// A job that is being handed to the cluster.
class Handing {
 public:
  Handing(PodsPlan pods, client::Context& context)
      : plan_(std::move(pods.run)),
        access_(std::move(pods.access)),
        input_(std::move(pods.manifests)),
        context_(context),
        checked_maps_(plan_.home) {}

  // The job's id. An error: nothing of it is left, or standard error tells what.
  Result<std::string> submit();
  // Whether the job's account lacks a right, so that a Role may help.
  [[nodiscard]] bool needs_role() const { return needs_role_; }

 private:
  void on_signal(int number);
  Result<> reach();
  Result<> look_at_account();
  Result<> prepare();
  Result<> hand_over();
  Result<> make();
  Result<std::vector<Json>> records_for(const pods::Owner& owner) const;
  Result<> record(const pods::Owner& owner) const;
  Result<> wait_for_master();
  Result<MasterStart> look_at_master();
  Result<Json> answer_to(kubernetes::Request request);
  // An error: it will not come to lead the job.
  Result<> judge(const MasterStart& start, base::Instant limit);
  void take_away();
  // Runs the loop; an error where the user interrupts, or `done` is not true in time.
  Result<> wait_for(const std::function<bool()>& done, base::Instant limit,
                    const std::string& what);
  [[nodiscard]] Result<> check_wanted() const;
  [[nodiscard]] std::string unconfirmed() const;

  client::RunPlan plan_;
  const kubernetes::Access access_;
  pods::ManifestInput input_;
  client::Context& context_;
  CheckedMaps checked_maps_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<client::EndingGuard> guard_;
  std::string interrupted_by_;
  int signals_seen_ = 0;
  net::Timer silence_timer_;
  bool is_left_ = false;  // the removal, by whoever asked twice for the end
  bool needs_role_ = false;
  std::unique_ptr<base::Logger> logger_;
  std::unique_ptr<kubernetes::Client> client_;
  base::WallTime submitted_{};
  base::Secret secret_;
  net::JobCertificate certificate_;
  std::optional<pods::Manifests> manifests_;
  std::unique_ptr<JobMaking> making_;
  base::Instant started_at_{};  // its master
  std::optional<base::Instant> trouble_since_;
  std::string told_;
};

Result<std::string> Handing::submit() {
  GANGRUN_ASSIGN(
      guard_, client::EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                                    .on_signal = [this](int n) { on_signal(n); }}));
  GANGRUN_TRY(reach());
  GANGRUN_TRY(look_at_account());
  context_.console.error(pods::way_of_agents(input_.spec));
  GANGRUN_TRY(prepare());
  GANGRUN_TRY(record({}));
  guard_->set_words(unconfirmed());
  const Result<> handed = hand_over();
  if (handed.ok()) return input_.job_id;
  take_away();
  return handed.error();
}

void Handing::on_signal(int number) {
  // There is no task yet that it could be for.
  if (process::is_notice(number)) return;
  interrupted_by_ = host::name_of_signal(number);
  if (++signals_seen_ > 1)
    silence_timer_ = loop_.after(client::kSilencePatience, [this] { is_left_ = true; });
}

Result<> Handing::check_wanted() const {
  if (interrupted_by_.empty()) return {};
  return base::Error{base::Code::kCancelled,
                     base::format("{}: the job is not started", interrupted_by_)};
}

Result<> Handing::wait_for(const std::function<bool()>& done, base::Instant limit,
                           const std::string& what) {
  const bool is_over = loop_.run_until([&] { return done() || !interrupted_by_.empty(); }, limit);
  GANGRUN_TRY(check_wanted());
  return is_over ? Result<>() : base::deadline_exceeded(what);
}

Result<> Handing::reach() {
  logger_ = base::stderr_logger("gangrun", base::LogLevel::kError);
  GANGRUN_ASSIGN(client_, kubernetes::Client::make(loop_, *logger_, access_, plugin_runner()));
  const auto checked =
      check_cluster(loop_, *client_, plan_.spec, pods::detached_client_rights(plan_.spec),
                    loop_.now() + kReviewLimit, [this] { return !interrupted_by_.empty(); });
  GANGRUN_TRY(check_wanted());
  if (!checked.ok()) return checked.error();
  input_.gang_scheduling = *checked;
  return {};
}

Result<> Handing::look_at_account() {
  const std::string& account = pods::kubernetes_of(plan_.spec).master.service_account;
  const AccountVerdict verdict =
      check_account(loop_, *client_, account, pods::master_rights(plan_.spec),
                    loop_.now() + kReviewLimit, [this] { return !interrupted_by_.empty(); });
  GANGRUN_TRY(check_wanted());
  needs_role_ = verdict.is_refused();
  if (needs_role_) return refusal_of(verdict, account, access_.name_space);
  if (!verdict.is_known) {
    context_.console.error(base::format(
        "the rights of the service account '{}' are not known before the job's master asks for "
        "them: {}",
        account, verdict.why_unknown));
  }
  return check_claim(loop_, *client_, plan_.spec, loop_.now() + kReviewLimit,
                     [this] { return !interrupted_by_.empty(); });
}

Result<> Handing::prepare() {
  submitted_ = context_.clock.wall_now();
  input_.job_id = host::make_job_id(plan_.spec.name, submitted_, base::random_number<unsigned>());
  secret_ = base::Secret::generate();
  GANGRUN_ASSIGN(certificate_, net::make_job_certificate(input_.job_id, kMasterCertificateLife));
  GANGRUN_ASSIGN(auto manifests, pods::Manifests::make(input_));
  manifests_.emplace(std::move(manifests));
  return {};
}

Result<> Handing::record(const pods::Owner& owner) const {
  const pods::KubernetesOptions& options = pods::kubernetes_of(plan_.spec);
  return write_cluster_record(plan_.home, {.id = input_.job_id,
                                           .name = plan_.spec.name,
                                           .name_space = access_.name_space,
                                           .kubeconfig = options.kubeconfig,
                                           .context = access_.context,
                                           .server = access_.remote.url,
                                           .head_name = pods::head_name(input_),
                                           .owner_name = pods::owner_name(input_),
                                           .owner_uid = owner.uid,
                                           .secret = secret_,
                                           .fingerprint = certificate_.fingerprint,
                                           .submitted = base::to_iso8601(submitted_),
                                           .spec = plan_.spec});
}

Result<std::vector<Json>> Handing::records_for(const pods::Owner& owner) const {
  const std::string user = host::own_user_name();
  GANGRUN_ASSIGN(
      Json secret,
      pods::master_secret(
          input_, pods::master_config_of(input_, owner, user, submitted_, secret_, certificate_),
          owner));
  std::vector<Json> records;
  records.push_back(std::move(secret));
  records.push_back(
      records::head_map(records_metadata(input_, &owner), first_head(input_, user, submitted_)));
  return records;
}

Result<> Handing::hand_over() {
  GANGRUN_TRY(make());
  return wait_for_master();
}

Result<> Handing::make() {
  bool is_made = false;
  Result<> made;
  making_ = std::make_unique<JobMaking>(
      loop_, *logger_, *client_,
      JobMaking::Plan{.manifests = *manifests_,
                      .owner = pods::master_owner(*manifests_, pods::kClientLease),
                      .records = [this](const pods::Owner& owner) { return records_for(owner); },
                      .lease = pods::kClientLease,
                      .renewal = pods::kLeaseRenewal,
                      .life = pods::detached_life(plan_.spec),
                      .checked_maps = checked_maps_},
      JobMaking::Callbacks{.on_owner =
                               [&](const pods::Owner& owner) {
                                 if (made.ok()) made = record(owner);
                               },
                           .on_made = [&] { is_made = true; },
                           .on_gone =
                               [&](const std::string& sentence) {
                                 made = base::Error{base::Code::kFailedPrecondition, sentence};
                               }});
  making_->begin();
  const Result<> waited =
      wait_for([&] { return is_made || !made.ok(); }, loop_.now() + kObjectsLimit,
               base::format("{} were not created within {}", making_->waiting_for(),
                            base::to_words(kObjectsLimit)));
  return made.ok() ? waited : made;
}

Result<Json> Handing::answer_to(kubernetes::Request request) {
  std::optional<Result<Json>> answer;
  const base::Instant limit = loop_.now() + pods::kRequestLimit;
  const auto asked = client_->request(std::move(request), limit,
                                      [&](ApiAnswer a) { answer = std::move(a.object); });
  GANGRUN_TRY(wait_for([&] { return answer.has_value(); }, limit + base::seconds(1),
                       "the API server's answer"));
  return *std::move(answer);
}

Result<MasterStart> Handing::look_at_master() {
  const std::string at = base::format("/api/v1/namespaces/{}", input_.name_space);
  const auto found =
      answer_to({.path = base::format("{}/configmaps/{}", at, pods::head_name(input_))});
  if (!found.ok() && found.error().code == base::Code::kNotFound) {
    return base::Error{base::Code::kFailedPrecondition,
                       "the job's objects are gone: somebody deleted them"};
  }
  if (!found.ok()) return found.error();
  GANGRUN_ASSIGN(const records::ReadHead read, records::head_in(*found));
  GANGRUN_ASSIGN(Json list,
                 answer_to({.path = at + "/pods",
                            .query = {{"labelSelector",
                                       base::format("{},{}=1", pods::job_selector(input_.job_id),
                                                    pods::kMasterLabel)}}}));
  const std::vector<Json> pods = pods::items_of(std::move(list));
  std::string warning;
  if (pods.empty()) {
    // The right to list events is not needed.
    const auto events =
        answer_to({.path = at + "/events",
                   .query = {{"fieldSelector",
                              base::format("involvedObject.name={}", pods::owner_name(input_))}}});
    GANGRUN_TRY(check_wanted());
    if (events.ok()) warning = pods::latest_warning(*events);
  }
  return master_start(read.head, pods, warning);
}

Result<> Handing::wait_for_master() {
  started_at_ = loop_.now();
  const base::Instant limit =
      started_at_ + std::min<base::Duration>(plan_.spec.timeouts.allocation, kMasterLimit);
  base::Pause pause(kFirstLookPause, kLongestLookPause);
  while (true) {
    const auto start = look_at_master();
    GANGRUN_TRY(check_wanted());
    const bool may_pass = !start.ok() && may_help_to_repeat(start.error());
    if (!start.ok() && (!may_pass || loop_.now() >= limit)) return start.error();
    if (start.ok() && start->leads) return {};
    if (start.ok()) GANGRUN_TRY(judge(*start, limit));
    (void)loop_.run_until([this] { return !interrupted_by_.empty(); }, loop_.now() + pause.next());
  }
}

Result<> Handing::judge(const MasterStart& start, base::Instant limit) {
  if (!start.refusal.empty()) {
    needs_role_ = start.lacks_right;
    return base::Error{
        start.lacks_right ? base::Code::kPermissionDenied : base::Code::kFailedPrecondition,
        base::format("the job's master cannot lead it: {}", start.refusal)};
  }
  const base::Instant now = loop_.now();
  if (start.trouble == pods::StartTrouble::kNone) {
    trouble_since_.reset();
  } else if (!trouble_since_) {
    trouble_since_ = now;
  }
  const bool is_final = start.trouble == pods::StartTrouble::kFinal ||
                        (trouble_since_ && now >= *trouble_since_ + kTroubleLimit);
  if (is_final || now >= limit) {
    const auto passed = std::chrono::ceil<std::chrono::seconds>(now - started_at_);
    return base::Error{is_final ? base::Code::kFailedPrecondition : base::Code::kDeadlineExceeded,
                       base::format("the job's master has not started within {}: {}",
                                    base::to_words(passed), start.words)};
  }
  if (now >= started_at_ + kQuietStart && start.words != told_) {
    told_ = start.words;
    context_.console.error(base::format("waiting for the job's master: {}", told_));
  }
  return {};
}

std::string Handing::unconfirmed() const {
  return base::format(
      "the API server has not confirmed that all objects of {0} are deleted; `kubectl -n {1} "
      "delete job {2}` deletes what is left",
      input_.job_id, input_.name_space, pods::owner_name(input_));
}

// The record stays until all is known to be gone: `gangrun kill` finds the job by it.
void Handing::take_away() {
  std::optional<Result<>> removed;
  making_->take_away([&](Result<> done) { removed.emplace(std::move(done)); });
  (void)loop_.run_until([&] { return removed.has_value() || is_left_; },
                        loop_.now() + pods::kRemovalLimit + pods::kRequestLimit);
  if (!removed || !removed->ok()) {
    return logger_->error("{}: {}", unconfirmed(), making_->left());
  }
  const auto forgotten = remove_cluster_record(plan_.home, input_.job_id);
  if (!forgotten.ok()) logger_->error("{}", forgotten.error().message);
}

void tell_role(const job::JobSpec& spec, const std::string& name_space, const std::string& account,
               client::Context& context) {
  context.console.err(role_words(account));
  context.console.err(pods::role_of(pods::master_rights(spec), name_space, account));
}

}  // namespace

Result<> check_detached(const client::RunOptions& options, const job::JobSpec& spec) {
  if (!options.detach) return {};
  if (!pods::has_agents(spec)) {
    return base::invalid_argument(
        "kubernetes.agents: none is not allowed with --detach, where a pod leads the job through "
        "the agents beside its commands; allowed: config_maps, image, or the same job without "
        "--detach");
  }
  if (!spec.zookeeper) return {};
  return base::invalid_argument(
      "zookeeper is not allowed with --detach on kubernetes, where the job's master does not "
      "mirror it yet; allowed: none, or the same job without --detach");
}

Result<> check_master_account(const job::JobSpec& spec, const std::string& name_space,
                              client::Context& context) {
  if (!pods::kubernetes_of(spec).master.service_account.empty()) return {};
  tell_role(spec, name_space, std::string(kUsualAccount), context);
  return base::invalid_argument(base::format(
      "kubernetes.master.service_account: is missing: with --detach, a pod leads the job, which "
      "needs the right to make pods; allowed: a service account of the namespace '{}', such as the "
      "one above",
      name_space));
}

Result<std::vector<Json>> detached_objects(const pods::Manifests& manifests) {
  const pods::ManifestInput& input = manifests.input();
  const pods::Owner nobody;
  std::vector<Json> all = {pods::master_owner(manifests, pods::kClientLease)};
  GANGRUN_ASSIGN(
      Json secret,
      pods::master_secret(input, pods::master_config_of(input, nobody, "", {}, {}, {}), nobody));
  all.push_back(std::move(secret));
  all.push_back(records::head_map(records_metadata(input, nullptr), first_head(input, "", {})));
  std::vector<Json> objects = manifests.objects(nobody, pods::ObjectsOf::kClient);
  GANGRUN_ASSIGN(std::vector<Json> pods, first_pods(manifests, nobody));
  std::move(objects.begin(), objects.end(), std::back_inserter(all));
  std::move(pods.begin(), pods.end(), std::back_inserter(all));
  return all;
}

client::ExitStatus run_with_pod_master(PodsPlan plan, const client::RunOptions& options,
                                       client::Context& context) {
  const job::JobSpec spec = plan.run.spec;
  const std::string name_space = plan.access.name_space;
  bool needs_role = false;
  const auto id = [&] {
    Handing handing(std::move(plan), context);
    auto submitted = handing.submit();
    needs_role = handing.needs_role();
    return submitted;
  }();
  if (!id.ok()) {
    if (needs_role) {
      tell_role(spec, name_space, pods::kubernetes_of(spec).master.service_account, context);
    }
    const base::Code code = id.error().code;
    const client::ExitStatus status =
        code == base::Code::kInvalidArgument ? client::ExitStatus::kBadInput
        : code == base::Code::kCancelled     ? client::ExitStatus::kInterrupted
                                             : client::ExitStatus::kCouldNotStart;
    return client::fail(context, id.error(), status);
  }
  client::note_as_last(context, *id);
  return client::leave_submitted(*id, {{"job", *id}, {"namespace", name_space}}, spec, options,
                                 context);
}

}  // namespace gangrun::kubernetes::commands
