#include "yarn/node/yarn_master.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/agents.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/random.h"
#include "base/strings.h"
#include "base/variable.h"
#include "hadoop/class_path.h"
#include "hadoop/configuration.h"
#include "hadoop/token_source.h"
#include "hadoop/web_hdfs.h"
#include "host/job_master.h"
#include "job/described.h"
#include "job/limits.h"
#include "journal/segments.h"
#include "net/event_loop.h"
#include "net/hosts.h"
#include "page/page_json.h"
#include "process/signals.h"
#include "yarn/ends.h"
#include "yarn/far_copies.h"
#include "yarn/job_access.h"
#include "yarn/journal_copy.h"
#include "yarn/master_config.h"
#include "yarn/node/container.h"
#include "yarn/node/token_keeper.h"
#include "yarn/node/yarn_page.h"
#include "yarn/task_container.h"
#include "yarn/uploads.h"
#include "yarn/yarn_launcher.h"
#include "yarn/yarn_options.h"
#include "yarn/zookeeper_defaults.h"

namespace gangrun::yarn::node {

namespace {

using base::Result;

constexpr std::chrono::seconds kDefaultMasterLost(60);
// How long YARN is told about the end before we go without.
constexpr std::chrono::minutes kFinishTimeout(2);
constexpr std::chrono::seconds kLastLinesTimeout(3);
constexpr std::chrono::seconds kFetchTimeout(60);
constexpr std::chrono::seconds kFetchPause(1);
constexpr std::chrono::milliseconds kDefaultPreemptionWait = std::chrono::seconds(15);
constexpr const char* kLocalJournal = "journal";
constexpr const char* kLocalResults = "results";
constexpr const char* kLocalKeys = "keys";
constexpr const char* kNewTokens = "new-tokens";
constexpr const char* kTokenErrand = "token-errand.json";

double random_fraction() {
  return static_cast<double>(base::random_number<std::uint32_t>()) / 4294967296.0;
}

// The time that the scheduler of the configuration leaves a container before it kills it.
std::chrono::milliseconds preemption_wait(const hadoop::Configuration& configuration) {
  const bool is_fair =
      configuration.get_or("yarn.resourcemanager.scheduler.class", "").ends_with("FairScheduler");
  const auto configured = base::parse_integer(configuration.get_or(
      is_fair ? "yarn.scheduler.fair.waitTimeBeforeKill"
              : "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill",
      ""));
  return configured && *configured >= 0 ? std::chrono::milliseconds(*configured)
                                        : kDefaultPreemptionWait;
}

class YarnMaster final : public master::Listener {
 public:
  YarnMaster(const base::Clock& clock, base::Logger& logger) : clock_(clock), logger_(logger) {}

  Result<> start();
  Result<> wait();

  void on_changed() override {}
  void on_incomplete_log(const job::TaskId&, std::string_view) override {}  // among its lines
  void on_warning(std::string_view) override {}                             // the log has it
  void on_remark(std::string_view) override {}                              // likewise
  void on_finished() override { finished_ = true; }

 private:
  Result<> read_config();
  Result<std::unique_ptr<yarn::YarnLauncher>> make_launcher();
  Result<host::MadeTasks> make_tasks(const host::Ground& ground);
  std::string serve_page();
  [[nodiscard]] base::Secret own_token(const hadoop::Credentials& credentials) const;
  [[nodiscard]] TokenRunner token_runner() const;
  void freshen_tokens();
  void hand_out(std::map<std::string, hadoop::Token> tokens);
  void keep_tokens();
  Result<> fetch_past();
  Result<> fetch_once();
  host::JobMasterInput input();
  void settle_zookeeper(host::JobMasterInput& input) const;
  void keep_history();
  [[nodiscard]] std::string far_journal() const {
    return config_.staging_folder + yarn::kJournalFolder;
  }
  [[nodiscard]] std::string far_keys() const { return config_.staging_folder + yarn::kKeysFolder; }
  [[nodiscard]] std::string far_results() const {
    return config_.staging_folder + yarn::kResultsFolder;
  }
  [[nodiscard]] std::chrono::milliseconds master_lost() const {
    return config_.spec.timeouts.master_lost.value_or(kDefaultMasterLost);
  }

