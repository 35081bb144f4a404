#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

// For tests.
namespace gangrun::base {

class LogRecorder final : public Logger {
 public:
  void write(LogLevel, std::string_view message) override { lines.emplace_back(message); }
  std::vector<std::string> lines;
};

}  // namespace gangrun::base
