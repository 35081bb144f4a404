#include "yarn/commands/check_hadoop_env.h"

#include <array>

#include "base/format.h"
#include "base/terminal_text.h"
#include "yarn/tensorflow_trial.h"

namespace gangrun::yarn::commands {

namespace {

using cluster::Verdict;

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
