#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/site.h"
#include "host/job_folder.h"
#include "jobfile/section.h"

namespace gangrun::host {

// How long a living master may take to answer one question.
inline constexpr base::seconds kAnswerTimeout(5);
// The same in a list of jobs where one has not answered already.
inline constexpr std::chrono::milliseconds kNextAnswerTimeout(500);

// How a job of this machine is asked.
struct LocalAccess {
  const base::Clock& clock;
  // Starts another master of a detached job that lives without one, and returns when it is there,
  // at most at `deadline`.
  std::function<base::Result<>(const JobPaths& paths, base::Instant deadline)> revive;
  // Whether the tasks of a job run beside its master.
  std::function<bool(const job::JobSpec&)> are_beside_us;
};

// A living master is asked over its socket, of others the journal tells.
class LocalJob final : public cluster::Job {
 public:
  LocalJob(JobPaths paths, LocalAccess access)
      : paths_(std::move(paths)), access_(std::move(access)) {}

  [[nodiscard]] std::string id() const override;
  base::Result<job::JobStatus> status() override { return status_within(kAnswerTimeout); }
  std::optional<job::JobStatus> recorded_status() override;
  // `limit`: how long a living master may take to answer.
  base::Result<job::JobStatus> status_within(base::Duration limit);
  base::Result<std::unique_ptr<cluster::LogReader>> logs(
      const cluster::LogRequest& request) override;
  base::Result<job::ClusterSpec> cluster_spec(int generation, base::Instant deadline) override;
  base::Result<> stop(bool at_once, const std::string& by) override;
  base::Result<std::optional<std::string>> stop_without_answer(const std::string& by) override;
  base::Result<cluster::Answer> ask(const cluster::Question& question) override;
  base::Result<std::vector<cluster::TaskResult>> results() override;
  base::Result<> read_result(const job::TaskId& task, const cluster::ResultSink& sink) override;
  base::Result<> wait_for_change(base::Instant deadline) override;

 private:
  [[nodiscard]] bool may_have_tasks() const;
  [[nodiscard]] std::size_t agents_left(base::Instant deadline) const;
  bool has_master_again(base::Instant deadline);
  [[nodiscard]] bool comes_back(const base::Error& error, base::Instant deadline);
  [[nodiscard]] base::Error silent_supervisor(base::Duration limit) const;
  // Asks the job's master, or, where that has died or has just begun, the next one as soon as it
  // listens.
  template <typename Ask>
  auto ask_master(base::Duration limit, const Ask& ask) -> decltype(ask()) {
    const base::Instant deadline = access_.clock.now() + limit;
    while (true) {
      auto answer = ask();
      if (answer.ok() || !comes_back(answer.error(), deadline)) return answer;
    }
  }

  const JobPaths paths_;
  const LocalAccess access_;
};

// The jobs of this machine.
class LocalSite final : public cluster::Site {
 public:
  LocalSite(std::string home, LocalAccess access)
      : home_(std::move(home)), access_(std::move(access)) {}

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<std::unique_ptr<cluster::Job>> find(std::string_view name) override;

 private:
  const std::string home_;
  const LocalAccess access_;
};

// The job's spec, with these sections read.
base::Result<job::JobSpec> stored_spec(const JobPaths& paths,
                                       const jobfile::SectionList& sections = {});

// The end of a job without a master: its verdict; without one it is lost, and so are its tasks.
job::JobStatus without_master(job::JobStatus last);

// The last status in the journal, or the first one that the job's spec gives, before any was
// written.
base::Result<job::JobStatus> stored_status(const JobPaths& paths);

}  // namespace gangrun::host
