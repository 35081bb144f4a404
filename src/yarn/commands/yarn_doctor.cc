#include "yarn/commands/yarn_doctor.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "client/agent_program.h"
#include "client/ending_guard.h"
#include "host/ending_signals.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "process/engine.h"
#include "yarn/cluster_checks.h"
#include "yarn/commands/hadoop_access.h"
#include "yarn/tensorflow_trial.h"
#include "yarn/yarn_doctor.h"

namespace gangrun::yarn::commands {

namespace {

using cluster::Check;
using cluster::Verdict;

// The limit of all together; each wait has its own, which is shorter.
constexpr std::chrono::hours kLongestLook(1);
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

// All checks, one after the other, on a thread of its own: it blocks.
class Look {
 public:
  Look(const YarnDoctorOptions& options, DoctorListener listener, const client::Context& context,
       const std::atomic<bool>& is_over, std::function<void(std::string)> set_words)
      : options_(options),
        listener_(std::move(listener)),
        context_(context),
        is_over_(is_over),
        set_words_(std::move(set_words)),
        python_(options.python ? *options.python : python_of(context)) {}

  void run();
  // Whether something may have to be removed or ended. Any thread.
  [[nodiscard]] bool has_made() const { return has_made_; }

 private:
  void note_made(const std::string& words);
  void tell(Part part, const std::vector<Check>& checks);
  base::Result<std::unique_ptr<HadoopAccess>> look_at_settings();
  std::vector<Check> try_tensorflow(const std::vector<std::string>& urls);
  void look_from_node(yarn::YarnDoctor& doctor);

  const YarnDoctorOptions& options_;
  const DoctorListener listener_;
  const client::Context& context_;
  const std::atomic<bool>& is_over_;
  const std::function<void(std::string)> set_words_;
  const std::string python_;
  std::atomic<bool> has_made_ = false;
  std::vector<std::string> made_;
  bool has_tensorflow_ = false;
  bool has_agent_ = false;
};

void Look::tell(Part part, const std::vector<Check>& checks) {
  for (const Check& check : checks) listener_.found(part, check);
}

// For where nobody comes to remove it.
void Look::note_made(const std::string& words) {
  has_made_ = true;
  made_.push_back(words);
  set_words_(base::format("interrupted: nobody has confirmed the end of what the checks made: {}",
                          base::join(made_, "; ")));
}

base::Result<std::unique_ptr<HadoopAccess>> Look::look_at_settings() {
  listener_.begins(Part::kSettings);
  const Check agent = client::check_agent(context_);
  has_agent_ = agent.verdict == Verdict::kOk;
  const Check variables = yarn::check_variables(context_.environment, is_folder);
  tell(Part::kSettings, {agent, variables});
  auto access = hadoop_access(context_);
  if (variables.verdict == Verdict::kFailed) return access;
  if (!access.ok()) {
    tell(Part::kSettings, {{"configuration", Verdict::kFailed, access.error().message,
                            "ask the cluster's administrators for its configuration files"}});
    return access;
  }
  tell(Part::kSettings,
       {{"configuration", Verdict::kOk,
         base::format("the file system is {}; jobs run as {}",
                      hadoop::to_string((*access)->file_system), (*access)->account.user)}});
  if (const auto& ticket = (*access)->account.identity; ticket != nullptr) {
    tell(Part::kSettings, {yarn::check_ticket(to_string(ticket->principal()), ticket->lifetime())});
  }
  return access;
}

std::vector<Check> Look::try_tensorflow(const std::vector<std::string>& urls) {
  if (python_.empty()) {
    return {yarn::tensorflow_not_checked("", "there is no python3 in PATH")};
  }
  if (options_.python && !is_program(python_)) {
    return {yarn::tensorflow_not_checked("", python_ + " is not a program here")};
  }
  if (urls.empty()) return {yarn::tensorflow_not_checked("", "no file system works")};
  const auto answer = process::ask(yarn::tensorflow_trial_argv(python_, urls),
                                   context_.clock.now() + yarn::kTensorflowTimeout,
                                   [this] { return is_over_.load(); });
  if (!answer.ok()) return {yarn::tensorflow_not_checked("", answer.error().message)};
  return yarn::tensorflow_checks(urls, {"", python_, answer->status, answer->output},
                                 yarn::missing_for_libhdfs(context_.environment));
}

void Look::look_from_node(yarn::YarnDoctor& doctor) {
  const auto agent = client::find_agent(context_);
  if (!has_agent_ || !agent.ok()) {
    tell(Part::kCluster, {{"container", Verdict::kNotChecked, "there is no agent to run in it"}});
    return;
  }
  yarn::YarnDoctor::FromNode from_node{.agent_program = *agent};
  if (has_tensorflow_ || options_.python) from_node.python = python_;
  from_node.python_is_named = options_.python.has_value();
  const std::string java = context_.variable(kHdfsOptions);
  from_node.environment[kHdfsOptions] = java.empty() ? kSmallJava : java;
  tell(Part::kCluster, doctor.try_from_node(from_node));
}

void Look::run() {
  const auto access = look_at_settings();
  if (!access.ok() || is_over_) return;
  yarn::YarnDoctor doctor(
      (*access)->configuration, (*access)->file_system, (*access)->account, context_.clock,
      {.queue = options_.queue.value_or(""),
       .file_systems = options_.file_systems,
       .base_folder = options_.base_folder,
       .file = options_.file,
       .is_over = [this] { return is_over_.load(); },
       .makes =
           [this](const std::string& url) {
             note_made(base::format("{} may still be there", url));
           },
       .submits =
           [this](const std::string& job) {
             note_made(base::format("{0} may still run (`gangrun kill --now {0}` ends it)", job));
           }});
  listener_.begins(Part::kFiles);
  tell(Part::kFiles, doctor.try_files(listener_.writes));
  if (!is_over_) {
    const auto checks = try_tensorflow(doctor.tensorflow_urls());
    has_tensorflow_ = yarn::has_tensorflow(checks);
    tell(Part::kFiles, checks);
  }
  if (!is_over_) {
    listener_.begins(Part::kCluster);
    tell(Part::kCluster, doctor.ask_cluster());
  }
  if (!is_over_ && options_.from_node) look_from_node(doctor);
  tell(Part::kCluster, doctor.clear_away());
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
      .found =
          [&](Part part, const Check& check) {
            loop.post([&, part, check] { listener.found(part, check); });
          },
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
