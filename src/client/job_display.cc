#include "client/job_display.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "client/log_lines.h"

namespace gangrun::client {

namespace {

// The display is brought up to date no more often than that.
constexpr base::milliseconds kInterval(200);
// From the start to the first look for lines. The time to each later one is twice as long, up to
// kInterval; from then on the kernel tells of lines. Its watch would cost a short job more at the
// end than it gives.
constexpr base::milliseconds kFirstLook(10);
// While more than that waits for a slow reader, no more lines are read.
constexpr std::size_t kMaxQueuedBytes = std::size_t{1} << 20U;
constexpr base::milliseconds kReaderTimeout(kReaderTimeoutMs);
constexpr std::string_view kNotShownEither = "; what the log lacks is not shown here either";

// The live table has progress bars from the status.
cluster::LogRequest log_request(const Console& console, const ViewOptions& options) {
  cluster::LogRequest request;
  if (options.quiet) request.redraw_pace = redraw_pace(console, options.json);
  return request;
}

}  // namespace

ViewOptions view_options(const DisplayOptions& options, const std::vector<job::TaskId>& tasks) {
  ViewOptions view;
  view.json = options.json;
  view.quiet = options.quiet;
  view.verbose = options.verbose;
  if (options.logs) view.logs = true;
  if (options.no_logs) view.logs = false;
  for (const job::TaskId& task : tasks) {
    view.prefix_width = std::max(view.prefix_width, job::to_string(task).size());
  }
  return view;
}

JobDisplay::JobDisplay(net::EventLoop& loop, Context& context, const ViewOptions& options,
                       std::function<job::JobStatus()> status)
    : loop_(loop),
      context_(context),
      status_(std::move(status)),
      request_(log_request(context.console, options)),
      view_(make_view(context.console, options)),
      look_pause_(kFirstLook, kInterval) {
  context_.console.defer([this] { on_blocked(); });
}

base::Result<> JobDisplay::open_logs(const std::string& log_folder,
                                     const std::vector<job::TaskStatus>& tasks) {
  if (!view_->wants_lines()) return {};
  GANGRUN_ASSIGN(logs_, host::LocalLogs::open(log_folder, tasks, request_));
  look_again();
  return {};
}

void JobDisplay::incomplete_log(const std::string& sentence) {
  view_->warning(logs_ ? sentence + std::string(kNotShownEither) : sentence);
}

void JobDisplay::start(const job::JobStatus& status) {
  view_->started(status);
  timer_ = loop_.after(kInterval, [this] { show(); });
}

void JobDisplay::look_again() {
  const base::Duration pause = look_pause_.next();
  look_timer_ = loop_.after(pause, [this, pause] {
    if (!logs_) return;
    if (pause >= kInterval) logs_->watch();
    read_lines();
    if (pause < kInterval) look_again();
  });
}

void JobDisplay::stop() {
  stopped_ = true;
  timer_.reset();
  look_timer_.reset();
  logs_watch_.reset();
}

void JobDisplay::show() {
  if (stopped_) return;
  read_lines();
  // A display that is behind would only fall further behind.
  if (context_.console.queued() == 0) view_->changed(status_());
  timer_ = loop_.after(kInterval, [this] { show(); });
}

void JobDisplay::arm_logs() {
  if (!logs_ || logs_watch_.active() || logs_->changed_fd() < 0) return;
  logs_watch_ = loop_.watch_readable(logs_->changed_fd(), [this] { read_lines(); });
}

// Whether there were lines, so that there may be more.
bool JobDisplay::show_lines() {
  if (!logs_) return false;
  // Bounded, so that a task that writes without end does not keep us from the rest.
  const auto lines = logs_->next(context_.clock.now());
  if (!lines.ok()) {
    view_->warning(lines.error().message);
    logs_watch_.reset();
    logs_.reset();
    return false;
  }
  if (!lines->empty()) view_->lines(*lines);
  return !lines->empty();
}

bool JobDisplay::is_behind() const { return context_.console.queued() > kMaxQueuedBytes; }

void JobDisplay::read_lines() {
  if (stopped_) return;
  if (is_behind()) return logs_watch_.reset();
  arm_logs();
  if (show_lines()) loop_.post([this] { read_lines(); });
}

void JobDisplay::on_blocked() {
  const auto watch = [this](const Output& output, net::Watch& writable) {
    if (output.queued() == 0 || writable.active()) return;
    writable = loop_.watch_writable(output.fd(), [this] { on_writable(); });
  };
  watch(context_.console.out_output(), out_watch_);
  watch(context_.console.err_output(), err_watch_);
}

void JobDisplay::on_writable() {
  context_.console.flush();
  if (context_.console.out_output().queued() == 0) out_watch_.reset();
  if (context_.console.err_output().queued() == 0) err_watch_.reset();
  if (context_.console.queued() == 0) read_lines();
}

void JobDisplay::wait_for_reader() {
  Console& console = context_.console;
  (void)loop_.run_until([&] { return console.queued() == 0 || given_up_; },
                        context_.clock.now() + kReaderTimeout);
  if (console.queued() > 0) console.give_up();
}

ExitStatus JobDisplay::leave(const std::string& job) {
  notice(base::format("detached; {} keeps running (gangrun kill {} stops it)", job, job));
  stop();
  context_.console.stop_deferring();
  return ExitStatus::kInterrupted;
}

ExitStatus JobDisplay::leave_untold(const std::string& sentence) {
  warning(sentence);
  stop();
  if (context_.console.queued() > 0) context_.console.give_up();
  context_.console.stop_deferring();
  return ExitStatus::kInterrupted;
}

void JobDisplay::finish(const job::JobStatus& status, ExitStatus exit_status) {
  stop();
  wait_for_reader();
  while (show_lines()) wait_for_reader();
  const auto rest = logs_ ? logs_->rest() : std::vector<cluster::LogLine>{};
  if (!rest.empty()) view_->lines(rest);
  view_->finished(status, to_int(exit_status));
  wait_for_reader();
  context_.console.stop_deferring();
}

}  // namespace gangrun::client
