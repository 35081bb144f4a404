#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "client/ending_guard.h"
#include "client/place.h"
#include "client/task_way.h"
#include "host/ending_signals.h"
#include "job/limits.h"
#include "job/units.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::cli {

namespace {

// So often is looked whether the job still runs, and where its task is.
constexpr std::chrono::seconds kJobInterval(1);
constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kDefaultTask = "tensorboard";
constexpr int kMaxPort = 65535;

struct OpenOptions {
  std::string job;
  std::string task;
  std::optional<std::string> port;
  bool json = false;
};

// All that is known of job and task, and the task's agent where the way begins there.
struct Look {
  job::JobStatus status;
  base::Result<client::TaskAgent> agent = base::unavailable("none");
};

const job::TaskStatus* find(const job::JobStatus& status, const job::TaskId& task) {
  const auto found = std::find_if(status.tasks.begin(), status.tasks.end(),
                                  [&](const auto& one) { return one.task == task; });
  return found == status.tasks.end() ? nullptr : &*found;
}

base::Result<Look> look(cluster::Job& job, const job::TaskId& task, bool has_agent) {
  GANGRUN_ASSIGN(job::JobStatus status, job.status());
  if (!has_agent || job::is_final(status.state)) return Look{std::move(status)};
  auto agent = client::agent_of(job, task);
  return Look{std::move(status), std::move(agent)};
}

// Serves the tunnels of one task.
class Opened {
 public:
  Opened(cluster::Job& job, const OpenOptions& options, std::uint16_t port,
         client::Context& context)
      : of_job_(job),
        job_(job.id()),
        options_(options),
        wanted_port_(port),
        context_(context),
        workers_(loop_, 1) {}

  base::Result<> start();
  client::ExitStatus wait();

 private:
  void look_again();
  void on_look(base::Result<Look> found);
  void try_again();
  void on_tried(const base::Result<>& tried);
  void say(const std::string& sentence);
  void end(client::ExitStatus status) {
    if (!ended_) ended_ = status;
  }

  cluster::Job& of_job_;
  const std::string job_;
  const OpenOptions& options_;
  const std::uint16_t wanted_port_;
  client::Context& context_;
  net::EventLoop loop_;
  // Before all that may wait for somebody when it goes.
  std::unique_ptr<client::EndingGuard> guard_;
  job::TaskId task_;
  bool trying_ = false;
  bool told_ = false;  // the address
  std::string said_;   // last, of what is waited for or has failed
  std::optional<client::ExitStatus> ended_;
  std::unique_ptr<client::TaskWay> way_;
  net::Timer timer_;
  net::Workers workers_;  // its calls use the job
};

base::Result<> Opened::start() {
  GANGRUN_ASSIGN(
      guard_, client::EndingGuard::start_in(
                  loop_, {.signals = host::ending_signals(), .last = 1, .on_signal = [this](int) {
                            end(client::ExitStatus::kInterrupted);
                          }}));
  guard_->set_words(base::format("interrupted while {} did not answer", options_.job));
  const std::string name = options_.task.empty() ? kDefaultTask : options_.task;
  const bool has_index = name.find(':') != std::string::npos;
  GANGRUN_ASSIGN(task_, job::parse_task_id(has_index ? name : name + ":0"));
  GANGRUN_ASSIGN(const job::JobStatus status, of_job_.status());
  if (job::is_final(status.state)) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("{} has {}; nothing of it can be opened", job_, job::to_string(status.state))};
  }
  if (find(status, task_) == nullptr && !status.tasks.empty()) {
    std::set<std::string> types;
    for (const auto& task : status.tasks) types.insert(task.task.type);
    return base::not_found(base::format("{} has no task {}; its types: {}", job_,
                                        job::to_string(task_), base::join(types, ", ")));
  }
  const auto on_broken = [this](const base::Error& error) {
    if (told_) say(base::format("{}: {}", job::to_string(task_), error.message));
  };
  GANGRUN_ASSIGN(way_, client::way_to_task({.loop = loop_,
                                            .context = context_,
                                            .job = job_,
                                            .task = task_,
                                            .port = wanted_port_,
                                            .on_broken = on_broken}));
  look_again();
  return {};
}

