#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "host/ending_signals.h"
#include "host/local_master.h"
#include "host/processes.h"
#include "job/described.h"
#include "job/limits.h"
#include "jobfile/plan_json.h"
#include "journal/segments.h"
#include "net/event_loop.h"
#include "process/signals.h"

namespace gangrun::host {

namespace {

using base::Result;

// How long the one before it may still have the job.
constexpr std::chrono::seconds kLockTimeout(10);
constexpr std::size_t kMaxStoredBytes = std::size_t{64} << 20U;

class MasterProcess final : public master::Listener {
 public:
  explicit MasterProcess(const base::Clock& clock) : clock_(clock) {}

  Result<> start(const std::string& folder, base::Instant commanded_at,
                 base::UniqueFd supervisor_lock, const jobfile::SectionList& sections,
                 const BackendOf& backend_of);
  void wait();

  void on_changed() override {}
  void on_incomplete_log(const job::TaskId&, std::string_view) override {}  // among its lines
  void on_warning(std::string_view) override {}  // the master's log has it
  void on_remark(std::string_view) override {}   // likewise, and its status
  void on_finished() override { finished_ = true; }

 private:
  void on_signal(int number);

  const base::Clock& clock_;
  net::EventLoop loop_;
  net::Watch signals_;
  std::optional<JobFolder> folder_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<LocalMaster> master_;
  int signals_seen_ = 0;
  std::string early_signal_;  // that came before there was a master to stop
  bool finished_ = false;
};

Result<base::Json> read_json(const std::string& path) {
  GANGRUN_ASSIGN(const std::string text, base::read_file(path, kMaxStoredBytes));
  return base::parse_json(text, kMaxStoredBytes);
}

Result<mirror::ZooKeeperFiles> read_zookeeper_files(const JobPaths& paths) {
  const auto json = read_json(paths.zookeeper());
  if (json.ok()) return base::from_json<mirror::ZooKeeperFiles>(*json);
  if (json.error().code == base::Code::kNotFound) return mirror::ZooKeeperFiles();
  return json.error();
}

Result<> MasterProcess::start(const std::string& folder, base::Instant commanded_at,
                              base::UniqueFd supervisor_lock, const jobfile::SectionList& sections,
                              const BackendOf& backend_of) {
  GANGRUN_ASSIGN(signals_, loop_.watch_signals(job_signals(), [this](int n) { on_signal(n); }));
  GANGRUN_ASSIGN(folder_, JobFolder::open(folder, clock_.now() + kLockTimeout));
  supervisor_lock.reset();
  GANGRUN_ASSIGN(const base::Json stored_spec, read_json(folder_->paths().spec()));
  GANGRUN_ASSIGN(const job::JobSpec spec, jobfile::job_spec_from_json(stored_spec, sections));
  GANGRUN_ASSIGN(const base::Json stored_launch, read_json(folder_->paths().launch()));
  LocalMasterOptions options;
  GANGRUN_ASSIGN(options.launch, base::from_json<LocalLaunch>(stored_launch));
  GANGRUN_ASSIGN(options.zookeeper_files, read_zookeeper_files(folder_->paths()));
  options.tasks_outlive_us = true;
  options.commanded_at = commanded_at;
  backend_ = backend_of(spec);
  if (backend_ == nullptr) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("on: {} has no master of its own", spec.on)};
  }
  // A job that an earlier master has begun has an end, which is recorded.
  const auto segments = journal::segment_numbers(folder_->paths().journal());
  const bool is_first = segments.ok() && segments->empty();
  const auto is_cancelled = [this, is_first] { return is_first && signals_seen_ > 0; };
  GANGRUN_TRY(backend_->reach(loop_, clock_, spec, is_cancelled));
  if (is_cancelled()) {
    return base::Error{base::Code::kCancelled, "nothing of the job has been started"};
  }
  GANGRUN_ASSIGN(master_,
                 LocalMaster::create(loop_, clock_, *folder_, spec, options, *backend_, *this));
  if (master_->job().has_verdict()) {
    finished_ = true;
    return {};
  }
  GANGRUN_TRY(master_->start());
  if (signals_seen_ > 0) master_->job().request_stop(early_signal_, signals_seen_ > 1);
  return {};
}

void MasterProcess::on_signal(int number) {
  if (process::is_notice(number)) {
    if (master_ == nullptr) return;
    return master_->job().ask(cluster::notice_question({.by = name_of_signal(number)}),
                              [](const cluster::Answer&) {});
  }
  ++signals_seen_;
  early_signal_ = name_of_signal(number);
  if (master_) master_->job().request_stop(early_signal_, signals_seen_ > 1);
}

void MasterProcess::wait() {
  (void)loop_.run_until([this] { return finished_; }, clock_.now() + job::kLongestJob);
  clear_ended_job(folder_->paths());
}

}  // namespace

base::Result<> run_master(const base::Clock& clock, base::Instant commanded_at,
                          const std::string& folder, int told_fd, base::UniqueFd supervisor_lock,
                          const jobfile::SectionList& sections, const BackendOf& backend_of) {
  MasterProcess process(clock);
  Result<> started =
      process.start(folder, commanded_at, std::move(supervisor_lock), sections, backend_of);
  const std::string line = started.ok() ? std::string(kStarted)
                                        : base::format("{}{}", kRefused, started.error().message);
  // A client that has gone reads nothing; a later master has none.
  if (told_fd >= 0) (void)base::write_all(told_fd, line + "\n", "the client");
  if (told_fd >= 0) (void)::close(told_fd);
  if (started.ok()) process.wait();
  return started;
}

}  // namespace gangrun::host
