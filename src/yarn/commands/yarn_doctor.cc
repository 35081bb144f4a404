#include "yarn/commands/yarn_doctor.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "base/strings.h"
#include "client/agent_program.h"
#include "client/ending_guard.h"
#include "hadoop/manager_pages.h"
#include "hadoop/resource_manager.h"
#include "hadoop/rpc_round.h"
#include "hadoop/token_source.h"
#include "hadoop/web_hdfs.h"
#include "host/ending_signals.h"
#include "net/digests.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "process/engine.h"
#include "yarn/cluster_checks.h"
#include "yarn/commands/hadoop_access.h"
#include "yarn/job_access.h"
#include "yarn/node_trial.h"
#include "yarn/submission.h"
#include "yarn/tensorflow_trial.h"
#include "yarn/trial_job.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;
using cluster::Check;
using cluster::Verdict;

// The limit of all together; each wait has its own, which is shorter.
constexpr std::chrono::hours kLongestLook(1);
// One question to the cluster.
constexpr std::chrono::seconds kCheckTimeout(20);
constexpr std::size_t kNameBytes = 16;
// The options of a Java virtual machine inside of TensorFlow, unless the user sets some: not a
// quarter of the node's memory.
constexpr const char* kHdfsOptions = "LIBHDFS_OPTS";
constexpr const char* kSmallJava = "-Xms64m -Xmx512m";

