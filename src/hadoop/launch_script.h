#pragma once

#include <string>
#include <string_view>

namespace gangrun::hadoop {

// The NodeManager pastes environment values between double quotes into a bash script as they are
// (ContainerLaunch). This is `value` so that the variable has it unchanged, whatever it holds but a
// NUL byte: what is alive between double quotes is escaped, and what YARN itself replaces
// ("{{NAME}}", "<CPS>", "<LOG_DIR>") is broken up.
std::string quote_for_launch_script(std::string_view value);

}  // namespace gangrun::hadoop
