#include "yarn/commands/yarn_place.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "client/ending_guard.h"
#include "client/fail.h"
#include "client/removal.h"
#include "cluster/brought_files.h"
#include "host/ending_signals.h"
#include "yarn/commands/hadoop_access.h"
#include "yarn/commands/yarn_doctor.h"
#include "yarn/commands/yarn_run.h"
#include "yarn/commands/yarn_session.h"
#include "yarn/yarn_options.h"
#include "yarn/yarn_site.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

constexpr std::size_t kMaxNamedSkipped = 3;

timespec time_of(const yarn::FarOutput& output) {
  constexpr std::int64_t kMillisecondsOfSecond = 1000;
  constexpr std::int64_t kNanosecondsOfMillisecond = 1'000'000;
  return {.tv_sec = output.modified_ms / kMillisecondsOfSecond,
          .tv_nsec = output.modified_ms % kMillisecondsOfSecond * kNanosecondsOfMillisecond};
}

bool is_here(const std::string& path, const yarn::FarOutput& output) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const timespec there = time_of(output);
  return static_cast<std::uint64_t>(info.st_size) == output.bytes &&
         info.st_mtim.tv_sec == there.tv_sec && info.st_mtim.tv_nsec == there.tv_nsec;
}

// Brings what tasks of the job have left on the cluster's file system to a folder of each task in
// `folder`: of all tasks, or of one ("worker-0"). What is there already as it is on the cluster is
// not brought again.
Result<> fetch_far_outputs(yarn::YarnJob& job, const std::string& task, const std::string& folder,
                           const std::function<void(const std::string& name, std::uint64_t got,
                                                    std::uint64_t size)>& progress) {
  GANGRUN_ASSIGN(const auto outputs, job.outputs(task));
  std::vector<std::string> skipped;
  const auto note_skipped = [&skipped](const cluster::BroughtFiles& files) {
    std::string words = files.skipped_words();
    if (words.empty()) return false;
    skipped.push_back(std::move(words));
    return true;
  };
  for (const yarn::FarOutput& output : outputs) {
    if (output.task.find('/') != std::string::npos) {
      return base::invalid_argument(base::format("'{}' is no folder of a task", output.task));
    }
    const std::string own = base::format("{}/{}", folder, output.task);
    const std::string path = base::format("{}/{}", own, output.name);
    if (!output.is_folder && is_here(path, output)) continue;
    const std::string shown = base::format("{}/{}", output.task, output.name);
    cluster::BroughtFiles files(own, 0);
    GANGRUN_TRY(
        files.begin({output.name, output.bytes, output.is_executable, "", output.is_folder}));
    // One that has no place here does not stop the others.
    if (note_skipped(files) || output.is_folder) continue;
    progress(shown, 0, output.bytes);
    GANGRUN_TRY(job.read_output(output, [&](std::string_view piece) -> Result<> {
      GANGRUN_TRY(files.add(piece));
      progress(shown, files.of_last(), output.bytes);
      return {};
    }));
    if (note_skipped(files)) continue;
    if (files.of_last() < output.bytes) {
      return base::Error{base::Code::kDataLoss,
                         base::format("{} became shorter while it was brought", shown)};
    }
    const timespec times[2] = {time_of(output), time_of(output)};
    if (::utimensat(AT_FDCWD, path.c_str(), static_cast<const timespec*>(times),
                    AT_SYMLINK_NOFOLLOW) != 0) {
      return base::from_errno(errno, base::format("set the time of {}", path));
    }
  }
  if (skipped.empty()) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::first_and_more(skipped, kMaxNamedSkipped)};
}

class YarnJobs final : public client::Jobs {
 public:
  [[nodiscard]] bool has_id(std::string_view job) const override {
    return job.starts_with("application_");
  }
  client::ExitStatus attach(const std::string& job, const client::DisplayOptions& display,
                            client::Context& context) const override {
    const auto access = hadoop_access(context);
    if (!access.ok()) return client::fail(context, access.error());
    return show_yarn_job(**access, job, {}, display, context);
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
    const auto show = [&](const std::string& name, std::uint64_t got, std::uint64_t size) {
      request.progress.show(name, got, size);
    };
    GANGRUN_TRY(
        fetch_far_outputs(*job, client::folder_of_task(request.task), request.folder, show));
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
