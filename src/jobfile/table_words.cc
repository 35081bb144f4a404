#include "jobfile/table_words.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::jobfile {

namespace {

// The last line that says something; empty: there is none.
std::string last_said(const std::vector<std::string>& lines) {
  const auto said = std::find_if(lines.rbegin(), lines.rend(),
                                 [](const std::string& line) { return !base::trim(line).empty(); });
  return said == lines.rend() ? std::string() : std::string(base::trim(*said));
}

}  // namespace

std::string table_words(const job::Cause& cause) {
  const job::Why& why = cause.why;
  const bool is_own = cause.task && cause.told.empty() && why.told.empty() && why.detail.empty() &&
                      why.reason == job::Reason::kExitStatus;
  if (!is_own) return to_words(cause);
  std::string said = last_said(base::split(cause.traceback, '\n'));
  if (said.empty() && !cause.has_both_streams) said = last_said(cause.last_lines);
  if (said.empty()) return to_words(cause);
  return base::format("{}: {} (status {})", to_string(*cause.task), said, why.code);
}

}  // namespace gangrun::jobfile
