#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/log.h"

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

// A folder of its own, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "master-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gangrun::master
