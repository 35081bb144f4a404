#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/variable.h"

// For tests of what documents say.
namespace gangrun::base {

// __FILE__ may be relative to the folder of the build, where this program is.
inline std::string in_checkout(const std::string& path) {
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto room = (build / __FILE__).parent_path();
  return (room / "../.." / path).string();
}

inline std::string read_project_file(const std::string& path) {
  auto text = read_file(in_checkout(path), 1 << 20);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.value_or("");
}

// `text` is what the tables make of the file.
inline void expect_made(const std::string& path, const std::string& text) {
  if (!variable("GANGRUN_UPDATE_GOLDEN").empty()) {
    std::ofstream(in_checkout(path), std::ios::binary) << text;
  }
  EXPECT_TRUE(read_project_file(path) == text)
      << path << " is not what the tables make; GANGRUN_UPDATE_GOLDEN=1 writes it again";
}

// `text` with `table` where it has the table of this name.
inline std::string with_table(std::string text, const std::string& name, const std::string& table) {
  const std::string begin = format("<!-- table: {} -->\n", name);
  const std::size_t at = text.find(begin);
  const std::size_t from = at + begin.size();
  const std::size_t to = text.find("<!-- end -->", from);
  if (at == std::string::npos || to == std::string::npos) {
    ADD_FAILURE() << "no place for the table: " << name;
    return text;
  }
  return text.replace(from, to - from, "\n" + table + "\n");
}

}  // namespace gangrun::base
