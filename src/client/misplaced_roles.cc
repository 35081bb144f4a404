#include "client/misplaced_roles.h"

#include "base/format.h"
#include "base/strings.h"
#include "job/spec.h"
#include "job/task_id.h"
#include "job/units.h"

namespace gangrun::client {

std::optional<std::string> meant_as_roles(const std::vector<std::string>& words) {
  std::vector<std::string> roles;
  bool has_number = false;
  for (const std::string& word : words) {
    for (const std::string& item : base::split(word, ',')) {
      const std::size_t mark = item.find_first_of(":=");
      const std::string type = item.substr(0, mark);
      if (!job::is_valid_type_name(type)) return std::nullopt;
      if (mark == std::string::npos) {
        roles.push_back(type);
        continue;
      }
      const std::string number = item.substr(mark + 1);
      if (!job::parse_count(number, 1, job::kMaxTasks).ok()) return std::nullopt;
      roles.push_back(base::format("{}:{}", type, number));
      has_number = true;
    }
  }
  if (!has_number) return std::nullopt;
  return base::format("-r {}", base::join(roles, ","));
}

}  // namespace gangrun::client
