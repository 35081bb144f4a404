#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "client/checks_view.h"
#include "client/command.h"
#include "client/place.h"
#include "client/text.h"
#include "job/choice.h"
#include "job/spec.h"

namespace gangrun::cli {

namespace {

struct DoctorFlags {
  std::optional<std::string> on;
  bool json = false;
  std::vector<std::string> places{};
  std::vector<client::Doctor> doctors{};  // of these places
};

client::ExitStatus show_checks(const client::Examination& examined, std::string_view place,
                               bool json, client::Context& context) {
  const auto& [checks, is_whole] = examined;
  const auto size = context.console.size();
  if (json) {
    context.console.out(base::dump_json(client::checks_json(checks, is_whole)) + "\n");
  } else {
    context.console.out(client::checks_lines(checks, place, size ? size->columns : 0, is_whole));
  }
  if (!is_whole) return client::ExitStatus::kInterrupted;
  return cluster::any_failed(checks) ? client::ExitStatus::kCouldNotStart
                                     : client::ExitStatus::kSuccess;
}

base::Result<client::ExitStatus> run(const DoctorFlags& flags, client::Context& context) {
  const auto refuse = [&](const std::string& why) {
    return fail(context, base::invalid_argument(why), client::ExitStatus::kBadInput);
  };
  const std::string on = flags.on.value_or(flags.places.front());
  const client::Place* place = context.places.find(on);
  const auto named = std::find(flags.places.begin(), flags.places.end(),
                               place == nullptr ? on : place->rules.name);
  if (named == flags.places.end()) {
    return refuse(
        base::format("--on: {}", job::not_one_of(on, "a known place", flags.places).message));
  }
  const client::Doctor& chosen =
      flags.doctors[static_cast<std::size_t>(named - flags.places.begin())];
  for (std::size_t i = 0; i < flags.places.size(); ++i) {
    const client::Doctor& other = flags.doctors[i];
    if (&other == &chosen ||
        std::none_of(other.flags.begin(), other.flags.end(), client::is_given)) {
      continue;
    }
    std::vector<std::string> names;
    for (const client::Flag& flag : other.flags)
      names.push_back(base::split(flag.names, ',').back());
    return refuse(base::format("{} apply to {}; add --on {}", client::list_text(names),
                               other.subject, flags.places[i]));
  }
  GANGRUN_ASSIGN(const auto examined, chosen.examine(context));
  return show_checks(examined, chosen.examined, flags.json, context);
}

}  // namespace

client::Command doctor_command(const client::Places& places) {
  const auto options = std::make_shared<DoctorFlags>();
  std::vector<client::Flag> flags;
  std::string examples = "  gangrun doctor\n";
  for (const client::Place& place : places.all()) {
    if (!place.doctor) continue;
    const std::string& name = options->places.emplace_back(place.rules.name);
    const client::Doctor& doctor = options->doctors.emplace_back(place.doctor());
    flags.insert(flags.end(), doctor.flags.begin(), doctor.flags.end());
    if (!doctor.example.empty()) {
      examples += base::format("  gangrun doctor --on {} {}\n", name, doctor.example);
    }
  }
  flags.insert(flags.begin(), client::Flag{"--on", &options->on,
                                           base::format("{}", base::join(options->places, "|")),
                                           "What to check (local)"});
  flags.push_back({"--json", &options->json, "", "Print a JSON object"});
  return {.name = "doctor",
          .summary = "Check whether this machine, a cluster or hosts can run jobs.",
          .flags = std::move(flags),
          .footer = "Exits with 0 if jobs can run, otherwise with 3.\n\nExamples:\n" + examples,
          .action = acts(options, run)};
}

}  // namespace gangrun::cli
