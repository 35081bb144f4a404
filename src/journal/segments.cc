#include "journal/segments.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::journal {

namespace {

constexpr std::size_t kDigits = 6;
constexpr std::string_view kEnding = ".jsonl";

std::optional<int> number_in(const std::string& name) {
  if (name.size() != kDigits + kEnding.size() || !name.ends_with(kEnding)) return std::nullopt;
  const std::string digits = name.substr(0, kDigits);
  if (!std::ranges::all_of(digits, base::is_digit)) return std::nullopt;
  const auto number = base::parse_integer(digits);
  if (!number || *number < 1) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::string segment_path(const std::string& folder, int number) {
  return base::format("{}/{:06}{}", folder, number, kEnding);
}

base::Result<std::vector<int>> segment_numbers(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  std::vector<int> numbers;
  while (!error && entries != std::filesystem::directory_iterator()) {
    const auto number = number_in(entries->path().filename().string());
    if (number) numbers.push_back(*number);
    if (numbers.size() > static_cast<std::size_t>(kMaxSegments)) {
      return base::Error{base::Code::kResourceExhausted,
                         base::format("{} has more than {} segments", folder, kMaxSegments)};
    }
    entries.increment(error);
  }
  if (error) return base::from_errno(error.value(), base::format("cannot read {}", folder));
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == static_cast<int>(i) + 1) continue;
    return base::Error{
        base::Code::kDataLoss,
        base::format("{} is missing", segment_path(folder, static_cast<int>(i) + 1))};
  }
  return numbers;
}

}  // namespace gangrun::journal
