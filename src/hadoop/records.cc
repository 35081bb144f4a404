#include "hadoop/records.h"

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::hadoop {

namespace {

// The upper bits of a container's number: how often the ResourceManager was restarted.
constexpr unsigned kNumberBits = 40;
constexpr std::int64_t kNumberMask = (std::int64_t{1} << kNumberBits) - 1;

base::Error no_id(std::string_view text, std::string_view example) {
  return base::invalid_argument(
      base::format("\"{}\" is not an id such as {}", base::shorten(text, 100), example));
}

// All of `parts` from `first` on as numbers that are not negative.
std::optional<std::vector<std::int64_t>> numbers_of(const std::vector<std::string>& parts,
                                                    std::size_t first) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = first; i < parts.size(); ++i) {
    const std::optional<std::int64_t> number = base::parse_integer(parts[i]);
    if (!number || *number < 0 || parts[i].starts_with('-')) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

bool fits_32_bits(std::int64_t number) { return number <= 0x7fffffff; }

}  // namespace

std::string to_string(const ApplicationId& id) {
  return base::format("application_{}_{:04}", id.cluster_timestamp, id.id);
}

std::string to_string(const AttemptId& id) {
  return base::format("appattempt_{}_{:04}_{:06}", id.application.cluster_timestamp,
                      id.application.id, id.attempt);
}

std::string to_string(const ContainerId& id) {
  const std::int64_t epoch = id.id >> kNumberBits;
  const ApplicationId& application = id.attempt.application;
  return base::format(
      "container_{}{}_{:04}_{:02}_{:06}", epoch > 0 ? base::format("e{:02}_", epoch) : "",
      application.cluster_timestamp, application.id, id.attempt.attempt, id.id & kNumberMask);
}

base::Result<ApplicationId> application_id_from(std::string_view text) {
  const std::vector<std::string> parts = base::split(text, '_');
  const auto numbers = numbers_of(parts, 1);
  if (parts[0] != "application" || !numbers || numbers->size() != 2 ||
      !fits_32_bits(numbers->at(1))) {
    return no_id(text, "application_1700000000000_0001");
  }
  return ApplicationId{.cluster_timestamp = numbers->at(0),
                       .id = static_cast<std::int32_t>(numbers->at(1))};
}

base::Result<ContainerId> container_id_from(std::string_view text) {
  std::vector<std::string> parts = base::split(text, '_');
  std::int64_t epoch = 0;
  bool good = parts[0] == "container";
  if (good && parts.size() == 6 && parts[1].starts_with('e')) {
    const auto number = numbers_of({parts[1].substr(1)}, 0);
    good = number && number->at(0) < (std::int64_t{1} << 23U);
    if (good) epoch = number->at(0);
    parts.erase(parts.begin() + 1);
  }
  const auto numbers = numbers_of(parts, 1);
  if (!good || !numbers || numbers->size() != 4 || !fits_32_bits(numbers->at(1)) ||
      !fits_32_bits(numbers->at(2)) || numbers->at(3) > kNumberMask) {
    return no_id(text, "container_1700000000000_0001_01_000002");
  }
  return ContainerId{.attempt = {.application = {.cluster_timestamp = numbers->at(0),
                                                 .id = static_cast<std::int32_t>(numbers->at(1))},
                                 .attempt = static_cast<std::int32_t>(numbers->at(2))},
                     .id = epoch << kNumberBits | numbers->at(3)};
}

bool is_final(ApplicationState state) {
  return state == ApplicationState::kFinished || state == ApplicationState::kFailed ||
         state == ApplicationState::kKilled;
}

}  // namespace gangrun::hadoop
