#pragma once

#include <set>
#include <string>
#include <string_view>

// The users who may do something, as Hadoop writes them: "user,user group,group", or "*". Pure.
namespace gangrun::hadoop {

struct AccessList {
  bool everybody = false;
  std::set<std::string> users{};
  std::set<std::string> groups{};

  bool operator==(const AccessList&) const = default;
};

// Any text is one; an empty one is nobody. What stands before the first blank are users.
AccessList parse_access_list(std::string_view text);

[[nodiscard]] bool allows(const AccessList& list, const std::string& user,
                          const std::set<std::string>& groups);

// The groups in the text of an /etc/group that name the user as a member. Lines that are none are
// skipped.
std::set<std::string> groups_of(std::string_view etc_group, const std::string& user);

}  // namespace gangrun::hadoop
