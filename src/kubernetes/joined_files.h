#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Files that come into a pod in parts, and are put together before its task begins: by an agent,
// `gangrun-pod-agent files`, or by a shell where there is none.
namespace gangrun::kubernetes {

inline constexpr std::string_view kFilesCommand = "files";
// The API server's own limit for the values of one config map; the keys do not count.
inline constexpr std::size_t kMaxPartBytes = std::size_t{1} << 20U;

struct JoinedFile {
  std::string path;  // in a folder that is there
  mode_t mode = 0;
  std::vector<std::string> parts;  // absolute paths, in their order

  friend bool operator==(const JoinedFile&, const JoinedFile&) = default;
};

// "--to PATH --mode 0444 PART...", for each file.
std::vector<std::string> to_words(const std::vector<JoinedFile>& files);
// None: they are not these.
std::optional<std::vector<JoinedFile>> joined_files_from(const std::vector<std::string>& words);

// The same as a line for `/bin/sh -c`, where `cat` and `chmod` are.
std::string to_shell_line(const std::vector<JoinedFile>& files);

// A file that is there already is replaced.
base::Result<> put_together(const JoinedFile& file);

}  // namespace gangrun::kubernetes
