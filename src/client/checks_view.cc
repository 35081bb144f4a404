#include "client/checks_view.h"

#include <string>
#include <utility>

#include "base/format.h"
#include "client/text.h"
#include "job/described.h"

namespace gangrun::client {

namespace {

using cluster::Check;
using cluster::Verdict;

Paint paint_of_verdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return Paint::kGreen;
    case Verdict::kWarning: return Paint::kYellow;
    case Verdict::kFailed: return Paint::kRed;
    case Verdict::kNotChecked: return Paint::kDim;
  }
  return Paint::kNone;
}

}  // namespace

Lines checks_lines(const std::vector<Check>& checks, std::string_view place, std::size_t width,
                   bool is_whole) {
  std::vector<std::vector<Span>> rows;
  rows.reserve(checks.size());
  for (const Check& check : checks) {
    rows.push_back({{check.name},
                    {std::string(to_string(check.verdict)), paint_of_verdict(check.verdict)},
                    {harmless_sentence(check.found)}});
  }
  Lines lines = table({{"WHAT"}, {"IS"}, {"BECAUSE"}}, rows, width);
  // Whole, as the table may have cut it.
  for (std::size_t row = 0; row < checks.size(); ++row) {
    const Check& check = checks[row];
    const bool is_cut = !lines[row + 1].text().ends_with(harmless_sentence(check.found));
    if (check.to_do.empty() && !(is_cut && check.verdict == Verdict::kFailed)) continue;
    lines.emplace_back("");
    lines.emplace_back(base::format("{}: {}", check.name, harmless_sentence(check.found)),
                       paint_of_verdict(check.verdict));
    if (check.to_do.empty()) continue;
    lines.emplace_back(base::format("  to do: {}", harmless_sentence(check.to_do)));
  }
  if (lines.size() > checks.size() + 1) lines.emplace_back("");
  if (cluster::any_failed(checks)) {
    lines.emplace_back(
        base::format("no job can run on {} until the failed checks are fixed", place), Paint::kRed);
  } else if (!is_whole) {
    lines.emplace_back(
        base::format("whether jobs can run on {} is not known: the checks were interrupted", place),
        Paint::kYellow);
  } else {
    lines.emplace_back(base::format("jobs can run on {}", place), Paint::kGreen);
  }
  return lines;
}

base::Json checks_json(const std::vector<Check>& checks, bool is_whole) {
  base::Json can_run = !cluster::any_failed(checks);
  if (can_run && !is_whole) can_run = nullptr;
  return {{"can_run_jobs", std::move(can_run)},
          {"checks", base::JsonOf<std::vector<Check>>::write(checks)}};
}

}  // namespace gangrun::client
