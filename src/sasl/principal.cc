#include "sasl/principal.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::sasl {

namespace {

constexpr std::size_t kShownBytes = 100;

base::Error no_principal(std::string_view text, std::string_view why) {
  return base::invalid_argument(base::format(
      "\"{}\" is not a Kerberos principal: {}; expected: name@REALM or name/host@REALM",
      base::shorten(text, kShownBytes), why));
}

bool is_control(char character) {
  return static_cast<unsigned char>(character) < 0x20 || character == 0x7f;
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char character : text) {
    if (character == '/' || character == '@' || character == '\\') out += '\\';
    out += character;
  }
}

}  // namespace

base::Result<Principal> parse_principal(std::string_view text) {
  if (text.size() > kMaxPrincipalBytes) return no_principal(text, "it is too long");
  if (!base::is_valid_utf8(text))
    return base::invalid_argument("a Kerberos principal is not valid UTF-8");
  if (std::ranges::any_of(text, is_control)) {
    return base::invalid_argument("a Kerberos principal has a control character");
  }
  Principal out{.components = {""}};
  bool in_realm = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& part = in_realm ? out.realm : out.components.back();
    if (text[i] == '\\') {
      if (++i == text.size()) return no_principal(text, "a backslash is its last letter");
      // \n, \t, \b and \0 stand for control characters, which no name here has.
      if (text[i] == 'n' || text[i] == 't' || text[i] == 'b' || text[i] == '0') {
        return no_principal(text, "it has a control character");
      }
      part += text[i];
    } else if (text[i] == '@') {
      if (in_realm) return no_principal(text, "it has two realms");
      in_realm = true;
    } else if (text[i] == '/' && !in_realm) {
      out.components.emplace_back();
    } else {
      part += text[i];
    }
  }
  if (std::ranges::any_of(out.components, &std::string::empty)) {
    return no_principal(text, "a part of the name is empty");
  }
  if (in_realm && out.realm.empty()) return no_principal(text, "the realm is empty");
  // As it is written again: what a realm need not escape, we do.
  if (to_string(out).size() > kMaxPrincipalBytes) return no_principal(text, "it is too long");
  return out;
}

std::string to_string(const Principal& principal) {
  std::string out;
  for (const std::string& component : principal.components) {
    if (!out.empty()) out += '/';
    append_escaped(out, component);
  }
  if (!principal.realm.empty()) {
    out += '@';
    append_escaped(out, principal.realm);
  }
  return out;
}

Principal with_host(const Principal& pattern, std::string_view host) {
  Principal out = pattern;
  // Hadoop's own replacement (SecurityUtil) looks at the second component only.
  if (out.components.size() == 2 && out.components[1] == base::kHostPattern) {
    out.components[1] = base::in_small_letters(host);
  }
  return out;
}

const std::string& short_name(const Principal& principal) { return principal.components.front(); }

bool fits_pattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  // The position at which to go on when a star has to take one letter more.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      taken = at;
    } else if (in_pattern < pattern.size() &&
               (pattern[in_pattern] == '?' || pattern[in_pattern] == text[at])) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace gangrun::sasl
