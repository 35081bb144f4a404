#include "yarn/commands/check_hadoop_env.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/files.h"
#include "base/format.h"
#include "base/terminal_text.h"
#include "base/unique_fd.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "yarn/tensorflow_trial.h"

namespace gangrun::yarn::commands {

namespace {

using cluster::Verdict;

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

// Its users look for the lines of this logger.
constexpr std::string_view kLogger = "tf_yarn.bin.check_hadoop_env";
constexpr std::string_view kRootLogger = "root";
// In the order of Part.
constexpr std::array<std::string_view, 3> kResults{"check_env", "check_local_hadoop_tensorflow",
                                                   "remote_check"};

std::string_view python_bool(bool value) { return value ? "True" : "False"; }

// Checks whose failure keeps the jobs of this command's users from running: they are TensorFlow's.
bool is_bad(const cluster::Check& check) {
  return check.verdict == Verdict::kFailed ||
         (check.verdict == Verdict::kWarning && yarn::is_about_tensorflow(check));
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

// Servers and nodes have said some of it.
void HadoopEnvReport::say(const std::string& line) const { print_(base::harmless_sentence(line)); }

void HadoopEnvReport::info(std::string_view logger, const std::string& text) const {
  say(base::format("INFO:{}:{}", logger, text));
}

void HadoopEnvReport::begin(const std::string& log_path) {
  info(kLogger, base::format("results will be written in {}", log_path));
}

void HadoopEnvReport::close() {
  if (parts_ == 0) return;
  const bool is_known = part_checked_ || !part_good_;
  info(kLogger, base::format("{}: {}", kResults.at(parts_ - 1),
                             is_known ? python_bool(part_good_) : "not checked"));
  good_ = good_ && part_good_;
  part_good_ = true;
  part_checked_ = true;
}

void HadoopEnvReport::on_part(Part part) {
  close();
  parts_ = static_cast<std::size_t>(part) + 1;
  if (part == Part::kCluster) info(kRootLogger, "Launching remote check");
}

void HadoopEnvReport::on_write(const std::string& url) {
  info(kLogger, base::format("write dummy file to hdfs {}", url));
}

void HadoopEnvReport::on_check(const cluster::Check& check) {
  if (check.verdict == Verdict::kOk) return;
  const bool bad = is_bad(check);
  if (bad) part_good_ = false;
  const std::string to_do = check.to_do.empty() ? std::string() : "; to do: " + check.to_do;
  say(base::format("{}:{}:{}: {}: {}{}",
                   bad                                     ? "ERROR"
                   : check.verdict == Verdict::kNotChecked ? "INFO"
                                                           : "WARNING",
                   kLogger, check.name, to_string(check.verdict), check.found, to_do));
}

void HadoopEnvReport::not_checked(const cluster::Check& check) {
  on_check(check);
  part_checked_ = false;
}

void HadoopEnvReport::end() {
  close();
  for (; parts_ < kResults.size(); ++parts_) {
    info(kLogger, base::format("{}: False", kResults.at(parts_)));
    good_ = false;
  }
  info(kLogger, base::format("Hadoop setup: {}", good_ ? "OK" : "KO"));
}

void HadoopEnvReport::interrupted() {
  good_ = false;
  say(base::format("ERROR:{}:interrupted", kLogger));
}

}  // namespace gangrun::yarn::commands