client::ExitStatus Opened::wait() {
  (void)loop_.run_until([this] { return ended_.has_value(); },
                        context_.clock.now() + job::kLongestJob);
  return ended_.value_or(client::ExitStatus::kFailed);
}

void Opened::look_again() {
  const auto work = [this, has_agent = way_->has_agent()] {
    return look(of_job_, task_, has_agent);
  };
  const auto asked =
      workers_.run(work, [this](base::Result<Look> found) { on_look(std::move(found)); });
  // There is never more than one.
  if (!asked.ok()) end(fail(context_, asked.error()));
}

// A master that does not answer for a moment changes nothing: it may be coming back.
void Opened::on_look(base::Result<Look> found) {
  timer_ = loop_.after(kJobInterval, [this] { look_again(); });
  if (!found.ok()) return say(found.error().message);
  const job::JobStatus& status = found->status;
  if (job::is_final(status.state)) {
    context_.console.error(base::format("{} has {}", job_, job::to_string(status.state)));
    return end(client::ExitStatus::kSuccess);
  }
  const job::TaskStatus* task = find(status, task_);
  if (task != nullptr && job::is_final(task->state) && !told_) {
    const std::string how =
        task->exit ? job::to_words(*task->exit) : std::string(job::to_string(task->state));
    return end(fail(
        context_, base::unavailable(base::format("{} has ended: {}", job::to_string(task_), how))));
  }
  const auto waits_for = way_->take(task, found->agent);
  if (!waits_for.ok()) return end(fail(context_, waits_for.error()));
  if (!waits_for->empty()) {
    return say(base::format("waits for {}: {}", job::to_string(task_), *waits_for));
  }
  if (!told_) try_again();
}

// The address is told when it leads to something.
void Opened::try_again() {
  if (std::exchange(trying_, true)) return;
  way_->try_once([this](const base::Result<>& tried) { on_tried(tried); });
}

void Opened::on_tried(const base::Result<>& tried) {
  trying_ = false;
  if (!tried.ok()) {
    return say(
        base::format("waits for {} to listen: {}", job::to_string(task_), tried.error().message));
  }
  if (std::exchange(told_, true)) return;
  said_.clear();
  const std::string url = base::format("http://{}:{}/", kLoopback, way_->port());
  if (options_.json) {
    context_.console.out(
        base::dump_json(
            {{"event", "open"}, {"job", job_}, {"task", job::to_string(task_)}, {"url", url}}) +
        "\n");
  } else {
    context_.console.out(url + "\n");
    context_.console.error(base::format("Ctrl-C closes it; {} goes on", job_));
  }
}

void Opened::say(const std::string& sentence) {
  if (std::exchange(said_, sentence) != sentence) context_.console.error(sentence);
}

base::Result<client::ExitStatus> open(const OpenOptions& options, client::Context& context) {
  int port = 0;
  if (options.port) {
    GANGRUN_ASSIGN(port, job::parse_count(*options.port, 0, kMaxPort).context("--port"));
  }
  GANGRUN_ASSIGN(const auto job, client::find_job(context, options.job));
  Opened opened(*job, options, static_cast<std::uint16_t>(port), context);
  GANGRUN_TRY(opened.start());
  return opened.wait();
}

}  // namespace

client::Command open_command() {
  const auto options = std::make_shared<OpenOptions>();
  return {.name = "open",
          .summary = "Forward a local port to a port of a task, for example TensorBoard's.",
          .words = {job_word(options->job), {"TASK", &options->task}},
          .flags = {{"--port", &options->port, "PORT", "The local port (default: any free one)"},
                    {"--json", &options->json, "", "Print the address as a JSON object"}},
          .footer =
              "Prints the address when the task listens, and serves it on 127.0.0.1 until Ctrl-C "
              "or\nthe end of the job. TASK is like worker:0 (default: tensorboard).\nJOB is an "
              "id, the unambiguous beginning of one, or last; without it, the last one.\n\n"
              "Example:\n  gangrun open --port 6006\n",
          .action = acts(options, open)};
}

}  // namespace gangrun::cli
