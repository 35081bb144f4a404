#include "kubernetes/api_url.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
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

bool is_dns_label(std::string_view text) {
  const auto fits = [](char c) { return base::is_small_letter_or_digit(c) || c == '-'; };
  return !text.empty() && text.size() <= kMaxLabelBytes && std::ranges::all_of(text, fits) &&
         text.front() != '-' && text.back() != '-';
}

std::string pods_path(std::string_view name_space) {
  return base::format("/api/v1/namespaces/{}/pods", name_space);
}

std::string pod_path(std::string_view name_space, std::string_view pod, std::string_view part) {
  return base::format("{}/{}/{}", pods_path(name_space), pod, part);
}

}  // namespace gangrun::kubernetes
