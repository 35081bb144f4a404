#include "hadoop/server_principal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "hadoop/configuration.h"

namespace gangrun::hadoop {

namespace {

using sasl::Principal;

constexpr std::size_t kShownBytes = 200;

// A server's principal has the whole name of its host; the configuration may have a short one, an
// alias or a number.
bool is_same_host(const std::string& said, const std::string& known, const Addresses& addresses) {
  if (base::same_without_case(said, known)) return true;
  const std::vector<std::string> ours = addresses(known);
  return std::ranges::find_first_of(ours, addresses(said)) != ours.end();
}

// A realm that stands in a pattern; empty: any.
std::string realm_of_pattern(std::string_view pattern) {
  const std::size_t at = pattern.rfind('@');
  if (at == std::string_view::npos) return {};
  const std::string_view realm = pattern.substr(at + 1);
  return realm.find_first_of("*?") == std::string_view::npos ? std::string(realm) : std::string();
}

// Without a realm the KDC that knows the host's decides.
std::optional<Principal> allowed_by(std::string_view pattern, Principal said) {
  const std::string without_realm = to_string(said);
  said.realm = realm_of_pattern(pattern);
  const std::string_view names = pattern.substr(0, pattern.rfind('@'));
  if (sasl::fits_pattern(names, without_realm) || pattern == "*") return said;
  return std::nullopt;
}

}  // namespace

base::Result<Principal> server_principal(const Configuration& configuration, std::string_view key,
                                         const SaslOffer& offer, const std::string& host,
                                         const Addresses& addresses) {
  Principal said{{offer.protocol.value_or(""), offer.server_id.value_or("")}, ""};
  const std::string shown = base::shorten(to_string(said), kShownBytes);
  if (said.components[0].empty() || said.components[1].empty()) {
    return base::Error{base::Code::kUnauthenticated, "it does not say which principal it has"};
  }
  const std::string pattern_key = base::format("{}.pattern", key);
  if (const auto pattern = configuration.get(pattern_key); pattern && !pattern->empty()) {
    if (auto allowed = allowed_by(*pattern, said)) return *std::move(allowed);
    return base::Error{base::Code::kUnauthenticated,
                       base::format("it says that it is {}, which {} ({}) does not allow", shown,
                                    pattern_key, *pattern)};
  }
  const std::string text = configuration.get_or(key, "");
  if (text.empty()) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("{} is not set, so nobody can tell it from another server: take "
                     "the cluster's own configuration",
                     key)};
  }
  const auto parsed = sasl::parse_principal(text);
  if (!parsed.ok()) return configuration.error(key, "expected service/_HOST@REALM");
  Principal expected = *parsed;
  const bool any_host = expected.components.size() == 2 &&
                        expected.components[1] == base::kHostPattern &&
                        is_same_host(said.components[1], host, addresses);
  if (any_host) expected = with_host(expected, said.components[1]);
  if (expected.components[0] == said.components[0] && expected.components.size() == 2 &&
      base::same_without_case(expected.components[1], said.components[1])) {
    return expected;
  }
  return base::Error{
      base::Code::kUnauthenticated,
      base::format("it says that it is {}, where {} ({}) is expected on {}; {} can allow others",
                   shown, key, text, host, pattern_key)};
}

}  // namespace gangrun::hadoop
