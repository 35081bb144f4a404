#include "jobfile/hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::jobfile {

namespace {

constexpr std::string_view kForm =
    "a host is written NAME or NAME:SLOTS, an IPv6 address with slots [ADDRESS]:SLOTS";
constexpr std::size_t kMaxHostNameBytes = 253;  // of DNS
constexpr std::size_t kMaxPartBytes = 63;       // between two dots

base::Error wrong(const std::string& text, std::string_view what) {
  return base::invalid_argument(base::format("{} {}; {}", job::in_quotes(text), what, kForm));
}

// The reason why `name` is no name of DNS, where '_' is allowed too; "" if it is one.
std::string wrong_in(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kMaxHostNameBytes) return base::format("it has {} characters", name.size());
  if (!base::is_letter_or_digit(name.front())) return "it begins with neither a letter nor a digit";
  const auto is_strange = [](char c) {
    return !base::is_letter_or_digit(c) && c != '.' && c != '_' && c != '-';
  };
  if (const auto strange = std::ranges::find_if(name, is_strange); strange != name.end()) {
    return base::format("it has {}", job::in_quotes(std::string_view(&*strange, 1)));
  }
  if (name.ends_with('.')) name.remove_suffix(1);  // of a name in full
  for (const std::string& part : base::split(name, '.')) {
    if (part.empty()) return "it has nothing between two dots";
    if (part.size() > kMaxPartBytes) {
      return base::format("its part {} has {} characters", job::in_quotes(part), part.size());
    }
  }
  return "";
}

// "%eth0" names an interface of this host, and says nothing to the others.
bool has_scope(const std::string& text) {
  const std::size_t percent = text.find('%');
  return percent != std::string::npos && is_ipv6_address(text.substr(0, percent));
}

base::Error no_ipv6_address(const std::string& text, const std::string& address,
                            std::string_view otherwise) {
  if (!has_scope(address)) return wrong(text, otherwise);
  return base::invalid_argument(
      base::format("{} has a scope, {}, which is an interface of this host; allowed: a name, or an "
                   "IPv6 address that means the same on all hosts",
                   job::in_quotes(text), job::in_quotes(address.substr(address.find('%')))));
}

// `text` without the slots at its end, which are what follows ":" in `slots`.
base::Result<std::string> take_name(const std::string& text, std::string_view& slots) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) return wrong(text, "has no \"]\"");
    const std::string address = text.substr(1, close - 1);
    if (!is_ipv6_address(address)) {
      return no_ipv6_address(text, address, "has no IPv6 address in its brackets");
    }
    slots.remove_prefix(close + 1);
    if (slots.empty() || slots.starts_with(':')) return address;
    return wrong(text, "goes on behind its brackets");
  }
  const std::size_t colon = text.find(':');
  if (colon == 0 && text.find(':', 1) == std::string::npos) return wrong(text, "has no name");
  if (colon != text.rfind(':')) {
    if (!is_ipv6_address(text)) return no_ipv6_address(text, text, "is no IPv6 address");
    slots = {};
    return text;
  }
  slots.remove_prefix(std::min(colon, slots.size()));
  return text.substr(0, colon);
}

}  // namespace

bool is_ipv6_address(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1 && text.find('\0') == std::string::npos;
}

base::Result<> check_host_name(const std::string& name) {
  if (is_ipv6_address(name)) return {};
  const std::string what = wrong_in(name);
  if (what.empty()) return {};
  return base::invalid_argument(base::format(
      "{} is not the name of a host: {}; allowed: a letter or digit, then letters, digits, '_', "
      "'-' or '.', at most {} in all and {} between dots, or an IPv6 address",
      job::in_quotes(name), what, kMaxHostNameBytes, kMaxPartBytes));
}

std::string to_string(const job::Host& host) {
  if (!host.slots) return host.name;
  const bool is_ipv6 = host.name.find(':') != std::string::npos;
  return is_ipv6 ? base::format("[{}]:{}", host.name, *host.slots)
                 : base::format("{}:{}", host.name, *host.slots);
}

base::Result<std::vector<job::Host>> hosts_from(const std::vector<std::string>& texts) {
  if (texts.empty()) {
    return base::invalid_argument("no host is named; allowed: one or more of NAME or NAME:SLOTS");
  }
  std::vector<job::Host> hosts;
  for (const std::string& text : texts) {
    job::Host host;
    std::string_view slots = text;
    GANGRUN_ASSIGN(host.name, take_name(text, slots));
    if (host.name.empty()) return wrong(text, "has no name");
    if (!slots.empty()) {
      const auto count = job::parse_count(slots.substr(1), 1, job::kMaxTasks);
      if (!count.ok()) {
        return base::invalid_argument(
            base::format("{}: slots: {}", job::in_quotes(text), count.error().message));
      }
      host.slots = *count;
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace gangrun::jobfile
