#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// The files that tasks have left in their working folder. They may be hostile: nothing outside the
// folder is opened, and links lead nowhere else.
namespace gangrun::cluster {

// How many things are found; more are an error.
inline constexpr std::size_t kMaxFoundOutputs = 100'000;
// How many parts the name of one may have.
inline constexpr std::size_t kMaxOutputDepth = 64;

struct FoundOutput {
  enum class Kind { kFile, kLink, kFolder };

  std::string name{};  // relative to the working folder
  Kind kind = Kind::kFile;
  std::string at{};  // where it is in that folder: elsewhere, where a link was followed to it
  std::uint64_t size = 0;
  bool is_executable = false;
  std::string target{};  // of a link: relative, and in the folder
  // These tell a file from another one of its name.
  std::uint64_t inode = 0;
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;
};

// Something that cannot be brought, and why: "a FIFO".
struct OddOutput {
  std::string name;
  std::string why;

  friend bool operator==(const OddOutput&, const OddOutput&) = default;
};

struct FoundOutputs {
  std::vector<FoundOutput> found;
  std::vector<OddOutput> odd;
  std::vector<std::string> missing;  // of the names
};

struct OutputSearch {
  // Finds all that is at these names, and what links there lead to. Absent: all of the folder but
  // the caches of compiled Python.
  std::optional<std::vector<std::string>> names;
  // For a place that cannot keep links: what they lead to is found under their names.
  bool follows_links = false;
  // Tells whether a found thing is unwanted; of a link, `at` is what it leads to. Absent: none is.
  std::function<bool(const FoundOutput&)> is_known{};
};

// Files, links and empty folders, in no order. A link to something in the folder that its text does
// not tell (an absolute path, a way over another link) gets a text that does.
base::Result<FoundOutputs> find_outputs(const std::string& folder, const OutputSearch& search);

// Opens a file that was found, though a task may have put a link in its way since.
base::Result<base::UniqueFd> open_output(const std::string& folder, const std::string& at);

// "a", "b" and 3 more: each name is quoted, and not long. Others may have made the names.
std::string odd_words(const std::vector<OddOutput>& odd, std::uint64_t all);

// Whether a link with this text, `depth` folders below the top, stays inside whatever other links
// there are.
bool stays_inside(std::string_view target, std::size_t depth);

}  // namespace gangrun::cluster
