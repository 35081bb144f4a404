#include "base/log.h"

#include <fcntl.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "base/files.h"
#include "base/strings.h"

namespace gangrun::base {

namespace {

// A message may have words of a peer in it, and each is one line that is not too long.
constexpr std::size_t kMaxMessageBytes = std::size_t{16} * 1024;

std::string line_of(std::string_view message) {
  return shorten(printable(message), kMaxMessageBytes);
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

class FileLogger final : public Logger {
 public:
  FileLogger(const std::string& path, LogLevel minimum)
      : logger_("gangrun", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path)) {
    logger_.set_level(spdlog_level(minimum));
    logger_.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    logger_.flush_on(spdlog::level::trace);
    // A full disk must not turn into a storm of messages about messages.
    logger_.set_error_handler([](const std::string&) {});
  }
  void write(LogLevel level, std::string_view message) override {
    const std::string line = line_of(message);
    logger_.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  spdlog::logger logger_;
};

class StderrLogger final : public Logger {
 public:
  StderrLogger(std::string program, LogLevel minimum)
      : program_(std::move(program)), minimum_(minimum) {}
  void write(LogLevel level, std::string_view message) override {
    if (level < minimum_) return;
    const std::string line = format("{}: {}\n", program_, message);
    std::fputs(line.c_str(), stderr);
  }

 private:
  std::string program_;
  LogLevel minimum_;
};

}  // namespace

Result<std::unique_ptr<Logger>> file_logger(const std::string& path, LogLevel minimum) {
  // Created here first, so that the mode is ours and a failure is a value.
  GANGRUN_TRY(open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600).context("the log"));
  try {
    return std::unique_ptr<Logger>(std::make_unique<FileLogger>(path, minimum));
  } catch (const spdlog::spdlog_ex& error) {
    return internal(format("cannot write the log {}: {}", path, error.what()));
  }
}

std::unique_ptr<Logger> stderr_logger(std::string program, LogLevel minimum) {
  return std::make_unique<StderrLogger>(std::move(program), minimum);
}

}  // namespace gangrun::base
