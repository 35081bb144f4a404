#pragma once

#include <dirent.h>

#include <memory>
#include <string>

namespace gangrun::base {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The stream of a folder's entries; null where it cannot be opened, with errno.
using Folder = std::unique_ptr<DIR, CloseFolder>;

inline Folder open_folder(const std::string& path) { return Folder(::opendir(path.c_str())); }

}  // namespace gangrun::base
