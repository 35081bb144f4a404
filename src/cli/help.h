#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/command.h"

// The words that help and completion have for commands.
namespace gangrun::cli {

// Values of these names are completed; of all others nothing is known.
inline constexpr std::string_view kFileValue = "FILE";
inline constexpr std::string_view kFolderValue = "FOLDER";
inline constexpr std::string_view kJobValue = "JOB";
inline constexpr std::string_view kTaskValue = "TASK";      // of the JOB before it
inline constexpr std::string_view kReasonValue = "REASON";  // one that can be explained

// The choices of a value "a|b|c"; empty for other values.
std::vector<std::string> choices_of(std::string_view value);

// "-r" and "--roles" of a flag, in this order.
std::vector<std::string> names_of(const client::Flag& flag);
// The flag of this name, "-r" or "--roles"; null: it has none.
const client::Flag* flag_named(const client::Command& command, const std::string& name);

// Whether it stands for any number of words.
bool is_list(const client::Word& word);
// "JOB", or "JOB..." of a list.
std::string name_of(const client::Word& word);

// The text that --help prints.
std::string help_text(const client::Command& command, std::string_view parent);

}  // namespace gangrun::cli
