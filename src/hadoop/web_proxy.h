#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gangrun::hadoop {

class Configuration;

// YARN's proxy before the pages of applications: on servers of its own, else in the
// ResourceManagers.
struct WebProxy {
  std::vector<std::string> hosts;
  std::string url;  // of the first one: "http://rm:8088"
};

base::Result<WebProxy> web_proxy(const Configuration& configuration);

}  // namespace gangrun::hadoop
