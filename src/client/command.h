#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "client/run_options.h"
#include "jobfile/flags.h"
#include "jobfile/place_rules.h"

// Flags and commands as values, for the rooms that do not read the command line themselves.
namespace gangrun::client {

// The variable that a flag sets. It stays as it is where the flag is not given; of an optional
// value that is given twice the last counts.
using FlagTarget = std::variant<bool*, std::optional<std::string>*, std::vector<std::string>*>;

struct Flag {
  std::string names;  // "-q,--queue"
  FlagTarget target;
  std::string value;  // what help has for its value: "FILE"; a switch has none
  std::string help;
};

// A command of another tool, which belongs to a place. The program may be called by its name too.
struct Command {
  std::string name;
  std::string summary;
  std::string word_name{};  // of the one word that it takes without a flag; empty: it takes none
  std::string* word = nullptr;
  bool needs_word = false;
  std::vector<Flag> flags;
  std::string footer;
  Action action;  // owns what the flags and the word are read into
};

// Whether it was given on the command line.
bool is_given(const Flag& flag);

// The flag of a field's row, if it has one.
std::optional<Flag> flag_of(const jobfile::TaskField& field, jobfile::Flags& flags);
std::optional<Flag> flag_of(const jobfile::JobField& field, jobfile::Flags& flags,
                            const jobfile::RulesOfPlaces& places);
// Those of the job's fields at these paths.
std::vector<Flag> flags_of(std::span<const std::string_view> paths, jobfile::Flags& flags,
                           const jobfile::RulesOfPlaces& places);

// The flags of every command that shows a running job.
std::vector<Flag> display_flags(DisplayOptions& options);
// Whether these options go together.
base::Result<> check_display(const DisplayOptions& options);

}  // namespace gangrun::client
