#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jobfile/shipped_files.h"

namespace gangrun::yarn {

// From this size on a file or folder is brought by itself.
inline constexpr std::uint64_t kOwnBundleBytes = std::uint64_t{4} << 20U;
// Nodes fetch a user's files one after the other, so there are few.
inline constexpr std::size_t kMaxOwnBundles = 16;

// Files that are brought together, and so are brought again when one of them has changed.
struct Bundles {
  std::vector<jobfile::LocalFile> common;
  std::vector<jobfile::LocalFile> own;  // each by itself, under a name that any file system takes
};

// Large files and folders alone, the first of them if there are many; all others together.
// `size_of` counts the bytes below a path, and may stop counting at kOwnBundleBytes.
Bundles bundles_of(const std::vector<jobfile::LocalFile>& files,
                   const std::function<std::uint64_t(const std::string& path)>& size_of);

// The bytes of a file, or of all files in a folder, as far as they can be looked at; not much more
// than `enough` are counted.
std::uint64_t bytes_below(const std::string& path, std::uint64_t enough);

}  // namespace gangrun::yarn
