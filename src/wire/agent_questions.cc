#include "wire/agent_questions.h"

namespace gangrun::wire {

base::Result<> ResultPart::complete() const {
  const auto end = offset + static_cast<std::int64_t>(bytes.size());
  if (!bytes.empty() && end <= size) return {};
  return base::wrong_member("bytes", "at least one, and not over the size");
}

}  // namespace gangrun::wire
