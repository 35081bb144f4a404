#include "kubernetes/node/pod_master.h"

#include <chrono>
#include <optional>
#include <utility>

#include "agents/agents.h"
#include "base/format.h"
#include "base/random.h"
#include "host/job_master.h"
#include "job/limits.h"
#include "journal/settled.h"
#include "kubernetes/node/head_summary.h"
#include "kubernetes/node/job_end.h"
#include "kubernetes/node/kept_job.h"
#include "kubernetes/node/master_records.h"
#include "kubernetes/node/own_rights.h"
#include "kubernetes/pods/agent_parts.h"
#include "kubernetes/pods/job_removal.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/master_config.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/master_pod.h"
#include "kubernetes/pods/names.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/pod_launcher.h"
#include "kubernetes/pods/where_pods_work.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/map_reader.h"
#include "net/hosts.h"
#include "process/signals.h"

namespace gangrun::kubernetes::node {

namespace {

using base::Result;

// How long agents go on without a master: one that dies often is started again after a while only.
constexpr std::chrono::minutes kDefaultMasterLost{5};
constexpr std::chrono::seconds kStepTimeout{60};
constexpr std::chrono::seconds kStepPause{1};
constexpr std::chrono::minutes kPodsRemoval{2};
// A pod that is to end has ten seconds.
constexpr std::chrono::seconds kLastLook{3};
constexpr std::chrono::milliseconds kNotKept{0};
constexpr double kRandomSteps = 4294967296.0;

double random_share() { return base::random_number<std::uint32_t>() / kRandomSteps; }

// Whether another try may end otherwise: nothing is wrong but that something is away.
bool is_passing(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
}

class PodMaster final : public master::Listener {
 public:
  PodMaster(const PodMasterOptions& options, const base::Clock& clock, base::Logger& logger)
      : options_(options), clock_(clock), logger_(logger) {}

  // True: the job has ended before, and there is nothing to wait for.
  Result<bool> start();
  Result<> wait();
  // After start(): no master will ever lead the job.
  [[nodiscard]] bool ends_for_good() const { return ends_for_good_; }
  // The last call, whatever has happened.
  void leave();

  void on_changed() override {
    if (pace_) pace_->changed();
  }
  void on_incomplete_log(const job::TaskId&, std::string_view) override {}  // among its lines
  void on_warning(std::string_view) override {}                             // the log has it
  void on_remark(std::string_view) override {}                              // likewise
  void on_finished() override { finished_ = true; }

 private:
  Result<bool> begin();
  Result<> prepare();
  Result<> check_own_pod();
  Result<> take_office();
  Result<> open_records();
  // Again and again, while what is away may come back before tasks give their master up.
  Result<> patiently(const char* what, const std::function<Result<>()>& step);
  [[nodiscard]] bool is_wrong_for_all(const base::Error& why) const;
  host::JobMasterInput input();
  Result<host::MadeTasks> make_tasks(const host::Ground& ground);
  Result<pods::Manifests> manifests() const;
  Result<> finish_again();
  // For `keep`; not at all: the folder of the job goes at once.
  Result<> hand_out(job::JobStatus ended, std::chrono::milliseconds keep);
  Result<> stay(std::chrono::milliseconds keep);
  [[nodiscard]] Result<> check_goes_on() const;
  void tell_address();
  void note_pods(const std::optional<Result<>>& removed);
  // `kept`: for so long what the master keeps is there yet.
  Result<> close(const job::JobStatus& status, std::optional<std::chrono::milliseconds> kept);
  void release(std::chrono::milliseconds kept);
  void on_stop(const records::StopWish& wish);
  [[nodiscard]] bool is_over() const { return told_to_end_ || deposed_ || lost_; }
  [[nodiscard]] std::chrono::milliseconds master_lost() const {
    return config_.spec.timeouts.master_lost.value_or(kDefaultMasterLost);
  }
  // A step after the job's end that did not work: nothing waits for it.
  void note(const char* what, const Result<>& done) {
    if (!done.ok()) logger_.warning("{}: {}", what, done.error().message);
  }

