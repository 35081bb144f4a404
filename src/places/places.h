#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/command.h"
#include "client/context.h"
#include "client/place.h"
#include "jobfile/place_rules.h"

// The places that there are. Who adds one adds its room, and one line in places.cc.
namespace gangrun::places {

// In the order in which errors and help list them.
std::vector<client::Place> all();

// Their rules for jobs.
const jobfile::RulesOfPlaces& rules();

// The commands of other tools that belong to places, in the order in which help lists them.
std::vector<client::Command> programs(const jobfile::RulesOfPlaces& rules);

// Runs what a master has this program do on the side, in a process of its own: `gangrun NAME FILE`.
// Nothing if there is no such name.
std::optional<client::ExitStatus> run_errand(std::string_view name, const std::string& file,
                                             client::Context& context);

}  // namespace gangrun::places
