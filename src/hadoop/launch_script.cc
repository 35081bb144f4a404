#include "hadoop/launch_script.h"

namespace gangrun::hadoop {

std::string quote_for_launch_script(std::string_view value) {
  constexpr std::string_view kAlive = "\"$`\\";
  std::string quoted;
  quoted.reserve(value.size() + 8);
  for (const char character : value) {
    // "" ends one pair of quotes and begins the next: nothing for bash, the end of a match for
    // YARN.
    const bool begins_parameter = character == '{' && quoted.ends_with('{');
    const bool begins_name = quoted.ends_with('<') && (character == 'C' || character == 'L');
    if (begins_parameter || begins_name) quoted += "\"\"";
    if (kAlive.find(character) != std::string_view::npos) quoted += '\\';
    quoted += character;
  }
  return quoted;
}

}  // namespace gangrun::hadoop