  const PodMasterOptions& options_;
  const base::Clock& clock_;
  base::Logger& logger_;
  // In the order in which they are made; the later ones use the earlier ones.
  net::EventLoop loop_;
  net::Watch signals_;
  pods::PodMasterConfig config_;
  std::unique_ptr<kubernetes::Client> client_;
  std::optional<records::RecordPlace> place_;
  std::optional<records::HeadKeeper> head_;
  records::Head claimed_;
  std::optional<MasterRecords> records_;
  std::unique_ptr<host::JobMaster> master_;
  pods::PodLauncher* launcher_ = nullptr;  // the master's
  std::optional<SummaryPace> pace_;
  std::optional<records::StopWish> early_stop_;
  std::optional<base::Error> deposed_;
  std::optional<base::Error> lost_;  // its volume, which does not keep what is written
  bool told_to_end_ = false;
  bool finished_ = false;
  bool has_past_ = false;  // what earlier masters have written
  bool ends_for_good_ = false;
};

Result<> PodMaster::prepare() {
  GANGRUN_ASSIGN(config_, pods::read_master_config(options_.config_folder));
  GANGRUN_ASSIGN(client_, options_.make_client(loop_, logger_));
  pods::ManifestInput input;
  input.spec = config_.spec;
  input.job_id = config_.job_id;
  input.name_space = config_.name_space;
  place_.emplace(records::RecordPlace{.loop = loop_,
                                      .logger = logger_,
                                      .client = *client_,
                                      .name_space = config_.name_space,
                                      .job_id = config_.job_id,
                                      .job_name = pods::job_name(input),
                                      .head_name = pods::head_name(input),
                                      .owner = config_.owner,
                                      .key = records::records_key(config_.secret),
                                      .labels = pods::metadata_of(input, {}, nullptr).at("labels"),
                                      .look_interval = options_.look_interval});
  return {};
}

// The cluster may have given the job another pod for a master already.
Result<> PodMaster::check_own_pod() {
  const std::string path =
      base::format("/api/v1/namespaces/{}/pods/{}", config_.name_space, options_.pod_name);
  GANGRUN_ASSIGN(const base::Json pod,
                 kubernetes::ask(loop_, *client_, {.path = path}, clock_.now() + kStepTimeout));
  if (pods::uid_of(pod) == options_.pod_uid && !pods::is_being_deleted(pod)) return {};
  return base::Error{base::Code::kCancelled, "the cluster has given up this pod"};
}

Result<> PodMaster::patiently(const char* what, const std::function<Result<>()>& step) {
  const base::Instant limit = clock_.now() + master_lost();
  bool is_told = false;
  while (true) {
    const Result<> done = step();
    if (done.ok() || is_over() || !is_passing(done.error())) return done;
    if (clock_.now() >= limit) {
      return done.error().context(base::format("after {}", base::to_words(master_lost())));
    }
    if (!std::exchange(is_told, true)) {
      logger_.warning("waiting up to {} for {}: {}", base::to_words(master_lost()), what,
                      done.error().message);
    }
    (void)loop_.run_until([this] { return is_over(); }, clock_.now() + kStepPause);
  }
}

Result<> PodMaster::take_office() {
  head_.emplace(*place_, records::HeadKeeper::Callbacks{
                             .on_deposed = [this](const base::Error& why) { deposed_ = why; },
                             .on_stop = [this](const records::StopWish& wish) { on_stop(wish); }});
  return patiently("the job's records", [this]() -> Result<> {
    GANGRUN_ASSIGN(claimed_, head_->claim(
                                 options_.pod_name, options_.pod_uid,
                                 [this] { return check_own_pod(); }, clock_.now() + kStepTimeout));
    return {};
  });
}

Result<> PodMaster::open_records() {
  records_.emplace(*place_, *head_,
                   MasterRecords::Options{
                       .run_folder = options_.run_folder,
                       .volume_folder = pods::journal_folder(config_.spec, options_.journal_folder),
                       .on_full = [this] { on_stop({.by = "gangrun: the job's journal is full"}); },
                       .on_lost = [this](const base::Error& why) { lost_ = why; }});
  if (!claimed_.end.empty() && !records_->outlive_the_pod()) return {};
  return patiently("the job's journal", [this] {
    return records_->open(
        claimed_, [this] { return is_over(); }, clock_.now() + kStepTimeout);
  });
}

Result<pods::Manifests> PodMaster::manifests() const {
  pods::AgentPods agents{.master_number = claimed_.master};
  if (pods::agents_by(config_.spec) == pods::AgentsBy::kImage) {
    agents.source = pods::by_image(pods::kubernetes_of(config_.spec).agent_image);
  } else {
    GANGRUN_ASSIGN(auto parts, pods::mounted_parts(options_.parts_folder));
    agents.source = pods::by_config_maps(std::move(parts));
  }
  return pods::Manifests::make(pods::manifest_input_of(config_, std::move(agents)));
}

Result<host::MadeTasks> PodMaster::make_tasks(const host::Ground& ground) {
  GANGRUN_ASSIGN(auto made, manifests());
  std::vector<std::string> remarks = {pods::where_pods_work(made)};
  // The master's port is open before the gang has its places.
  ground.server.hold_agents();
  auto launcher = std::make_unique<pods::PodLauncher>(
      loop_, logger_, *client_, std::move(made),
      pods::PodLauncher::Options{
          .random = random_share,
          .master_attempt = claimed_.master,
          // The loader of this pod has looked at them.
          .is_checked = [](const std::string&) { return true; },
          .on_checked = [](const std::string&, const std::string&) {},
          .direct =
              pods::PodLauncher::Options::Direct{
                  .master = {options_.pod_address, options_.port},
                  .owner = config_.owner,
                  .let_agents_in = [&server = ground.server] { server.let_agents_in(); },
                  .is_in_office = [this] { return head_->is_in_office(); },
                  .master_lost = master_lost()}});
  launcher_ = launcher.get();
  agents::AgentsOptions options;
  options.launch = {.spec = pods::with_time_for_pods(config_.spec),
                    .job_id = config_.job_id,
                    .secret = config_.secret,
                    .host = options_.pod_address,
                    .host_reason = "the address of the master's pod",
                    .socket_path = {},
                    .fingerprint = config_.certificate.fingerprint,
                    .working_folder = {},
                    .log_folder = {},
                    .are_called_by_network = true,
                    .lines = agents::LinesFor::kClients};
  options.records = ground.task_records;
  options.keep_outputs = true;
  // By the head's number, which no two masters have: of two the first may have died before its
  // journal was there.
  options.moved = {.attempt = claimed_.master, .lease = ground.master_lost};
  return host::MadeTasks{
      .tasks = std::make_unique<agents::Agents>(loop_, clock_, logger_, ground.server,
                                                std::move(launcher), std::move(options)),
      .come_by_tls = true,
      .remarks = std::move(remarks)};
}

host::JobMasterInput PodMaster::input() {
  host::JobMasterInput input;
  input.spec = pods::with_time_for_pods(config_.spec);
  input.job_id = config_.job_id;
  input.user = config_.user;
  input.secret = config_.secret;
  input.commanded_at = clock_.now() - (clock_.wall_now() - config_.submitted);
  input.later_masters_know = true;
  input.master_lost = master_lost();
  input.can_be_followed = true;
  input.listening.certificate = config_.certificate;
  input.listening.first_port = options_.port;
  input.records = records_->for_master();
  input.make_tasks = [this](const host::Ground& ground) { return make_tasks(ground); };
  return input;
}

void PodMaster::on_stop(const records::StopWish& wish) {
  if (master_ == nullptr) {
    early_stop_ = wish;
    return;
  }
  master_->request_stop(wish.by, wish.at_once);
}

Result<bool> PodMaster::start() {
  auto begun = begin();
  const bool is_final = !begun.ok() && !is_passing(begun.error()) &&
                        begun.error().code != base::Code::kCancelled && !is_over();
  if (is_final && place_) tell_refusal(*place_, begun.error(), kStepTimeout);
  ends_for_good_ = is_final && is_wrong_for_all(begun.error());
  return begun;
}

// The fault is in what the job is made of or has written, as each next master would find it. A
// right may be given, and an API server that refuses a request says nothing of the job.
bool PodMaster::is_wrong_for_all(const base::Error& why) const {
  const bool is_about_job = !place_ || has_past_;
  return why.code == base::Code::kDataLoss ||
         (why.code == base::Code::kInvalidArgument && is_about_job);
}

Result<bool> PodMaster::begin() {
  GANGRUN_ASSIGN(signals_, loop_.watch_signals(process::ending_signals(),
                                               [this](int) { told_to_end_ = true; }));
  GANGRUN_TRY(prepare());
  GANGRUN_TRY(patiently("the API server", [this] { return check_own_pod(); }));
  GANGRUN_TRY(patiently("the API server", [this]() -> Result<> {
    GANGRUN_TRY(host::check_open_files(config_.spec));
    return check_own_rights(loop_, *client_, config_.name_space, pods::master_rights(config_.spec),
                            clock_.now() + kStepTimeout);
  }));
  GANGRUN_TRY(take_office());
  const Result<> opened = open_records();
  if (!claimed_.end.empty()) note("what the job has kept cannot be handed out", opened);
  if (claimed_.end.empty()) {
    GANGRUN_TRY(opened);
    has_past_ = true;
    GANGRUN_ASSIGN(master_, host::JobMaster::create(loop_, clock_, logger_, input(), *this));
  }
  if (master_ == nullptr || master_->has_verdict()) {
    GANGRUN_TRY(finish_again());
    return true;
  }
  GANGRUN_TRY(master_->start());
  const auto tell = [this] {
    head_->change([summary = summary_of(config_.spec, master_->status(), config_.user, {})](
                      records::Head& to) { to.summary = summary; });
  };
  tell_address();
  pace_.emplace(loop_, tell);
  pace_->changed();
  if (early_stop_) on_stop(*early_stop_);
  return false;
}

Result<> PodMaster::wait() {
  (void)loop_.run_until([this] { return finished_ || is_over(); }, clock_.now() + job::kLongestJob);
  GANGRUN_TRY(check_goes_on());
  pace_.reset();
  const job::JobStatus status = master_->status();
  const auto cleared = std::make_shared<std::optional<Result<>>>();
  launcher_->clear([cleared](Result<> done) { cleared->emplace(std::move(done)); });
  (void)loop_.run_until([&] { return cleared->has_value() || is_over(); },
                        clock_.now() + kPodsRemoval);
  note_pods(*cleared);
  const std::chrono::milliseconds keep = pods::master_keep(config_.spec);
  GANGRUN_TRY(close(status, keep));
  return stay(keep);
}

Result<> PodMaster::check_goes_on() const {
  if (deposed_) return *deposed_;
  if (lost_) return *lost_;
  return told_to_end_ ? base::unavailable("the cluster ends this pod") : Result<>();
}

// Clients can fetch meanwhile what it keeps. Then nobody needs the job's records any more.
Result<> PodMaster::stay(std::chrono::milliseconds keep) {
  (void)loop_.run_until([this] { return is_over(); }, clock_.now() + keep);
  GANGRUN_TRY(check_goes_on());
  note("the job's folder is still on the volume", records_->remove());
  return {};
}

// The job's records say how it ended, and go with the rest of it at last.
Result<> PodMaster::close(const job::JobStatus& status,
                          std::optional<std::chrono::milliseconds> kept) {
  const auto until = kept ? std::optional<base::WallTime>(clock_.wall_now() + *kept) : std::nullopt;
  GANGRUN_TRY(write_end(*place_, *head_, status,
                        summary_of(config_.spec, status, config_.user, until),
                        [this] { return is_over(); }));
  release(kept.value_or(kNotKept));
  return {};
}

void PodMaster::release(std::chrono::milliseconds kept) {
  note("the records of keys are still there",
       remove_keys(*place_, *head_, [this] { return is_over(); }));
  note("the job's time on the cluster cannot be limited",
       limit_owner(*place_, clock_, kept + pods::kKeptAfterEnd, clock_.now() + kStepTimeout));
}

// An earlier master has come to the job's end, and not to the end of its own work. What it kept in
// its pod was lost with that; what is on a volume is handed out.
Result<> PodMaster::finish_again() {
  GANGRUN_ASSIGN(const pods::Manifests made, manifests());
  std::optional<Result<>> removed;
  pods::JobRemoval removal(loop_, *client_, made, config_.owner.uid,
                           [&removed](Result<> done) { removed = std::move(done); });
  removal.spare_owner();
  removal.begin(false);
  (void)loop_.run_until([&] { return removed.has_value() || is_over(); },
                        clock_.now() + kPodsRemoval);
  note_pods(removed);
  const bool is_kept = records_->outlive_the_pod();
  if (!claimed_.end.empty()) {
    const auto left_to_keep = is_kept ? time_kept(claimed_, clock_.wall_now()) : kNotKept;
    release(left_to_keep);
    if (left_to_keep == kNotKept) return stay(kNotKept);
    GANGRUN_ASSIGN(job::JobStatus ended, records::end_in(place_->key, claimed_));
    return hand_out(std::move(ended), left_to_keep);
  }
  GANGRUN_ASSIGN(auto left,
                 journal::left_behind(records_->journal_folder(), clock_.now(), clock_.wall_now()));
  if (!left) return base::Error{base::Code::kDataLoss, "the journal has a verdict and no job"};
  const auto keep = is_kept ? std::optional(pods::master_keep(config_.spec)) : std::nullopt;
  GANGRUN_TRY(close(*left, keep));
  return hand_out(*std::move(left), keep.value_or(kNotKept));
}

Result<> PodMaster::hand_out(job::JobStatus ended, std::chrono::milliseconds keep) {
  std::unique_ptr<KeptJob> kept;
  if (keep > kNotKept) {
    GANGRUN_ASSIGN(kept, KeptJob::serve(loop_, logger_,
                                        {.secret = config_.secret,
                                         .certificate = config_.certificate,
                                         .port = options_.port,
                                         .status = std::move(ended),
                                         .output_folder = records_->output_folder()}));
    tell_address();
  }
  return stay(keep);
}

void PodMaster::tell_address() {
  head_->change([address = job::Address{options_.pod_address, options_.port}](records::Head& to) {
    to.address = address;
    to.refusal.clear();
    to.refusal_code.clear();
  });
}

void PodMaster::note_pods(const std::optional<Result<>>& removed) {
  note("some pods of tasks are still there",
       removed.value_or(base::deadline_exceeded("the API server does not say that they are gone")));
}

// Nobody comes after this one where the whole job has been taken away.
void PodMaster::leave() {
  if (!records_ || !records_->outlive_the_pod()) return;
  const bool is_gone = deposed_ ? deposed_->code == base::Code::kNotFound
                                : told_to_end_ && is_taken_away(*place_, clock_.now() + kLastLook);
  if (is_gone) note("the job's folder is still on the volume", records_->remove());
}

}  // namespace

int run_pod_master(const PodMasterOptions& options, const base::Clock& clock,
                   base::Logger& logger) {
  net::use_static_name_service();
  PodMaster master(options, clock, logger);
  const auto started = master.start();
  const Result<> ended = !started.ok() ? Result<>(started.error())
                         : *started    ? Result<>()
                                       : master.wait();
  master.leave();
  if (ended.ok()) return 0;
  logger.error("{}", ended.error().message);
  if (!master.ends_for_good()) return 1;
  leave_reason(options.reason_file, ended.error());
  return 0;
}

}  // namespace gangrun::kubernetes::node
