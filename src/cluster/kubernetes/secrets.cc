#include "cluster/kubernetes/secrets.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "cluster/kubernetes/names.h"
#include "net/digests.h"

namespace gangrun::cluster {
namespace {

using base::Json;

// Wherever a name has it.
constexpr std::array<std::string_view, 11> kAnywhere = {"pass",    "pwd",       "secret", "cred",
                                                        "bearer",  "jwt",       "netrc",  "cookie",
                                                        "private", "signature", "webhook"};
// A word of the name, or its end: "openaikey".
constexpr std::array<std::string_view, 4> kEnds = {"key", "keys", "token", "tokens"};
// A whole word of the name. Addresses of databases and services have passwords in them.
constexpr std::array<std::string_view, 11> kWords = {"pat", "sas", "otp",  "pin",  "url",  "urls",
                                                     "uri", "dsn", "conn", "auth", "oauth"};
constexpr std::array<std::string_view, 3> kBeginnings = {"authoriz", "authentic", "connection"};

// "https://user:password@host".
bool has_login(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
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
  const auto is_in = [&](std::string_view part) { return small.find(part) != std::string::npos; };
  if (std::ranges::any_of(kAnywhere, is_in)) return true;
  return std::ranges::any_of(base::split(small, '_'), [](const std::string& word) {
    return std::ranges::find(kWords, word) != kWords.end() ||
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
  return Json({{"apiVersion", "v1"},
               {"kind", "Secret"},
               {"metadata", metadata_of(input, secret_name(input), &owner)},
               {"type", "Opaque"},
               {"immutable", true},
               {"data", std::move(data)}});
}

}  // namespace gangrun::cluster
