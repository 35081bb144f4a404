#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/access.h"

// A machine for tests: its files are those of a map, and JSON is all the YAML that it reads.
namespace gangrun::kubernetes {

inline Surroundings test_surroundings(std::map<std::string, std::string> files,
                                      std::map<std::string, std::string> environment = {}) {
  Surroundings surroundings;
  surroundings.environment = std::move(environment);
  surroundings.service_account_folder = "/account";
  surroundings.read = [files = std::move(files)](const std::string& path) {
    const auto found = files.find(path);
    if (found == files.end()) return base::Result<std::string>(base::not_found("no file " + path));
    return base::Result<std::string>(found->second);
  };
  surroundings.parse_yaml = [](std::string_view text) {
    if (text.empty()) return base::Result<base::Json>(base::Json());
    return base::parse_json(text, std::size_t{1} << 20U);
  };
  return surroundings;
}

}  // namespace gangrun::kubernetes
