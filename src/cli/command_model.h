#pragma once

#include <string>
#include <string_view>
#include <vector>

// The commands and their flags as values: what help and completion are made of.
namespace gangrun::cli {

// The group of flags where a command has no other.
inline constexpr std::string_view kOptions = "Options";

struct FlagModel {
  std::vector<std::string> names;  // "-r", "--roles"
  std::string value;               // what stands for its value: "FILE"; empty: takes none
  std::string help;
  std::string group{kOptions};  // what help has above it
};

struct CommandModel {
  std::string name;
  std::string summary;
  std::vector<std::string> positionals;  // "JOB", "[TASK]"
  std::vector<FlagModel> flags;
  std::string footer;
  std::vector<CommandModel> commands;
  std::vector<std::string> own_names{};  // of those of its commands that are programs too
};

// Values of these names are completed; of all others nothing is known.
inline constexpr std::string_view kFileValue = "FILE";
inline constexpr std::string_view kFolderValue = "FOLDER";
inline constexpr std::string_view kJobValue = "JOB";
inline constexpr std::string_view kTaskValue = "TASK";      // of the JOB before it
inline constexpr std::string_view kReasonValue = "REASON";  // one that can be explained

// The choices of a value "a|b|c"; empty for other values.
std::vector<std::string> choices_of(std::string_view value);

// The text that --help prints.
std::string help_text(const CommandModel& command, std::string_view parent);

}  // namespace gangrun::cli
