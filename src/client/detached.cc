#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/run_record.h"
#include "client/run_session.h"
#include "client/zookeeper_input.h"
#include "host/ending_signals.h"
#include "host/processes.h"
#include "job/described.h"
#include "net/event_loop.h"
#include "process/pipe.h"
#include "process/signals.h"

namespace gangrun::client {

namespace {

using base::Result;

// From the supervisor's start until the tasks are requested.
constexpr std::chrono::seconds kStartTimeout(30);
constexpr std::size_t kMaxToldBytes = 8192;

// "NAME=value" with a zero byte after each, as the kernel keeps it: a value may hold any other
// byte.
std::string joined(const std::map<std::string, std::string>& environment) {
  std::string text;
  for (const auto& [name, value] : environment) {
    text.append(name).append("=").append(value).push_back('\0');
  }
  return text;
}

// A job on its way to its supervisor. Whoever interrupts it finds the job either not there or in
// the hands of a master, which ends it: never a folder that looks like a lost job.
class Submission {
 public:
  explicit Submission(const Context& context) : context_(context) {}

  // The folder of the job; on an error nothing of it is left. kCancelled: somebody interrupted it.
  Result<host::JobPaths> submit(const RunPlan& plan);
  // The signal that came too late to keep the job from its start; empty: none. The job is stopped.
  [[nodiscard]] const std::string& stopped_by() const { return interrupted_by_; }

 private:
  Result<> hand_over(const RunPlan& plan);
  void on_signal(int number);
  void on_told();
  void on_line(const std::string& line);

  const Context& context_;
  net::EventLoop loop_;
  std::unique_ptr<EndingGuard> guard_;
  std::optional<host::JobFolder> folder_;
  process::Pipe pipe_;
  net::Watch told_;
  std::string text_;  // that was told, without its whole lines
  std::optional<Result<>> outcome_;
  pid_t supervisor_ = 0;
  std::string interrupted_by_;
};

Result<host::JobPaths> Submission::submit(const RunPlan& plan) {
  GANGRUN_ASSIGN(guard_,
                 EndingGuard::start_in(loop_, {.signals = host::job_signals(),
                                               .on_signal = [this](int n) { on_signal(n); }}));
  GANGRUN_TRY(check_required_zookeeper(loop_, plan.spec, plan.zookeeper_files, {}, context_,
                                       [this] { return !interrupted_by_.empty(); }));
  GANGRUN_ASSIGN(folder_, host::JobFolder::create(plan.home, plan.spec, context_.clock.wall_now()));
  Result<> submitted = hand_over(plan);
  if (submitted.ok()) return folder_->paths();
  // One that is only late finds its folder gone and ends; so do its tasks.
  folder_->remove();
  if (interrupted_by_.empty()) return submitted.error();
  return base::Error{base::Code::kCancelled,
                     base::format("{}: the job is not started", interrupted_by_)};
}

Result<> Submission::hand_over(const RunPlan& plan) {
  const host::JobPaths& paths = folder_->paths();
  GANGRUN_TRY(base::write_private_file(
      paths.launch(), base::dump_json_indented(base::to_json(plan.launch)) + "\n"));
  GANGRUN_TRY(base::write_private_file(paths.environment(), joined(context_.environment)));
  if (!plan.zookeeper_files.empty()) {
    GANGRUN_TRY(base::write_private_file(
        paths.zookeeper(), base::dump_json(base::to_json(plan.zookeeper_files)) + "\n"));
  }
  GANGRUN_ASSIGN(pipe_, process::make_pipe());
  // The bytes that have come until now.
  (void)loop_.run_until([] { return false; }, loop_.now());
  if (!interrupted_by_.empty()) return base::Error{base::Code::kCancelled, interrupted_by_};
  guard_->set_words(base::format(
      "interrupted: {0} was told to end, and has not said that it has; `gangrun status {0}` tells "
      "what became of it",
      folder_->id()));
  GANGRUN_ASSIGN(supervisor_, host::start_supervisor(context_.program, paths, pipe_.write.get()));
  pipe_.write.reset();
  told_ = loop_.watch_readable(pipe_.read.get(), [this] { on_told(); });
  if (loop_.run_until([this] { return outcome_.has_value(); }, loop_.now() + kStartTimeout)) {
    return *std::exchange(outcome_, std::nullopt);
  }
  return base::deadline_exceeded(
      base::format("the job's master has not started within {}", base::to_words(kStartTimeout)));
}

// The supervisor passes it on to the master, and starts none after it.
void Submission::on_signal(int number) {
  // There is no task yet that a notice could be for.
  if (process::is_notice(number)) return;
  interrupted_by_ = host::name_of_signal(number);
  if (supervisor_ > 0) (void)::kill(supervisor_, number);
}

void Submission::on_told() {
  char buffer[1024];
  const ssize_t got = ::read(pipe_.read.get(), buffer, sizeof(buffer));
  if (got < 0 && errno == EINTR) return;
  if (got <= 0 || text_.size() > kMaxToldBytes) {
    told_.reset();
    outcome_ = base::unavailable("the job's master ended before it started the job");
    return;
  }
  text_.append(buffer, static_cast<std::size_t>(got));
  for (std::size_t end = 0; !outcome_ && (end = text_.find('\n')) != std::string::npos;) {
    on_line(text_.substr(0, end));
    text_.erase(0, end + 1);
  }
}

void Submission::on_line(const std::string& line) {
  // From here on the supervisor's lock says that the job is somebody's.
  if (line == host::kSupervised) folder_->release();
  if (line == host::kStarted) outcome_ = Result<>();
  if (line.starts_with(host::kRefused)) {
    outcome_ = base::Error{base::Code::kFailedPrecondition, line.substr(host::kRefused.size())};
  }
}

}  // namespace

ExitStatus run_detached(const RunPlan& plan, const RunOptions& options, Context& context) {
  Submission submission(context);
  const auto paths = submission.submit(plan);
  if (!paths.ok()) {
    const bool interrupted = paths.error().code == base::Code::kCancelled;
    return fail(context, paths.error(),
                interrupted ? ExitStatus::kInterrupted : ExitStatus::kCouldNotStart);
  }
  const std::string id = paths->folder.substr(paths->folder.rfind('/') + 1);
  if (!submission.stopped_by().empty()) {
    const std::string sentence =
        base::format("{}: {} had started and is being stopped", submission.stopped_by(), id);
    return fail(context, base::Error{base::Code::kCancelled, sentence});
  }
  return leave_submitted(id, {{"job", id}, {"folder", paths->folder}}, plan.spec, options, context);
}

}  // namespace gangrun::client
