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
#include "cli/check_hadoop_env.h"
#include "cli/command_builder.h"
#include "cli/commands.h"
#include "client/prepare.h"
#include "cluster/yarn/client/yarn_doctor.h"

namespace gangrun::cli {

namespace {

constexpr const char* kTrialFolder = "/tmp";
constexpr const char* kTrialFile = "hello_tf_yarn.txt";
constexpr mode_t kLogMode = 0644;

struct HadoopEnvOptions {
  std::optional<std::string> queue;
  std::vector<std::string> file_systems;
  std::optional<std::string> python;
  bool no_remote = false;
};

// Exits with 1 for everything that is not well, as its users' scripts expect.
client::ExitStatus check(const HadoopEnvOptions& options, client::Context& context) {
  const std::string path = client::in_folder(context.folder, std::string(kCheckHadoopEnvLog));
  const base::UniqueFd log(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kLogMode));
  if (!log.valid()) {
    return fail(context, base::from_errno(errno, path + " cannot be written"),
                client::ExitStatus::kJobFailed);
  }
  base::Result<> written;
  HadoopEnvReport report([&](const std::string& line) {
    context.console.err(line + "\n");
    if (written.ok()) written = base::write_all(log.get(), line + "\n", path);
  });
  report.begin(path);
  const client::DoctorListener listener{
      .begins = [&](client::Part part) { report.on_part(part); },
      .found = [&](client::Part part,
                   const cluster::Check& check) { report.on_check(part, check); },
      .writes = [&](const std::string& url) { report.on_write(url); }};
  const auto whole = client::look_at_yarn({.queue = options.queue.value_or(""),
                                           .file_systems = options.file_systems,
                                           .python = options.python,
                                           .from_node = !options.no_remote,
                                           .base_folder = kTrialFolder,
                                           .file = kTrialFile},
                                          listener, context);
  if (!whole.ok()) return fail(context, whole.error(), client::ExitStatus::kJobFailed);
  if (!*whole) {
    report.interrupted();
    return client::ExitStatus::kInterrupted;
  }
  if (options.no_remote) {
    report.not_checked({"container", cluster::Verdict::kNotChecked, "--no-remote is given"});
  }
  report.end();
  if (!written.ok()) return fail(context, written.error(), client::ExitStatus::kJobFailed);
  return report.is_good() ? client::ExitStatus::kSuccess : client::ExitStatus::kJobFailed;
}

}  // namespace

void add_check_hadoop_env(CLI::App& app, Request& request) {
  CLI::App* command = add_command(
      app, std::string(kCheckHadoopEnv),
      "Check Hadoop's environment: a drop-in replacement for tf-yarn's check_hadoop_env.");
  const auto options = std::make_shared<HadoopEnvOptions>();
  add_value(*command, "-q,--queue", options->queue, "NAME", "The queue to submit to (default)");
  add_list(*command, "--file-system", options->file_systems, "URL",
           "An additional file system to check: hdfs://other");
  add_value(
      *command, "--python", options->python, "FILE",
      "The Python whose TensorFlow must reach HDFS, here and on the nodes (default: python3)");
  add_flag(*command, "--no-remote", options->no_remote,
           "Ask YARN only; do not run a container on it");
  add_footer(*command,
             base::format("Writes its findings to standard error and to {} in this folder.\nExits "
                          "with 0 if the setup is OK, otherwise with 1.\n\nExample:\n  {}\n",
                          kCheckHadoopEnvLog, kCheckHadoopEnv));
  on_chosen(*command, [&request, options] {
    request.action = [options](client::Context& context) { return check(*options, context); };
  });
}

}  // namespace gangrun::cli
