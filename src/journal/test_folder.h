#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "base/test_folder.h"

// For the tests of this room, and of those above it.
namespace gangrun::journal {

using base::TestFolder;

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

inline void write_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace gangrun::journal
