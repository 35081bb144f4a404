#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "client/command.h"
#include "cluster/check.h"
#include "yarn/commands/yarn_doctor.h"

namespace gangrun::yarn::commands {

// The name under which this command is known, and its log's in the folder where it is called.
inline constexpr std::string_view kCheckHadoopEnv = "check_hadoop_env";
inline constexpr std::string_view kCheckHadoopEnvLog = "check_hadoop_env.log";

// The checks in check_hadoop_env's words: lines as Python's logging writes them, in their order.
class HadoopEnvReport {
 public:
  explicit HadoopEnvReport(std::function<void(const std::string& line)> print)
      : print_(std::move(print)) {}

  void begin(const std::string& log_path);
  void on_part(Part part);
  void on_check(const cluster::Check& check);
  // The part under way is not checked, and why.
  void not_checked(const cluster::Check& check);
  void on_write(const std::string& url);
  // Closes the part that is under way, and tells the parts that never came.
  void end();
  void interrupted();

  [[nodiscard]] bool is_good() const { return good_; }

 private:
  void close();
  void say(const std::string& line) const;
  void info(std::string_view logger, const std::string& text) const;

  const std::function<void(const std::string& line)> print_;
  std::size_t parts_ = 0;  // that have begun
  bool part_good_ = true;
  bool part_checked_ = true;
  bool good_ = true;
};

client::Command check_hadoop_env_command();

}  // namespace gangrun::yarn::commands
