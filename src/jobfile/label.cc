#include "jobfile/label.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "base/letters.h"
#include "job/limits.h"
#include "job/units.h"

namespace gangrun::jobfile {

namespace {

bool is_label(std::string_view text) {
  return text.size() <= job::kMaxLabelBytes && base::is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return base::is_letter_or_digit(c) || c == '_' || c == '-'; });
}

}  // namespace

Found check_label(const std::optional<std::string>& label, const std::string& path) {
  if (!label || label->empty() || is_label(*label)) return std::nullopt;
  return Problem{path, base::format("{} is not a node label; allowed: a letter or digit, then at "
                                    "most {} letters, digits, '_' or '-'; nothing for the nodes "
                                    "without one",
                                    job::in_quotes(*label), job::kMaxLabelBytes - 1)};
}

}  // namespace gangrun::jobfile