bool is_folder(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

bool is_program(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

// The first Python in the PATH; empty: there is none.
std::string python_of(const client::Context& context) {
  for (const char* name : {"python3", "python"}) {
    for (const std::string& folder : base::split(context.variable("PATH"), ':')) {
      std::string candidate = base::format("{}/{}", folder, name);
      if (!folder.empty() && is_program(candidate)) return candidate;
    }
  }
  return {};
}

// As UUIDs are written.
std::string random_name() {
  const std::string hex = base::to_hex(net::random_bytes(kNameBytes));
  return base::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                      hex.substr(16, 4), hex.substr(20));
}

// All checks, one after the other, on a thread of its own: it blocks, each question for a limited
// time.
class Look {
 public:
  Look(const YarnDoctorOptions& options, DoctorListener listener, const client::Context& context,
       const std::atomic<bool>& is_over, std::function<void(std::string)> set_words)
      : options_(options),
        listener_(std::move(listener)),
        context_(context),
        is_over_(is_over),
        set_words_(std::move(set_words)),
        python_(options.python ? *options.python : python_of(context)),
        folder_name_(random_name()) {}

  void run();
  // Whether something may have to be removed or ended. Any thread.
  [[nodiscard]] bool has_made() const { return has_made_; }

 private:
  void note_made(const std::string& words);
  void tell(const std::vector<Check>& checks);
  // Whether there is a cluster to look at.
  bool look_at_settings();
  std::vector<Check> try_files();
  Check try_file_system(const Result<hadoop::FileSystem>& file_system, const std::string& url);
  Result<TrialPlace> make_place(const hadoop::FileSystem& file_system);
  std::vector<Check> try_tensorflow();
  std::vector<Check> ask_cluster();
  Result<ClusterView> view_of_cluster(const std::string& queue);
  std::vector<Check> look_from_node();
  std::vector<Check> clear_away();
  [[nodiscard]] hadoop::WebHdfs files_of(const hadoop::FileSystem& file_system) const {
    return {file_system, hadoop::web_hdfs_options(access_->account)};
  }
  [[nodiscard]] base::Instant soon() const { return context_.clock.now() + kCheckTimeout; }

  const YarnDoctorOptions& options_;
  const DoctorListener listener_;
  const client::Context& context_;
  const std::atomic<bool>& is_over_;
  const std::function<void(std::string)> set_words_;
  const std::string python_;
  const std::string folder_name_;
  std::unique_ptr<HadoopAccess> access_;
  std::atomic<bool> has_made_ = false;
  std::vector<std::string> made_;
  std::vector<TrialPlace> places_;      // that were made, or may have been
  std::vector<TrialPlace> usable_;      // of them
  std::vector<TrialPlace> made_homes_;  // that were not there before
  bool files_work_ = false;             // on the configuration's own file system
  bool cluster_works_ = false;
  std::int64_t largest_mib_ = 0;
  bool has_tensorflow_ = false;
  bool has_agent_ = false;
};

void Look::tell(const std::vector<Check>& checks) {
  for (const Check& check : checks) listener_.found(check);
}

// The words are for the case that nobody comes to remove it.
void Look::note_made(const std::string& words) {
  has_made_ = true;
  made_.push_back(words);
  set_words_(base::format("interrupted: nobody has confirmed the end of what the checks made: {}",
                          base::join(made_, "; ")));
}

bool Look::look_at_settings() {
  listener_.begins(Part::kSettings);
  const Check agent = client::check_agent(context_);
  has_agent_ = agent.verdict == Verdict::kOk;
  const Check variables = yarn::check_variables(context_.environment, is_folder);
  tell({agent, variables});
  if (variables.verdict == Verdict::kFailed) return false;
  auto access = hadoop_access(context_);
  if (!access.ok()) {
    tell({{"configuration", Verdict::kFailed, access.error().message,
           "ask the cluster's administrators for its configuration files"}});
    return false;
  }
  access_ = *std::move(access);
  tell({{"configuration", Verdict::kOk,
         base::format("the file system is {}; jobs run as {}",
                      hadoop::to_string(access_->file_system), access_->account.user)}});
  if (const auto& ticket = access_->account.identity; ticket != nullptr) {
    tell({yarn::check_ticket(to_string(ticket->principal()), ticket->lifetime())});
  }
  return true;
}

Result<TrialPlace> Look::make_place(const hadoop::FileSystem& file_system) {
  hadoop::WebHdfs files = files_of(file_system);
  TrialPlace place{file_system, base::format("{}/{}", options_.base_folder, folder_name_)};
  if (access_->account.identity != nullptr) {
    GANGRUN_ASSIGN(place.token_service, hadoop::token_service(access_->configuration, file_system,
                                                              hadoop::addresses_of));
  }
  if (options_.base_folder.empty()) {
    GANGRUN_ASSIGN(const std::string home, files.home_folder(soon()));
    place.folder = base::format("{}/gangrun-doctor-{}", home, folder_name_);
    const auto status = files.status(home, soon());
    const bool is_missing = !status.ok() && status.error().code == base::Code::kNotFound;
    if (is_missing) made_homes_.push_back({file_system, home});
  }
  places_.push_back(place);
  note_made(base::format("{}{} may still be there", hadoop::to_string(file_system), place.folder));
  GANGRUN_TRY(files.make_folders(place.folder, kOwnFolder, soon()));
  return place;
}

Check Look::try_file_system(const Result<hadoop::FileSystem>& file_system, const std::string& url) {
  if (!file_system.ok()) {
    return {url, Verdict::kFailed, file_system.error().message,
            "name it as the cluster's configuration does: hdfs://nameservice or hdfs://host:port"};
  }
  const auto place = make_place(*file_system);
  if (!place.ok()) {
    return {hadoop::to_string(*file_system), Verdict::kFailed, place.error().message,
            to_do_about_hdfs(place.error(), access_->account.user)};
  }
  listener_.writes(url_of(*place, options_.file));
  Check check = try_file(*place, hadoop::web_hdfs_options(access_->account), options_.file, "",
                         context_.clock);
  if (check.verdict == Verdict::kOk) usable_.push_back(*place);
  return check;
}

// Writes a file to each file system, reads it and removes it.
std::vector<Check> Look::try_files() {
  std::vector<Check> checks{try_file_system(access_->file_system, "")};
  files_work_ = checks.front().verdict == Verdict::kOk;
  for (const std::string& url : options_.file_systems) {
    if (is_over_) break;
    checks.push_back(try_file_system(hadoop::find_file_system(access_->configuration, url), url));
  }
  return checks;
}

// In the same folders.
std::vector<Check> Look::try_tensorflow() {
  if (python_.empty()) {
    return {yarn::tensorflow_not_checked("", "there is no python3 in PATH")};
  }
  if (options_.python && !is_program(python_)) {
    return {yarn::tensorflow_not_checked("", python_ + " is not a program here")};
  }
  const std::vector<std::string> urls = tensorflow_urls(usable_, "tensorflow.txt");
  if (urls.empty()) return {yarn::tensorflow_not_checked("", "no file system works")};
  const auto answer = process::ask(yarn::tensorflow_trial_argv(python_, urls),
                                   context_.clock.now() + yarn::kTensorflowTimeout,
                                   [this] { return is_over_.load(); });
  if (!answer.ok()) return {yarn::tensorflow_not_checked("", answer.error().message)};
  return yarn::tensorflow_checks(urls, {"", python_, answer->status, answer->output},
                                 yarn::missing_for_libhdfs(context_.environment));
}

Result<ClusterView> Look::view_of_cluster(const std::string& queue) {
  hadoop::ResourceManagerClient manager(access_->configuration, access_->account);
  ClusterView view;
  view.facts.user = access_->account.user;
  GANGRUN_ASSIGN(const auto application, manager.new_application(soon()));
  view.facts.largest = application.largest;
  GANGRUN_ASSIGN(view.facts.labels, manager.node_labels(soon()));
  GANGRUN_ASSIGN(view.facts.own_queues, manager.own_queues(soon()));
  GANGRUN_ASSIGN(view.nodes, manager.running_nodes(soon()));
  auto found = manager.queue(queue, soon());
  if (!found.ok() && found.error().code != base::Code::kNotFound) return found.error();
  if (found.ok()) view.facts.queue = *std::move(found);
  view.address = manager.address();
  GANGRUN_ASSIGN(const auto addresses, hadoop::resource_manager_addresses(access_->configuration));
  view.resource_managers = addresses.size();
  const auto login = hadoop::web_login_of(access_->account);
  view.release = hadoop::find_release(access_->configuration, login.get(),
                                      context_.clock.now() + hadoop::kReleaseTimeout);
  return view;
}

std::vector<Check> Look::ask_cluster() {
  const std::string queue = queue_of(options_.queue.value_or(""));
  const auto view = view_of_cluster(queue);
  if (!view.ok()) return checks_without_answer(view.error(), queue);
  largest_mib_ = view->facts.largest.memory_mib;
  std::vector<Check> checks = checks_of(*view, queue);
  cluster_works_ = !cluster::any_failed(checks);
  return checks;
}

// The same trials from a container.
std::vector<Check> Look::look_from_node() {
  const auto agent = client::find_agent(context_);
  if (!has_agent_ || !agent.ok()) {
    return {{"container", Verdict::kNotChecked, "there is no agent to run in it"}};
  }
  if (!files_work_ || !cluster_works_) {
    return {{"container", Verdict::kNotChecked, "no job can be submitted until the rest is well"}};
  }
  const std::string java = context_.variable(kHdfsOptions);
  return run_trial_job(
      access_->configuration, access_->file_system, access_->account, context_.clock,
      {.trial = {.places = usable_,
                 .user = access_->account.user,
                 .python = has_tensorflow_ || options_.python ? python_ : "",
                 .python_is_named = options_.python.has_value()},
       .queue = options_.queue.value_or(""),
       .agent_program = *agent,
       .largest_mib = largest_mib_,
       .environment = {{kHdfsOptions, java.empty() ? kSmallJava : java}},
       .is_over = [this] { return is_over_.load(); },
       .submits =
           [this](const std::string& job) {
             note_made(base::format("{0} may still run (`gangrun kill --now {0}` ends it)", job));
           }});
}

// Empty where that went well.
std::vector<Check> Look::clear_away() {
  std::vector<Check> left;
  for (const TrialPlace& place : places_) {
    const auto removed = files_of(place.file_system).remove(place.folder, true, soon());
    // An earlier failure is told already, and most likely nothing is there.
    const bool was_made = std::ranges::find(usable_, place) != usable_.end();
    if (removed.ok() || !was_made) continue;
    left.push_back({"clearing away", Verdict::kWarning,
                    base::format("{}{}: {}", hadoop::to_string(place.file_system), place.folder,
                                 removed.error().message),
                    "remove that folder, where it is there"});
  }
  // Stays where a job has been meanwhile: then it is not empty.
  for (const TrialPlace& home : made_homes_) {
    (void)files_of(home.file_system).remove(home.folder, false, soon());
  }
  return left;
}

void Look::run() {
  if (!look_at_settings() || is_over_) return;
  listener_.begins(Part::kFiles);
  tell(try_files());
  if (!is_over_) {
    const auto checks = try_tensorflow();
    has_tensorflow_ = yarn::has_tensorflow(checks);
    tell(checks);
  }
  if (!is_over_) {
    listener_.begins(Part::kCluster);
    tell(ask_cluster());
  }
  if (!is_over_ && options_.from_node) tell(look_from_node());
  tell(clear_away());
}

}  // namespace

