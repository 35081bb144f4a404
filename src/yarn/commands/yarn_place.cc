#include "yarn/commands/yarn_place.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/cluster_session.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/far_outputs.h"
#include "client/removal.h"
#include "host/ending_signals.h"
#include "yarn/commands/hadoop_access.h"
#include "yarn/commands/yarn_doctor.h"
#include "yarn/commands/yarn_run.h"
#include "yarn/yarn_options.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

class YarnJobs final : public client::Jobs {
 public:
  [[nodiscard]] bool has_id(std::string_view job,
                            const client::Context& /*context*/) const override {
    return job.starts_with("application_");
  }
  client::ExitStatus attach(const std::string& job, const client::DisplayOptions& display,
                            client::Context& context) const override {
    const auto access = hadoop_access(context);
    if (!access.ok()) return client::fail(context, access.error());
    return client::show_cluster_job(yarn_cluster_job(**access, job, context), {}, display, context);
  }
  [[nodiscard]] std::string page_url(const std::string& job,
                                     const client::Context& context) const override {
    const auto access = hadoop_access(context);
    return access.ok() ? yarn_page_url((*access)->configuration, job) : std::string();
  }
  [[nodiscard]] bool are_listed() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<cluster::Site>> site(
      const client::Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    return std::unique_ptr<cluster::Site>(yarn_site(*access, context));
  }
  [[nodiscard]] Result<std::vector<client::BroughtRest>> fetch(
      const client::FetchOrder& request, client::Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    GANGRUN_ASSIGN(const auto job, yarn_site(*access, context)->find_job(request.job.id));
    GANGRUN_ASSIGN(const auto files, job->outputs(client::folder_of_task(request.task)));
    const auto read = [&job](const cluster::FarFile& file, const cluster::ResultSink& sink) {
      return job->read_output(file, sink);
    };
    GANGRUN_TRY(client::bring(files, read, request.folder, request.progress));
    return std::vector<client::BroughtRest>();
  }
  [[nodiscard]] Result<std::string> ended_job(const std::string& job,
                                              const client::Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    GANGRUN_ASSIGN(const auto found, yarn_site(*access, context)->find_job(job));
    GANGRUN_TRY(found->check_has_ended());
    return found->id();
  }
  [[nodiscard]] Result<> remove(const client::KeptJob& job,
                                client::Context& context) const override {
    GANGRUN_ASSIGN(const auto access, hadoop_access(context));
    GANGRUN_ASSIGN(const auto guard,
                   client::EndingGuard::start({.signals = host::ending_signals(),
                                               .last = 1,
                                               .patience = std::chrono::milliseconds(0),
                                               .gives_back = true}));
    guard->set_words(base::format(
        "interrupted: whether all of {0} is removed is not known; `gangrun rm {0}` goes on",
        job.id));
    GANGRUN_ASSIGN(const auto found, yarn_site(*access, context)->find_job(job.id));
    return found->remove();
  }
};

Result<client::Examination> examine(const YarnDoctorOptions& options, client::Context& context) {
  client::Examination examination;
  const DoctorListener listener{
      .begins = [](Part) {},
      .found = [&](const cluster::Check& check) { examination.checks.push_back(check); },
      .writes = [](const std::string&) {}};
  GANGRUN_ASSIGN(examination.is_whole, look_at_yarn(options, listener, context));
  return examination;
}

client::Doctor doctor() {
  const auto options = std::make_shared<YarnDoctorOptions>();
  return {.examined = "this cluster",
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
          .examine = [options](client::Context& context) { return examine(*options, context); }};
}

}  // namespace

client::Place yarn_place() {
  return {.rules = yarn::yarn_rules(),
          .launch = {.run = run_on_yarn,
                     .has_master_here = false,
                     .why_no_hosting_flags = "the master is not on this machine"},
          .jobs = std::make_shared<const YarnJobs>(),
          .doctor = doctor};
}

}  // namespace gangrun::yarn::commands
