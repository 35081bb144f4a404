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
  std::string group{};  // the title that help has above it; empty: as of all others
};

// A word that a command takes without a flag, or any number of them. An optional one that is given
// may be empty.
struct Word {
  std::string name;  // "JOB"
  std::variant<std::string*, std::optional<std::string>*, std::vector<std::string>*> target;
  bool is_needed = false;
};

struct Command {
  std::string name;
  std::string summary;
  std::vector<Word> words{};
  std::vector<std::string>* rest = nullptr;  // the words after "--"; null: they are `words` too
  std::string rest_name = "COMMAND...";      // what help has for them
  std::vector<Flag> flags{};
  std::string footer{};
  Action action{};                  // owns what the flags and the words are read into
  bool is_program = false;          // the program may be called by its name too
  std::vector<Command> commands{};  // of the program itself
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
