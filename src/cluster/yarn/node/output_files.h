#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gangrun::node {

// What is looked at of one task; more than that is an error.
inline constexpr std::size_t kMaxOutputFiles = 100'000;

// One file that a task has left.
struct OutputFile {
  std::string name;  // relative to the working folder, as the task calls it
  std::string path;  // where it is: elsewhere in that folder, if the task made a link to it
  std::uint64_t size = 0;
  bool is_executable = false;

  friend bool operator==(const OutputFile&, const OutputFile&) = default;
};

struct OutputFiles {
  std::vector<OutputFile> chosen;
  std::vector<OutputFile> over;      // the limit
  std::vector<std::string> missing;  // of the names
  // Links to folders or to what is not in the working folder, and what is no file at all.
  std::vector<std::string> odd;
};

// All that is at `names` in a task's working folder, as many files as have `limit` bytes together,
// the smallest first. The task's processes have ended.
base::Result<OutputFiles> output_files(const std::string& folder,
                                       const std::vector<std::string>& names,
                                       std::optional<std::uint64_t> limit);

// How the writing of them went.
struct OutputsEnd {
  OutputFiles files;
  std::size_t written = 0;
  struct Failure {
    std::string name;
    std::string why;
  };
  std::vector<Failure> failures{};  // of files
  std::string trouble{};            // that ended it all
};

// One text for what its user is to know: what is over the limit, or could not be written. Empty:
// all that there is has been.
std::string lost_words(const OutputsEnd& end, std::optional<std::uint64_t> limit);
// The same of names at which the task has left nothing.
std::string missing_words(const OutputsEnd& end);

}  // namespace gangrun::node
