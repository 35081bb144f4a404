#include "client/detached.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "client/fail.h"
#include "client/submitted.h"
#include "host/processes.h"
#include "process/pipe.h"
#include "process/wait_for.h"

namespace gangrun::client {

namespace {

using base::Result;

// From the supervisor's start until the tasks are asked for.
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

// The lines that the supervisor and its master write to a pipe.
class Told {
 public:
  explicit Told(base::UniqueFd fd) : fd_(std::move(fd)) {}

  // The next line without its end; kUnavailable where none can come any more.
  Result<std::string> next(base::Instant deadline) {
    while (true) {
      const std::size_t end = text_.find('\n');
      if (end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (!process::wait_readable(fd_.get(), deadline)) {
        return base::deadline_exceeded(base::format("the job's master has not started within {}",
                                                    base::to_words(kStartTimeout)));
      }
      char buffer[1024];
      const ssize_t got = ::read(fd_.get(), buffer, sizeof(buffer));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0 || text_.size() > kMaxToldBytes) {
        return base::unavailable("the job's master ended before it started the job");
      }
      text_.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  base::UniqueFd fd_;
  std::string text_;
};

Result<> submit(cluster::JobFolder& folder, const RunPlan& plan, const Context& context) {
  const cluster::JobPaths& paths = folder.paths();
  GANGRUN_TRY(base::write_private_file(paths.launch(),
                                       base::dump_json_indented(to_json(plan.launch)) + "\n"));
  GANGRUN_TRY(base::write_private_file(paths.environment(), joined(context.environment)));
  GANGRUN_ASSIGN(process::Pipe pipe, process::make_pipe());
  Told told(std::move(pipe.read));
  GANGRUN_TRY(host::start_supervisor(context.program, paths, pipe.write.get()));
  pipe.write.reset();
  const base::Instant deadline = context.clock.now() + kStartTimeout;
  while (true) {
    GANGRUN_ASSIGN(const std::string line, told.next(deadline));
    // From here on the supervisor's lock says that the job is somebody's.
    if (line == host::kSupervised) folder.release();
    if (line == host::kStarted) return {};
    if (line.starts_with(host::kRefused)) {
      return base::Error{base::Code::kFailedPrecondition, line.substr(host::kRefused.size())};
    }
  }
}

}  // namespace

ExitStatus run_detached(const RunPlan& plan, const RunOptions& options, Context& context) {
  auto folder = cluster::JobFolder::create(plan.home, plan.spec, context.clock.wall_now());
  if (!folder.ok()) return fail(context, folder.error(), ExitStatus::kCouldNotStart);
  const Result<> submitted = submit(*folder, plan, context);
  if (!submitted.ok()) {
    // One that is only late finds its folder gone and ends; so do its tasks.
    folder->remove();
    return fail(context, submitted.error(), ExitStatus::kCouldNotStart);
  }
  return leave_submitted(folder->id(), {{"job", folder->id()}, {"folder", folder->paths().folder}},
                         plan.spec, options, context);
}

}  // namespace gangrun::client
