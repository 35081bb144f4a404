#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "base/result.h"
#include "net/compression.h"

namespace gangrun::hadoop {

// A file or folder of this machine, and what it is called in the archive: "src", "lib/x.py".
struct ArchiveSource {
  std::string name;
  std::string path;
};

struct ArchiveLimits {
  std::size_t max_files = base::FileTree::kMaxFiles;
  std::uint64_t max_bytes = std::uint64_t{4} << 30U;  // of the files, before they are compressed
};

// Writes the files and folders, with all in them, as a .tar.gz that holds nothing of when and by
// whom: equal contents make equal archives, so that a digest finds them again. Of a file's mode
// only whether it may be executed is kept. A symbolic link becomes what it leads to, which must lie
// in the folder that was named. kInvalidArgument: a name twice, a link that leads outside or in a
// circle, a socket or device; kResourceExhausted: a limit; each error names the path.
base::Result<> write_archive(const std::vector<ArchiveSource>& sources, const ArchiveLimits& limits,
                             const net::ByteSink& sink);

}  // namespace gangrun::hadoop
