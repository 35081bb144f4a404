#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// The jobs of this machine: a living master is asked over its socket, of others the journal tells.
class LocalSite final : public cluster::Site {
 public:
  // Starts another master of a detached job that lives without one, and returns when it is there,
  // at most at `deadline`.
  using Revive = std::function<base::Result<>(const JobPaths& paths, base::Instant deadline)>;

  // `are_beside_us` says whether the tasks of a job run beside its master.
  LocalSite(std::string home, const base::Clock& clock, Revive revive,
            std::function<bool(const job::JobSpec&)> are_beside_us)
      : home_(std::move(home)),
        clock_(clock),
        revive_(std::move(revive)),
        are_beside_us_(std::move(are_beside_us)) {}

  base::Result<std::vector<cluster::ListedJob>> list() override;
  base::Result<job::JobStatus> status(std::string_view job) override;
  base::Result<std::unique_ptr<cluster::LogReader>> logs(
      std::string_view job, const cluster::LogRequest& request) override;
  base::Result<job::ClusterSpec> cluster_spec(std::string_view job, int generation,
                                              base::Instant deadline) override;
  base::Result<> stop(std::string_view job, bool at_once, const std::string& by) override;
  base::Result<cluster::Answer> ask(std::string_view job,
                                    const cluster::Question& question) override;
  base::Result<std::vector<cluster::TaskResult>> results(std::string_view job) override;
  base::Result<> read_result(std::string_view job, const job::TaskId& task,
                             const cluster::ResultSink& sink) override;
  base::Result<> wait_for_change(std::string_view job, base::Instant deadline) override;

 private:
  base::Result<JobPaths> find(std::string_view job);
  base::Result<job::JobStatus> status_of(const JobPaths& paths, base::Duration limit);
  [[nodiscard]] bool may_have_tasks(const JobPaths& paths) const;
  bool has_master_again(const JobPaths& paths, base::Instant deadline);
  [[nodiscard]] bool comes_back(const JobPaths& paths, const base::Error& error,
                                base::Instant deadline);
  // Asks the job's master, or, where that has died, the next one as soon as there is one.
  template <typename Ask>
  auto ask_master(const JobPaths& paths, const Ask& ask) -> decltype(ask()) {
    const base::Instant deadline = clock_.now() + kMasterChange;
    while (true) {
      auto answer = ask();
      if (answer.ok() || !comes_back(paths, answer.error(), deadline)) return answer;
    }
  }

  // So long a question waits for the next master.
  static constexpr base::seconds kMasterChange{10};

  std::string home_;
  const base::Clock& clock_;
  Revive revive_;
  std::function<bool(const job::JobSpec&)> are_beside_us_;
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
