#include "cluster/yarn/client/yarn_place.h"

#include <chrono>

#include "base/format.h"
#include "client/command.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "cluster/yarn/client/hadoop_access.h"
#include "cluster/yarn/client/yarn_doctor.h"
#include "cluster/yarn/client/yarn_fetch.h"
#include "cluster/yarn/client/yarn_run.h"
#include "cluster/yarn/client/yarn_session.h"
#include "cluster/yarn/yarn_rules.h"
#include "host/ending_signals.h"

namespace gangrun::client {

namespace {

using base::Result;

class YarnJobs final : public OwnJobs {
 public:
  [[nodiscard]] bool has_id(std::string_view job) const override {
    return job.starts_with("application_");
  }
  ExitStatus attach(const std::string& job, const DisplayOptions& display,
                    Context& context) const override {
    const auto access = hadoop_access(context);
    if (!access.ok()) return fail(context, access.error());
    return show_yarn_job(**access, job, {}, display, context);
  }
  [[nodiscard]] std::string page_url(const std::string& job,
                                     const Context& context) const override {
    const auto access = hadoop_access(context);
    return access.ok() ? yarn_page_url((*access)->configuration, job) : std::string();
  }
  [[nodiscard]] Result<std::string> id_of(const std::string& job,
                                          const Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    return yarn_site(*access, context)->id_of(job);
  }
  [[nodiscard]] Result<> fetch(const std::string& job, const std::string& task,
                               const std::string& folder, TransferProgress& progress,
                               Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    const auto site = yarn_site(*access, context);
    return fetch_far_outputs(*site, job, task, folder,
                             [&progress](const std::string& name, std::uint64_t got,
                                         std::uint64_t size) { progress.show(name, got, size); });
  }
  [[nodiscard]] Result<std::string> ended_job(const std::string& job,
                                              const Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    return yarn_site(*access, context)->ended_job(job);
  }
  [[nodiscard]] Result<> remove(const std::string& job, Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    GANGRUN_ASSIGN(const auto guard, EndingGuard::start({.signals = host::ending_signals(),
                                                         .last = 1,
                                                         .patience = std::chrono::milliseconds(0),
                                                         .gives_back = true}));
    guard->set_words(base::format(
        "interrupted: whether all of {0} is removed is not known; `gangrun rm {0}` goes on", job));
    return yarn_site(*access, context)->remove(job);
  }
};

class YarnPlace final : public Place {
 public:
  [[nodiscard]] job::Place rules() const override { return cluster::yarn_place(); }
  [[nodiscard]] std::map<RunFlag, std::string_view> refused_flags() const override {
    constexpr std::string_view kElsewhere = "the master is not on this machine";
    return {{RunFlag::kHost, kElsewhere}, {RunFlag::kServeTls, kElsewhere}};
  }
  [[nodiscard]] bool has_master_here() const override { return false; }
  ExitStatus run(job::JobSpec spec, const RunOptions& options, Context& context) const override {
    return run_on_yarn(spec, options, context);
  }

  [[nodiscard]] bool lists_jobs() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<cluster::Site>> site(const Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    return std::unique_ptr<cluster::Site>(yarn_site(*access, context));
  }
  [[nodiscard]] const OwnJobs* own_jobs() const override { return &jobs_; }

  [[nodiscard]] std::optional<Doctor> doctor() const override;

 private:
  YarnJobs jobs_;
};

Result<Examination> examine(const YarnDoctorOptions& options, Context& context) {
  Examination examination;
  const DoctorListener listener{
      .begins = [](Part) {},
      .found = [&examination](Part,
                              const cluster::Check& check) { examination.checks.push_back(check); },
      .writes = [](const std::string&) {}};
  GANGRUN_ASSIGN(examination.is_whole, look_at_yarn(options, listener, context));
  return examination;
}

std::optional<Doctor> YarnPlace::doctor() const {
  const auto options = std::make_shared<YarnDoctorOptions>();
  return Doctor{
      .examined = "this cluster",
      .subject = "a cluster",
      .example = "--remote --queue ml",
      .flags = {{"--remote", &options->from_node, "",
                 "On YARN: also run a small job, and check from inside its container"},
                {"-q,--queue", &options->queue, "NAME",
                 "On YARN: the queue to submit to (default)"},
                {"--file-system", &options->file_systems, "URL",
                 "On YARN: an additional file system to check: hdfs://other"},
                {"--python", &options->python, "FILE",
                 "On YARN: the Python whose TensorFlow must reach HDFS (default: python3)"}},
      .examine = [options](Context& context) { return examine(*options, context); }};
}

}  // namespace

std::unique_ptr<Place> yarn_place() { return std::make_unique<YarnPlace>(); }

}  // namespace gangrun::client
