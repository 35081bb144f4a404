#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gangrun::hadoop {

constexpr std::size_t kMaxSiteFileBytes = std::size_t{4} << 20U;
constexpr int kMaxIncludeDepth = 8;
constexpr int kMaxFilesOfAConfiguration = 64;

// One <property> of a site file.
struct Property {
  std::string name;
  std::string value = {};
  bool final = false;     // no later file may change it
  std::string file = {};  // as the error messages name it
  std::size_t line = 0;

  bool operator==(const Property&) const = default;
};

// The text of a file that another one includes, by the name that stands there; kNotFound where
// there is none.
using IncludeReader = std::function<base::Result<std::string>(const std::string& name)>;

// The properties of one of Hadoop's XML files in their order, those of included files among them.
// Errors name file and line.
base::Result<std::vector<Property>> parse_site_file(std::string_view text, const std::string& file,
                                                    const IncludeReader& include);

}  // namespace gangrun::hadoop
