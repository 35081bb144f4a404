#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace gangrun::cluster {

// A file of the master's machine that the agents of a job fetch before the first run of their
// tasks.
struct FetchedFile {
  std::string name;  // in a task's working folder
  std::string path;  // of the master's machine
  bool is_executable = false;
  std::uint64_t size = 0;
  // The rest of what tells one state of the file from another.
  std::uint64_t inode = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::string digest{};       // SHA-256 of that state, in hexadecimal digits
};

using FetchedFiles = std::vector<FetchedFile>;

std::uint64_t bytes_of(const FetchedFiles& files);

// The file as it is now, without its digest. Errors name its path, as do those below.
base::Result<FetchedFile> look_at(const std::string& name, const std::string& path,
                                  bool is_executable);

// `length` bytes of it from `offset`, which it has. kFailedPrecondition where it is not as it was
// when it was looked at.
base::Result<std::string> read_part(const FetchedFile& file, std::uint64_t offset,
                                    std::size_t length);

}  // namespace gangrun::cluster
