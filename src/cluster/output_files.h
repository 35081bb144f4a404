#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/found_outputs.h"

// The outputs of one task: which files are kept of what it has left at their names, and the words
// for those that are not.
namespace gangrun::cluster {

struct OutputFiles {
  // Files, and folders that are empty; links where they are kept.
  std::vector<FoundOutput> chosen;
  std::vector<FoundOutput> over;     // the limit
  std::vector<std::string> missing;  // of the names
  std::vector<OddOutput> odd;        // that cannot be brought
};

// The place where outputs are kept has links, or has what they lead to in place of them.
enum class Links { kKept, kFollowed };

// All that is at `names` in a task's working folder, also by links to elsewhere in it, as many
// files as have `limit` bytes together, the smallest first. The task's processes have ended.
base::Result<OutputFiles> output_files(const std::string& folder,
                                       const std::vector<std::string>& names,
                                       std::optional<std::uint64_t> limit, Links links);

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

}  // namespace gangrun::cluster
