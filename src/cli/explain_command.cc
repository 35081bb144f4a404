#include <algorithm>
#include <memory>

#include "base/described_json.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/explain.h"

namespace gangrun::cli {

namespace {

struct ExplainOptions {
  std::string reason;
  bool json = false;
};

client::ExitStatus list_reasons(bool json, client::Context& context) {
  const auto sections = explanations_in(kTroubleshooting);
  if (json) {
    const auto all = base::JsonOf<std::vector<Explanation>>::write(sections);
    context.console.out(base::dump_json(all) + "\n");
    return client::ExitStatus::kSuccess;
  }
  std::size_t width = 0;
  for (const Explanation& section : sections) {
    for (const std::string& reason : section.reasons) width = std::max(width, reason.size());
  }
  for (const Explanation& section : sections) {
    for (const std::string& reason : section.reasons) {
      context.console.out(base::format("{:<{}}  {}\n", reason, width, section.title));
    }
  }
  return client::ExitStatus::kSuccess;
}

base::Result<client::ExitStatus> explain(const ExplainOptions& options, client::Context& context) {
  if (options.reason.empty()) return list_reasons(options.json, context);
  GANGRUN_ASSIGN(const auto section, explanation_of(options.reason));
  context.console.out(options.json ? base::dump_json(base::to_json(section)) + "\n"
                                   : base::format("{}\n\n{}\n", section.title, section.text));
  return client::ExitStatus::kSuccess;
}

}  // namespace

client::Command explain_command() {
  const auto options = std::make_shared<ExplainOptions>();
  return {.name = "explain",
          .summary = "Explain a reason for which jobs end or wait; without one, list them all.",
          .words = {{"REASON", &options->reason}},
          .flags = {{"--json", &options->json, "", "Print JSON"}},
          .footer =
              "gangrun why JOB names the reason, and so does status --json.\n\n"
              "Example:\n  gangrun explain out_of_memory\n",
          .action = acts(options, explain)};
}

}  // namespace gangrun::cli
