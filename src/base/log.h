#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"

namespace gangrun::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// The destination of the program's own messages (not the tasks' output). Built by main, handed
// down.
class Logger {
 public:
  virtual ~Logger() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;

  template <typename... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::kDebug, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::kInfo, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warning(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::kWarning, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::kError, fmt::format(text, std::forward<Args>(args)...));
  }
};

// Messages of `minimum` and above to a file that is appended to ("2026-01-31T12:00:00.123Z info
// …"), created 0600, each as one line that is printable whoever's words are in it. Thread-safe.
// Each message is in the file when write() returns.
Result<std::unique_ptr<Logger>> file_logger(const std::string& path, LogLevel minimum);

// The same to standard error, as "gangrun: …" without time: what a command tells its user.
std::unique_ptr<Logger> stderr_logger(std::string program, LogLevel minimum);

}  // namespace gangrun::base
