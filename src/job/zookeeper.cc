#include "job/zookeeper.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/limits.h"
#include "job/units.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxHostBytes = 255;
constexpr std::size_t kMaxRootBytes = 1024;

// "host", "host:2181", "[fd00::5]:2181".
bool is_host(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view name = text;
  if (text.starts_with('[') ? colon != std::string_view::npos && text[colon - 1] == ']'
                            : colon != std::string_view::npos) {
    name = text.substr(0, colon);
    if (!parse_count(text.substr(colon + 1), 1, 65535).ok()) return false;
  }
  const bool in_brackets = name.starts_with('[') && name.ends_with(']');
  if (in_brackets) name = name.substr(1, name.size() - 2);
  return !name.empty() && name.size() <= kMaxHostBytes &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return base::is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' ||
                  (in_brackets && c == ':');
         });
}

// ZooKeeper's own rules for paths, and ASCII.
bool is_root(std::string_view text) {
  if (!text.starts_with('/') || text.size() > kMaxRootBytes) return false;
  if (text == "/") return true;
  const auto parts = base::split(text.substr(1), '/');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  });
}

}  // namespace

base::Result<bool> readers_from(std::string_view text) {
  if (text == "all") return true;
  if (text == "job") return false;
  return not_one_of(text, "who may read", {"all", "job"});
}

Found check_zookeeper(const ZooKeeper& zookeeper) {
  if (zookeeper.hosts.size() > kMaxZooKeeperHosts) {
    return Problem{"zookeeper.hosts", base::format("{} hosts are more than the limit of {}",
                                                   zookeeper.hosts.size(), kMaxZooKeeperHosts)};
  }
  std::set<std::string> seen;
  for (const std::string& host : zookeeper.hosts) {
    if (!is_host(host)) {
      return Problem{
          "zookeeper.hosts",
          base::format("{} is not a host; allowed: HOST or HOST:PORT, an IPv6 address in "
                       "brackets",
                       in_quotes(host))};
    }
    if (!seen.insert(host).second) {
      return Problem{"zookeeper.hosts", base::format("{} is named twice", in_quotes(host))};
    }
  }
  if (zookeeper.root.empty() || is_root(zookeeper.root)) return std::nullopt;
  return Problem{"zookeeper.root",
                 base::format("{} is not a path in ZooKeeper; allowed: /NAME or /NAME/NAME, at "
                              "most {} bytes",
                              in_quotes(zookeeper.root), kMaxRootBytes)};
}

}  // namespace gangrun::job
