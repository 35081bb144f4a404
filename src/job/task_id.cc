#include "job/task_id.h"

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::job {

namespace {

constexpr std::size_t kMaxTypeNameLength = 40;

}  // namespace

std::string to_string(const TaskId& task) { return base::format("{}:{}", task.type, task.index); }

bool is_valid_type_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxTypeNameLength && base::is_letter(name.front()) &&
         base::is_of_letters_digits_and(name, "_-");
}

base::Result<TaskId> parse_task_id(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return base::invalid_argument(base::format(
        "'{}' is not a task; a task is written type:index, for example worker:0", text));
  };
  if (colon == std::string_view::npos) return wrong();
  const auto index = base::parse_integer(text.substr(colon + 1));
  if (!index || *index < 0 || *index > 1'000'000 || !is_valid_type_name(text.substr(0, colon))) {
    return wrong();
  }
  return TaskId{std::string(text.substr(0, colon)), static_cast<int>(*index)};
}

}  // namespace gangrun::job
