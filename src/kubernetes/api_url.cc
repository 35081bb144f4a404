#include "kubernetes/api_url.h"

#include "base/format.h"
#include "net/http.h"

namespace gangrun::kubernetes {

std::string api_target(std::string_view prefix, std::string_view path, const Query& query) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  std::string out = std::string(prefix) + net::make_target(path, {});
  char separator = '?';
  for (const auto& [name, value] : query) {
    out += separator + net::percent_encode(name) + '=' + net::percent_encode(value);
    separator = '&';
  }
  return out;
}

std::string pod_path(std::string_view name_space, std::string_view pod, std::string_view part) {
  return base::format("/api/v1/namespaces/{}/pods/{}/{}", name_space, pod, part);
}

}  // namespace gangrun::kubernetes
