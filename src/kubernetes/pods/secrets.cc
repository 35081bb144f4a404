#include "kubernetes/pods/secrets.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "kubernetes/pods/names.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

// Wherever a name has it.
constexpr std::string_view kAnywhere[] = {
    "pass", "pwd",     "secret",    "cred",    "bearer", "jwt",        "netrc",    "cookie",
    "hmac", "private", "signature", "webhook", "auth",   "session_id", "sessionid"};
// Words that have one of these and mean something else; without them the rest of the name counts.
constexpr std::string_view kHarmless[] = {"authority", "authored",    "authors", "author",
                                          "passes",    "passthrough", "passive", "bypass",
                                          "compass",   "monkey",      "curl"};
// A word of the name, or its end: "openaikey". Addresses of databases and services have passwords
// in them.
constexpr std::string_view kEnds[] = {"key",  "keys", "token", "tokens", "url",
                                      "urls", "uri",  "uris",  "dsn",    "pw"};
// A whole word of the name.
constexpr std::string_view kWords[] = {"pat", "sas", "otp", "pin", "conn", "salt"};
constexpr std::string_view kBeginnings[] = {"connection"};

// "https://user:password@host".
bool has_login(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

// "authorization" has "author" in it, and stays.
void take_out_harmless(std::string& name) {
  for (const std::string_view word : kHarmless) {
    std::size_t at = 0;
    while ((at = name.find(word, at)) != std::string::npos) {
      const std::string_view rest = std::string_view(name).substr(at + word.size());
      if (!rest.empty() && base::is_letter(rest.front())) {
        at += word.size();
      } else {
        name.erase(at, word.size());
      }
    }
  }
}

std::string entry_of(const std::string& type, const std::string& name) {
  return base::format("{}.{}", type, name);
}

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
  if (has_login(value)) return true;
  std::string small = base::in_small_letters(name);
  std::ranges::replace_if(
      small, [](char c) { return !base::is_letter_or_digit(c); }, '_');
  // The shell's own, folders.
  if (small == "pwd" || small == "oldpwd") return false;
  take_out_harmless(small);
  const auto is_in = [&](std::string_view part) { return small.find(part) != std::string::npos; };
  if (std::ranges::any_of(kAnywhere, is_in)) return true;
  return std::ranges::any_of(base::split(small, '_'), [](const std::string& word) {
    return std::ranges::find(kWords, word) != std::end(kWords) ||
           std::ranges::any_of(kEnds, [&](auto end) { return word.ends_with(end); }) ||
           std::ranges::any_of(kBeginnings, [&](auto begin) { return word.starts_with(begin); });
  });
}

std::optional<std::string> secret_key(const job::JobSpec& spec, const job::TaskSpec& task,
                                      const std::string& name) {
  if (const auto own = task.environment.find(name); own != task.environment.end()) {
    return looks_secret(name, own->second) ? std::optional(entry_of(task.type, name))
                                           : std::nullopt;
  }
  const auto all = spec.environment.find(name);
  return all != spec.environment.end() && looks_secret(name, all->second) ? std::optional(name)
                                                                          : std::nullopt;
}

std::optional<Json> secret_object(const ManifestInput& input, const Owner& owner) {
  Json data = Json::object();
  for (const auto& [name, value] : input.spec.environment) {
    if (looks_secret(name, value)) data[name] = net::to_base64(value);
  }
  for (const job::TaskSpec& task : input.spec.tasks) {
    for (const auto& [name, value] : task.environment) {
      if (looks_secret(name, value)) data[entry_of(task.type, name)] = net::to_base64(value);
    }
  }
  if (data.empty()) return std::nullopt;
  Json secret = object_of(input, "v1", "Secret", secret_name(input), owner);
  secret["type"] = "Opaque";
  secret["immutable"] = true;
  secret["data"] = std::move(data);
  return secret;
}

}  // namespace gangrun::kubernetes::pods