  const base::Clock& clock_;
  base::Logger& logger_;
  // In the order in which they are made; the later ones use the earlier ones.
  net::EventLoop loop_;
  net::Watch signals_;
  net::Watch notices_;
  hadoop::Credentials credentials_;
  yarn::YarnMasterConfig config_;
  hadoop::Configuration hadoop_;
  hadoop::ContainerId container_;
  std::string host_;
  std::unique_ptr<hadoop::WebHdfs> files_;
  std::unique_ptr<yarn::ResultCopy> result_copy_;
  std::unique_ptr<yarn::KeyCopy> key_copy_;
  std::unique_ptr<host::JobMaster> master_;
  // Both are the master's.
  yarn::JournalCopy* journal_copy_ = nullptr;
  yarn::YarnLauncher* launcher_ = nullptr;
  agents::Agents* agents_ = nullptr;
  std::unique_ptr<YarnPage> page_;
  std::optional<hadoop::TokenLife> token_life_;
  // Those that this master has got before it began; the tasks have older ones of its predecessor.
  std::map<std::string, hadoop::Token> newest_tokens_;
  std::unique_ptr<TokenKeeper> tokens_;
  bool finished_ = false;
  bool told_to_end_ = false;
};

Result<> YarnMaster::read_config() {
  GANGRUN_ASSIGN(credentials_, container_credentials());
  const auto secret = credentials_.secrets.find(yarn::kMasterConfigSecret);
  if (secret == credentials_.secrets.end()) {
    return base::not_found("the container's credentials hold no master's configuration");
  }
  GANGRUN_ASSIGN(const base::Json json,
                 base::parse_json(secret->second.reveal(), hadoop::kMaxCredentialsBytes));
  GANGRUN_ASSIGN(config_, base::from_json<yarn::YarnMasterConfig>(json));
  for (const auto& [name, value] : config_.hadoop) hadoop_.set(name, value);
  GANGRUN_ASSIGN(container_, hadoop::container_id_from(base::variable("CONTAINER_ID")));
  host_ = base::variable("NM_HOST");
  if (host_.empty()) return base::not_found("NM_HOST is not set: this is not a container of YARN");
  return host::check_open_files(config_.spec);
}

Result<std::unique_ptr<yarn::YarnLauncher>> YarnMaster::make_launcher() {
  GANGRUN_ASSIGN(auto resource_manager,
                 hadoop::ApplicationMasterClient::create(hadoop_, credentials_));
  yarn::YarnLauncher::Options options;
  options.spec = config_.spec;
  options.job_id = hadoop::to_string(container_.attempt.application);
  options.host = host_;
  options.tracking_url = serve_page();
  // A proxy on a server of its own has no pages of the ResourceManager's.
  const auto manager = hadoop_.get_or("yarn.web-proxy.address", "").empty()
                           ? hadoop::web_proxy(hadoop_)
                           : Result<hadoop::WebProxy>(hadoop::WebProxy{});
  options.logs_url = logs_url({.log_server = hadoop_.get_or("yarn.log.server.url", ""),
                               .manager = manager.ok() ? manager->url : "",
                               .policy = hadoop_.get_or("yarn.http.policy", ""),
                               .node_host = host_,
                               .node_port = base::variable("NM_PORT"),
                               .node_http_port = base::variable("NM_HTTP_PORT"),
                               .application = options.job_id,
                               .container = base::variable("CONTAINER_ID"),
                               .user = config_.user});
  options.nodes = config_.nodes;
  options.files = config_.files;
  options.archives = config_.archives;
  options.agent_command = {"exec",
                           "./gangrun-agent",
                           "task",
                           "--containment",
                           "auto",
                           "--name",
                           "{name}",
                           "--outlive",
                           "--container",
                           "1><LOG_DIR>/stdout",
                           "2><LOG_DIR>/stderr"};
  options.random = random_fraction;
  options.preemption_wait = preemption_wait(hadoop_);
  // On a cluster that believes names, a container's process has that of its NodeManager's user.
  options.environment["HADOOP_USER_NAME"] = config_.user;
  options.environment[yarn::YarnLauncher::kClassPathVariable] =
      hadoop_.get_or(hadoop::kClassPathProperty, std::string(hadoop::kDefaultClassPath));
  options.outputs = {.folder = config_.history_folder + yarn::kOutputsFolder,
                     .user = config_.user,
                     .hadoop = config_.hadoop,
                     .token_service = config_.token_service};
  if (const auto limit = config_.spec.outputs_limit_mib) {
    options.outputs.limit_bytes = static_cast<std::uint64_t>(*limit) << 20U;
  }
  options.credentials = credentials_;
  options.credentials.secrets.erase(yarn::kMasterConfigSecret);
  std::erase_if(options.credentials.tokens,
                [](const auto& entry) { return entry.second.kind == hadoop::kMasterTokenKind; });
  return std::make_unique<yarn::YarnLauncher>(loop_, logger_, std::move(resource_manager),
                                              std::move(options));
}

Result<host::MadeTasks> YarnMaster::make_tasks(const host::Ground& ground) {
  GANGRUN_ASSIGN(auto launcher, make_launcher());
  launcher_ = launcher.get();
  agents::AgentsOptions options;
  options.launch = {.spec = config_.spec,
                    .job_id = hadoop::to_string(container_.attempt.application),
                    .secret = config_.secret,
                    .host = host_,
                    .host_reason = "as YARN calls its node",
                    .socket_path = {},
                    .fingerprint = config_.certificate.fingerprint,
                    .working_folder = {},
                    .log_folder = {},
                    .lines = agents::LinesFor::kClients};
  options.records = ground.task_records;
  options.keep_outputs = true;
  // The next one may be on any node.
  options.moved = {.attempt = ground.attempt, .lease = ground.master_lost};
  auto agents = std::make_unique<agents::Agents>(loop_, clock_, logger_, ground.server,
                                                 std::move(launcher), std::move(options));
  agents_ = agents.get();
  return host::MadeTasks{
      .tasks = std::move(agents),
      .come_by_tls = true,
      .remarks = {yarn::where_containers_work(
          config_.spec, base::format("{}{}{}", hadoop::to_string(files_->file_system()),
                                     config_.history_folder, yarn::kOutputsFolder))}};
}

// Its address for YARN; empty where there is no page: the job goes on without.
std::string YarnMaster::serve_page() {
  auto proxy = hadoop::web_proxy(hadoop_);
  auto url = proxy.ok() ? Result<std::string>("") : Result<std::string>(proxy.error());
  if (proxy.ok()) {
    page_ = std::make_unique<YarnPage>(
        loop_, logger_, *std::move(proxy), hadoop::to_string(container_.attempt.application),
        [this] { return base::dump_json(page::page_json(config_.spec, master_->status())); });
    if (hadoop_.boolean("yarn.acl.enable", false).value_or(true)) {
      page_->set_viewers(viewers_of(config_.user, yarn::yarn_of(config_.spec).view_acl, hadoop_));
    }
    url = page_->listen(host_);
  }
  if (url.ok()) return *url;
  logger_.warning("the job has no page: {}", url.error().message);
  return {};
}

// For the file system that has the job's own folder; empty where no token is needed.
base::Secret YarnMaster::own_token(const hadoop::Credentials& credentials) const {
  if (config_.token_service.empty()) return {};
  return hadoop::web_hdfs_token(credentials, config_.token_service);
}

TokenRunner YarnMaster::token_runner() const {
  if (config_.principal.empty()) return {};
  TokenRunner runner;
  runner.client_program = base::format("./{}", yarn::kClientLink);
  runner.errand = {.hadoop = config_.hadoop,
                   .user = config_.user,
                   .principal = config_.principal,
                   .keytab = yarn::kKeytabLink,
                   .krb5_config = config_.krb5_config,
                   .file_systems = yarn::yarn_of(config_.spec).file_systems,
                   .output = kNewTokens};
  runner.errand_file = kTokenErrand;
  return runner;
}

// Each new master begins with the tokens of the submission, which may have ended by now.
void YarnMaster::freshen_tokens() {
  token_life_ = hadoop::life_of(credentials_);
  const bool is_due = token_life_ && clock_.wall_now() >= hadoop::replacement_time(*token_life_);
  if (!is_due || config_.principal.empty()) return;
  auto got = get_tokens(token_runner(), clock_, {});
  if (!got.ok()) return logger_.warning("no new tokens of Hadoop: {}", got.error().message);
  token_life_ = got->life;
  newest_tokens_ = got->credentials.tokens;
  std::erase_if(credentials_.tokens,
                [](const auto& entry) { return entry.second.kind != hadoop::kMasterTokenKind; });
  credentials_.tokens.merge(got->credentials.tokens);
}

// To the tasks that run, and to those that will.
void YarnMaster::hand_out(std::map<std::string, hadoop::Token> tokens) {
  agents_->set_tokens(base::Secret(hadoop::encode_credentials({tokens, {}})));
  launcher_->set_tokens(std::move(tokens));
}

void YarnMaster::keep_tokens() {
  if (!token_life_) return;
  TokenKeeper::Options options;
  options.runner = token_runner();
  options.on_replaced = [this](hadoop::Credentials credentials) {
    if (base::Secret own = own_token(credentials); !own.empty()) {
      files_->set_delegation(std::move(own));
    }
    master_->set_trouble("");
    hand_out(std::move(credentials.tokens));
  };
  options.on_ended = [this](const std::string& sentence) {
    master_->set_trouble(sentence);
    // Nobody gets others, so nothing comes into the job's folder any more.
    if (config_.principal.empty()) journal_copy_->give_up("without tokens");
  };
  tokens_ = std::make_unique<TokenKeeper>(loop_, clock_, logger_, *token_life_, std::move(options));
  tokens_->begin();
  if (!newest_tokens_.empty()) hand_out(std::move(newest_tokens_));
}

// Fetches what earlier masters left: on another host perhaps, so from the cluster's file system.
Result<> YarnMaster::fetch_past() {
  GANGRUN_ASSIGN(hadoop::FileSystem system, hadoop::find_file_system(hadoop_, ""));
  files_ = std::make_unique<hadoop::WebHdfs>(
      std::move(system),
      hadoop::WebHdfsOptions{.user = config_.user, .delegation = own_token(credentials_)});
  if (::mkdir(kLocalJournal, 0700) != 0 && errno != EEXIST) {
    return base::from_errno(errno, base::format("make the folder {}", kLocalJournal));
  }
  // As long as the agents wait for a master, a file system that is away with the last one is waited
  // for: who goes on without the journal has lost the tasks.
  const base::Instant limit = clock_.now() + master_lost();
  bool is_told = false;
  while (true) {
    const Result<> fetched = fetch_once();
    if (fetched.ok() || told_to_end_ || !may_pass(fetched.error())) return fetched;
    if (clock_.now() >= limit) {
      return fetched.error().context(base::format("after {}", base::to_words(master_lost())));
    }
    if (!std::exchange(is_told, true)) {
      logger_.warning("waiting up to {} for the job's journal: {}", base::to_words(master_lost()),
                      fetched.error().message);
    }
    (void)loop_.run_until([this] { return told_to_end_; }, clock_.now() + kFetchPause);
  }
}

Result<> YarnMaster::fetch_once() {
  const base::Instant deadline = clock_.now() + kFetchTimeout;
  if (container_.attempt.attempt == 1) return files_->make_folders(far_journal(), 0700, deadline);
  GANGRUN_TRY(base::make_folders(kLocalKeys, 0700));
  GANGRUN_TRY(yarn::fetch_journal(*files_, far_keys(), kLocalKeys, deadline));
  return yarn::fetch_journal(*files_, far_journal(), kLocalJournal, deadline);
}

void YarnMaster::settle_zookeeper(host::JobMasterInput& input) const {
  if (!config_.spec.zookeeper) return;
  const std::size_t at = config_.principal.rfind('@');
  const yarn::RegistryLogin login{
      .is_there = config_.spec.zookeeper->login != job::ZooKeeperLogin::kNone,
      .realm = at == std::string::npos ? "" : config_.principal.substr(at + 1)};
  input.zookeeper_administrators = yarn::registry_administrators(hadoop_, login);
  input.zookeeper_access.files = config_.zookeeper_files;
  input.zookeeper_access.kerberos = {.path = base::format("./{}", yarn::kClientLink),
                                     .principal = config_.principal,
                                     .keytab = yarn::kKeytabLink,
                                     .krb5_config = config_.krb5_config};
}

host::JobMasterInput YarnMaster::input() {
  result_copy_ = std::make_unique<yarn::ResultCopy>(loop_, logger_, *files_, far_results());
  key_copy_ = std::make_unique<yarn::KeyCopy>(loop_, logger_, *files_, far_keys());
  host::JobMasterInput input;
  input.spec = config_.spec;
  input.job_id = hadoop::to_string(container_.attempt.application);
  input.folder = config_.staging_folder;
  input.user = config_.user;
  input.secret = config_.secret;
  input.commanded_at = clock_.now() - (clock_.wall_now() - config_.submitted);
  input.later_masters_know = true;
  input.master_lost = master_lost();
  input.can_be_followed = true;
  input.listening.certificate = config_.certificate;
  input.records = {.journal_folder = kLocalJournal,
                   .log_folder = {},
                   .far_copy = [this](int segment) -> std::unique_ptr<journal::FarCopy> {
                     auto copy = std::make_unique<yarn::JournalCopy>(
                         loop_, logger_, *files_,
                         yarn::JournalCopy::Options{
                             .segment_path = journal::segment_path(kLocalJournal, segment),
                             .segment = segment,
                             .folder = far_journal()});
                     journal_copy_ = copy.get();
                     return copy;
                   },
                   .tasks = {.result_folder = kLocalResults,
                             .key_folder = kLocalKeys,
                             .far_results = result_copy_.get(),
                             .far_keys = key_copy_.get()}};
  settle_zookeeper(input);
  input.make_tasks = [this](const host::Ground& ground) { return make_tasks(ground); };
  return input;
}

// The job's own folder goes, also when the job has failed; what is worth keeping is the user's.
void YarnMaster::keep_history() {
  const base::Instant deadline = clock_.now() + kFetchTimeout;
  const auto note = [this](const auto& done) {
    if (!done.ok()) logger_.warning("the job's history: {}", done.error().message);
    return done.ok();
  };
  if (!note(files_->make_folders(config_.history_folder, 0700, deadline))) return;
  // There may be no room for the job's status; what there was room for moves all the same.
  note(files_->replace(config_.history_folder + yarn::kStatusFile,
                       base::dump_json(base::to_json(master_->status())), 0600, deadline));
  if (!note(
          files_->rename(far_journal(), config_.history_folder + yarn::kJournalFolder, deadline))) {
    return;
  }
  const auto moved =
      files_->rename(far_results(), config_.history_folder + yarn::kResultsFolder, deadline);
  // Most jobs have none.
  if (moved.ok() || moved.error().code != base::Code::kNotFound) note(moved);
  note(files_->remove(config_.staging_folder, true, deadline));
}

Result<> YarnMaster::start() {
  GANGRUN_ASSIGN(signals_, loop_.watch_signals(process::ending_signals(),
                                               [this](int) { told_to_end_ = true; }));
  GANGRUN_ASSIGN(notices_, loop_.watch_signals(process::notice_signals(), [this](int) {
    if (master_ == nullptr) return;
    master_->ask(cluster::notice_question({.by = "a signal"}), [](const cluster::Answer&) {});
  }));
  GANGRUN_TRY(read_config());
  freshen_tokens();
  GANGRUN_TRY(fetch_past());
  GANGRUN_ASSIGN(master_, host::JobMaster::create(loop_, clock_, logger_, input(), *this));
  GANGRUN_TRY(master_->start());
  launcher_->begin(master_->tls_port());
  keep_tokens();
  return {};
}

Result<> YarnMaster::wait() {
  (void)loop_.run_until([this] { return finished_ || told_to_end_ || launcher_->is_unwanted(); },
                        clock_.now() + job::kLongestJob);
  if (!finished_) return base::unavailable("YARN has ended this attempt");
  keep_history();
  const job::JobStatus status = master_->status();
  const bool succeeded = status.state == job::JobState::kSucceeded;
  const bool killed = status.state == job::JobState::kKilled;
  std::optional<Result<>> told;
  launcher_->finish(succeeded ? hadoop::FinalStatus::kSucceeded
                    : killed  ? hadoop::FinalStatus::kKilled
                              : hadoop::FinalStatus::kFailed,
                    yarn::diagnostics_of(status),
                    [&told](Result<> result) { told = std::move(result); });
  (void)loop_.run_until([&told] { return told.has_value(); }, clock_.now() + kFinishTimeout);
  // Whoever follows the output gets its end from us: the nodes put their logs together later.
  (void)loop_.run_until([this] { return master_->lines_are_told(); },
                        clock_.now() + kLastLinesTimeout);
  if (!told) return base::deadline_exceeded("YARN could not be told of the end of the job");
  return *told;
}

}  // namespace

Result<> run_yarn_master(const base::Clock& clock, base::Logger& logger) {
  net::use_static_name_service();
  if (::access(yarn::kAuthoritiesLink, R_OK) == 0) {
    // Before there is a thread: OpenSSL reads it from there, and so does gangrun.
    ::setenv("SSL_CERT_FILE", yarn::kAuthoritiesLink, 1);  // NOLINT(concurrency-mt-unsafe)
  }
  YarnMaster master(clock, logger);
  GANGRUN_TRY(master.start());
  return master.wait();
}

}  // namespace gangrun::yarn::node
