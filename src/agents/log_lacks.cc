#include "agents/log_lacks.h"

#include <algorithm>

#include "cluster/line_files.h"

namespace gangrun::agents {

std::optional<std::string> LogLacks::add(int agent, const std::string& why, std::int64_t lost) {
  Lack& lack = of_agents_[agent];
  if (lack.why == why && lack.lost >= lost) return std::nullopt;
  const bool are_more = lost > lack.lost;
  lack = {why, std::max(lost, lack.lost)};
  std::int64_t all = 0;
  for (const auto& [attempt, each] : of_agents_) all += each.lost;
  words_ = all > 0 ? cluster::lost_lines_words(all, why) : why;
  return are_more ? words_ : why;
}

}  // namespace gangrun::agents
