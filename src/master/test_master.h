#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "journal/test_folder.h"

// What several tests of this room need.
namespace gangrun::master {

// Long enough for the slowest machine; no test waits for it when it passes.
inline base::Instant test_deadline() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

class LogRecorder final : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view message) override { lines.emplace_back(message); }
  std::vector<std::string> lines;
};

using journal::TestFolder;

}  // namespace gangrun::master
