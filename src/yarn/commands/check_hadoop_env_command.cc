#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/unique_fd.h"
#include "client/command.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "yarn/commands/check_hadoop_env.h"
#include "yarn/commands/yarn_doctor.h"
#include "yarn/commands/yarn_place.h"

namespace gangrun::yarn::commands {

namespace {

constexpr const char* kTrialFolder = "/tmp";
constexpr const char* kTrialFile = "hello_tf_yarn.txt";
constexpr mode_t kLogMode = 0644;

struct HadoopEnvOptions {
  YarnDoctorOptions doctor{.base_folder = kTrialFolder, .file = kTrialFile};
  bool no_remote = false;
};

// Exits with 1 for everything that is not well, as its users' scripts expect.
client::ExitStatus check(const HadoopEnvOptions& options, client::Context& context) {
  const std::string path = client::in_folder(context.folder, std::string(kCheckHadoopEnvLog));
  const base::UniqueFd log(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kLogMode));
  if (!log.valid()) {
    return client::fail(context, base::from_errno(errno, path + " cannot be written"),
                        client::ExitStatus::kJobFailed);
  }
  base::Result<> written;
  HadoopEnvReport report([&](const std::string& line) {
    context.console.err(line + "\n");
    if (written.ok()) written = base::write_all(log.get(), line + "\n", path);
  });
  report.begin(path);
  const DoctorListener listener{
      .begins = [&](Part part) { report.on_part(part); },
      .found = [&](const cluster::Check& check) { report.on_check(check); },
      .writes = [&](const std::string& url) { report.on_write(url); }};
  YarnDoctorOptions doctor = options.doctor;
  doctor.from_node = !options.no_remote;
  const auto whole = look_at_yarn(doctor, listener, context);
  if (!whole.ok()) return client::fail(context, whole.error(), client::ExitStatus::kJobFailed);
  if (!*whole) {
    report.interrupted();
    return client::ExitStatus::kInterrupted;
  }
  if (options.no_remote) {
    report.not_checked({"container", cluster::Verdict::kNotChecked, "--no-remote is given"});
  }
  report.end();
  if (!written.ok()) return client::fail(context, written.error(), client::ExitStatus::kJobFailed);
  return report.is_good() ? client::ExitStatus::kSuccess : client::ExitStatus::kJobFailed;
}

}  // namespace

client::Command check_hadoop_env_command() {
  const auto options = std::make_shared<HadoopEnvOptions>();
  return {
      .name = std::string(kCheckHadoopEnv),
      .summary =
          "Check Hadoop's environment: a drop-in replacement for tf-yarn's check_hadoop_env.",
      .flags = {{"-q,--queue", &options->doctor.queue, "NAME", "The queue to submit to (default)"},
                {"--file-system", &options->doctor.file_systems, "URL",
                 "An additional file system to check: hdfs://other"},
                {"--python", &options->doctor.python, "FILE",
                 "The Python whose TensorFlow must reach HDFS, here and on the nodes (default: "
                 "python3)"},
                {"--no-remote", &options->no_remote, "",
                 "Ask YARN only; do not run a container on it"}},
      .footer =
          base::format("Writes its findings to standard error and to {} in this folder.\nExits "
                       "with 0 if the setup is OK, otherwise with 1.\n\nExample:\n  {}\n",
                       kCheckHadoopEnvLog, kCheckHadoopEnv),
      .action = [options](client::Context& context) { return check(*options, context); }};
}

}  // namespace gangrun::yarn::commands