base::Result<bool> look_at_yarn(const YarnDoctorOptions& options, const DoctorListener& listener,
                                client::Context& context) {
  net::EventLoop loop;
  std::atomic<bool> is_over = false;
  bool is_done = false;
  std::function<void(int)> on_signal;
  GANGRUN_ASSIGN(const auto guard,
                 client::EndingGuard::start_in(loop, {.signals = host::ending_signals(),
                                                      .on_signal = [&](int n) { on_signal(n); }}));
  guard->set_words("interrupted: the cluster has not answered");
  // The listener belongs to the loop.
  const DoctorListener in_loop{
      .begins = [&](Part part) { loop.post([&, part] { listener.begins(part); }); },
      .found = [&](const Check& check) { loop.post([&, check] { listener.found(check); }); },
      .writes = [&](const std::string& url) { loop.post([&, url] { listener.writes(url); }); }};
  Look look(options, in_loop, context, is_over,
            [&guard](std::string words) { guard->set_words(std::move(words)); });
  on_signal = [&](int number) {
    if (is_over.exchange(true)) return;
    context.console.error(
        base::format("{}: {}; send it again to end at once", host::name_of_signal(number),
                     look.has_made() ? "what the checks have made is removed and ended"
                                     : "no other check begins"));
  };
  net::Workers worker(loop, 1);
  GANGRUN_TRY(worker.run([&look] { look.run(); }, [&is_done] { is_done = true; }));
  (void)loop.run_until([&is_done] { return is_done; }, context.clock.now() + kLongestLook);
  if (!is_done) return base::deadline_exceeded("the checks did not come to an end");
  return !is_over;
}

}  // namespace gangrun::yarn::commands
