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

constexpr std::array<std::string_view, 7> kAnywhere = {
    "password", "passwd", "passphrase", "secret", "credential", "api_key", "access_key"};
constexpr std::array<std::string_view, 6> kLast = {"token", "key", "apikey", "pat", "pass", "pwd"};

std::string entry_of(const std::string& type, const std::string& name) {
  return base::format("{}.{}", type, name);
}

}  // namespace

bool looks_secret(std::string_view name) {
  std::string small = base::in_small_letters(name);
  std::ranges::replace_if(
      small, [](char c) { return !base::is_letter_or_digit(c); }, '_');
  const auto is_in = [&](std::string_view part) { return small.find(part) != std::string::npos; };
  // The shell's own, a folder.
  if (small == "pwd" || small == "oldpwd") return false;
  const std::string last = base::split(small, '_').back();
  return std::ranges::any_of(kAnywhere, is_in) || std::ranges::find(kLast, last) != kLast.end() ||
         last.ends_with("token");
}

std::optional<std::string> secret_key(const job::JobSpec& spec, const job::TaskSpec& task,
                                      const std::string& name) {
  if (!looks_secret(name)) return std::nullopt;
  if (task.environment.contains(name)) return entry_of(task.type, name);
  if (spec.environment.contains(name)) return name;
  return std::nullopt;
}

std::optional<Json> secret_object(const ManifestInput& input, const Owner& owner) {
  Json data = Json::object();
  for (const auto& [name, value] : input.spec.environment) {
    if (looks_secret(name)) data[name] = net::to_base64(value);
  }
  for (const job::TaskSpec& task : input.spec.tasks) {
    for (const auto& [name, value] : task.environment) {
      if (looks_secret(name)) data[entry_of(task.type, name)] = net::to_base64(value);
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
