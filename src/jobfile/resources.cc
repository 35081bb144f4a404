#include "jobfile/resources.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"

namespace gangrun::jobfile {

namespace {

// The names of YARN for resources that have keys of their own in a job file.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOwnKeys = {
    {{"memory", "memory"},
     {"memory-mb", "memory"},
     {"vcores", "vcores"},
     {"cpu-vcores", "vcores"},
     {"gpu", "gpus"},
     {"gpus", "gpus"},
     {"yarn.io/gpu", "gpus"}}};

bool is_host_name(std::string_view text) {
  const std::vector<std::string> parts = base::split(text, '.');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && base::is_letter_or_digit(part.front()) &&
           base::is_letter_or_digit(part.back()) && base::is_of_letters_digits_and(part, "-");
  });
}

bool is_resource_name(std::string_view name) {
  if (name.size() > job::kMaxResourceNameBytes) return false;
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) {
    if (!is_host_name(name.substr(0, slash))) return false;
    name.remove_prefix(slash + 1);
  }
  return !name.empty() && base::is_letter(name.front()) &&
         base::is_of_letters_digits_and(name, "._-");
}

}  // namespace

base::Result<> check_resource_name(std::string_view name) {
  const auto own = std::find_if(kOwnKeys.begin(), kOwnKeys.end(),
                                [&](const auto& row) { return row.first == name; });
  if (own != kOwnKeys.end()) {
    return base::invalid_argument(
        base::format("{} has a key of its own: {}", job::in_quotes(name), own->second));
  }
  if (is_resource_name(name)) return {};
  return base::invalid_argument(
      base::format("{} is not the name of a resource; allowed: a letter, then letters, digits, "
                   "'.', '_' or '-', for example fpga or yarn.io/fpga",
                   job::in_quotes(name)));
}

base::Result<std::int64_t> parse_resource_amount(std::string_view text) {
  const auto value = base::parse_integer(base::trim(text));
  if (!value || *value < 0 || *value > job::kMaxResourceAmount) {
    return base::invalid_argument(
        base::format("{} is not allowed; allowed: a whole number from 0 to {}",
                     job::in_quotes(text), job::kMaxResourceAmount));
  }
  return *value;
}

}  // namespace gangrun::jobfile
