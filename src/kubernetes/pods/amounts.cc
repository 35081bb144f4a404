#include "kubernetes/pods/amounts.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/format.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

constexpr double kKibi = 1024;
constexpr double kKilo = 1000;
constexpr std::size_t kMaxAmountBytes = 40;

constexpr std::array<std::pair<std::string_view, double>, 15> kSuffixes = {{
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"", 1},
    {"k", kKilo},
    {"M", kKilo* kKilo},
    {"G", kKilo* kKilo* kKilo},
    {"T", kKilo* kKilo* kKilo* kKilo},
    {"P", kKilo* kKilo* kKilo* kKilo* kKilo},
    {"Ki", kKibi},
    {"Mi", kKibi* kKibi},
    {"Gi", kKibi* kKibi* kKibi},
    {"Ti", kKibi* kKibi* kKibi* kKibi},
    {"Pi", kKibi* kKibi* kKibi* kKibi* kKibi},
    {"Ei", kKibi* kKibi* kKibi* kKibi* kKibi* kKibi},
}};

constexpr const char* kOwnVcores = "10m";
constexpr const char* kMostVcores = "1";
constexpr const char* kOwnMemory = "32Mi";
constexpr const char* kMostMemory = "256Mi";
constexpr const char* kRelaysMemory = "64Mi";

bool has(std::string_view message, std::string_view words) {
  return message.find(words) != std::string_view::npos;
}

// The limit where the task has one: as high as that, from `least` to `most`.
void limit_as(const Json& of_task, const char* resource, const std::string& least,
              const std::string& most, Json& resources) {
  const Json& limit = value_at(of_task, {"limits", resource});
  if (limit.is_null()) return;
  const std::string amount = limit.is_string() ? limit.get<std::string>() : base::dump_json(limit);
  const bool is_enough = smaller_amount(least, amount) == least;
  resources["limits"][resource] = is_enough ? smaller_amount(most, amount) : least;
}

}  // namespace

std::optional<double> amount_of(std::string_view text) {
  if (text.empty() || text.size() > kMaxAmountBytes) return std::nullopt;
  // It would take words, and numbers of base 16, too.
  if (text.find_first_of("0123456789") > 1 || has(text, "x") || has(text, "X")) return std::nullopt;
  const std::string ended(text);
  char* end = nullptr;
  const double number = std::strtod(ended.c_str(), &end);
  const std::string_view suffix = end;
  for (const auto& [name, factor] : kSuffixes) {
    if (suffix == name) return number * factor;
  }
  return std::nullopt;
}

std::string smaller_amount(const std::string& one, const std::string& other) {
  const auto first = amount_of(one);
  const auto second = amount_of(other);
  return first && second && *second < *first ? other : one;
}

Json helper_amounts(const Json& of_task) {
  Json resources = {{"requests", {{"cpu", kOwnVcores}, {"memory", kOwnMemory}}}};
  limit_as(of_task, "cpu", kOwnVcores, kMostVcores, resources);
  limit_as(of_task, "memory", kOwnMemory, kMostMemory, resources);
  return resources;
}

void put_relay_amounts(const job::Resources& own, Json& resources) {
  const bool has_limits = resources.contains("limits");
  const auto put = [&](const char* resource, const std::string& amount) {
    resources["requests"][resource] = amount;
    if (has_limits && resources["limits"].contains(resource)) {
      resources["limits"][resource] = amount;
    }
  };
  if (has_limits && resources["limits"].contains("memory")) {
    Json& limit = resources["limits"]["memory"];
    limit = smaller_amount(kRelaysMemory, limit.get<std::string>());
  }
  if (own.memory_mib > 0) put("memory", base::format("{}Mi", own.memory_mib));
  if (own.vcores > 0) put("cpu", base::format("{}", own.vcores));
}

AmountRefusal amount_refusal(std::string_view message) {
  if (has(message, "exceeded quota") || has(message, "failed quota")) return AmountRefusal::kQuota;
  const bool is_of_range = has(message, " usage per ") || has(message, " ratio per ");
  return is_of_range ? AmountRefusal::kRange : AmountRefusal::kNone;
}

std::string fields_for_amounts(std::string_view message, std::string_view section) {
  if (amount_refusal(message) == AmountRefusal::kNone) return {};
  return base::format("; {0}.memory and {0}.vcores say what it asks for", section);
}

}  // namespace gangrun::kubernetes::pods
