#include "hadoop/access_list.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace gangrun::hadoop {

namespace {

std::set<std::string> names_of(std::string_view text) {
  std::set<std::string> names;
  for (const std::string& part : base::split(text, ',')) {
    const std::string_view name = base::trim(part);
    if (!name.empty()) names.emplace(name);
  }
  return names;
}

}  // namespace

AccessList parse_access_list(std::string_view text) {
  AccessList list;
  // A blank before the first name: groups only, as Hadoop reads it.
  const std::size_t blank = text.find(' ');
  list.users = names_of(text.substr(0, blank));
  if (blank != std::string_view::npos) list.groups = names_of(text.substr(blank + 1));
  list.everybody = list.users.contains("*") || list.groups.contains("*");
  return list;
}

bool allows(const AccessList& list, const std::string& user, const std::set<std::string>& groups) {
  if (list.everybody) return true;
  if (list.users.contains(user)) return true;
  return std::ranges::any_of(
      groups, [&list](const std::string& group) { return list.groups.contains(group); });
}

std::set<std::string> groups_of(std::string_view etc_group, const std::string& user) {
  std::set<std::string> groups;
  for (const std::string& line : base::split(etc_group, '\n')) {
    const std::vector<std::string> fields = base::split(line, ':');
    if (fields.size() == 4 && names_of(fields[3]).contains(user)) groups.insert(fields[0]);
  }
  return groups;
}

}  // namespace gangrun::hadoop
