#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "client/context.h"
#include "client/place.h"

namespace gangrun::client {

// A folder of this test alone, and a command's context whose outputs are read back from files.
class TestContext {
 public:
  explicit TestContext(std::vector<Place> places = {}) : places_(std::move(places)) {
    std::string name = std::filesystem::temp_directory_path().string() + "/cli_test_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      files_.at(i).reset(::open(folder_.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    }
    Console::Options options;
    options.out = files_[0].get();
    options.err = files_[1].get();
    console_ = std::make_unique<Console>(options);
    context_ =
        std::make_unique<Context>(Context{.clock = clock_,
                                          .commanded_at = clock_.now(),
                                          .console = *console_,
                                          .environment = {{"GANGRUN_HOME", folder_ + "/home"}},
                                          .program = folder_ + "/bin/gangrun",
                                          .folder = folder_,
                                          .places = places_});
  }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;
  ~TestContext() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Context& context() { return *context_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] int err_fd() const { return files_[1].get(); }
  [[nodiscard]] std::string out() const { return content(files_[0]); }
  [[nodiscard]] std::string err() const { return content(files_[1]); }

 private:
  static std::string content(const base::UniqueFd& fd) {
    std::string text(std::size_t{1} << 20U, '\0');
    const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  base::SystemClock clock_;
  const Places places_;
  std::string folder_;
  std::array<base::UniqueFd, 2> files_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<Context> context_;
};

}  // namespace gangrun::client
