#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/render.h"
#include "cli/text.h"

namespace gangrun::cli {

namespace {

struct Options {
  bool all = false;
  bool json = false;
};

// Ended jobs that are listed without --all.
constexpr std::size_t kShownEnded = 20;

std::vector<Span> row_of(const job::JobStatus& status) {
  const std::string cause = status.cause && status.state != job::JobState::kSucceeded
                                ? harmless(status.cause->sentence)
                                : std::string();
  return {{harmless(status.id)},
          {state_words(status.state), paint_of(status.state)},
          {std::to_string(status.tasks.size())},
          {harmless(status.submitted).substr(0, sizeof("2026-01-31T12:00:00") - 1)},
          {base::to_words(std::chrono::milliseconds(status.elapsed_ms))},
          {cause}};
}

ExitStatus ps(const Options& options, Context& context) {
  const auto site = site_of(context);
  if (!site.ok()) return fail(context, site.error());
  auto jobs = (*site)->list();
  if (!jobs.ok()) return fail(context, jobs.error());
  std::size_t ended = 0;
  std::erase_if(*jobs, [&](const job::JobStatus& status) {
    return !options.all && job::is_final(status.state) && ++ended > kShownEnded;
  });
  if (options.json) {
    base::Json list = base::Json::array();
    for (const job::JobStatus& status : *jobs) list.push_back(job::to_json(status));
    context.console.out(base::dump_json(list) + "\n");
    return ExitStatus::kSuccess;
  }
  std::vector<std::vector<Span>> rows;
  for (const job::JobStatus& status : *jobs) rows.push_back(row_of(status));
  const auto size = context.console.size();
  context.console.out(
      table({{"JOB"}, {"STATE"}, {"TASKS", true}, {"SUBMITTED (UTC)"}, {"TIME", true}, {"CAUSE"}},
            rows, size ? size->columns : 0));
  return ExitStatus::kSuccess;
}

}  // namespace

void add_ps(CLI::App& app, Request& request) {
  CLI::App* command = app.add_subcommand("ps", "List the jobs of this machine, the newest first.");
  const auto options = std::make_shared<Options>();
  add_flag(*command, "-a,--all", options->all,
           base::format("Show all ended jobs, not only the last {}", kShownEnded));
  add_flag(*command, "--json", options->json, "Print a list of JSON objects");
  command->footer("Example:\n  gangrun ps --json\n");
  command->callback([&request, options] {
    request.action = [options](Context& context) { return ps(*options, context); };
  });
}

}  // namespace gangrun::cli
