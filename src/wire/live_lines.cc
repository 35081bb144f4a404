#include "wire/live_lines.h"

#include "cluster/line_choice.h"

namespace gangrun::wire {

base::Result<std::vector<cluster::LogLine>> LiveLines::next(base::Instant deadline) {
  std::vector<cluster::LogLine> wanted;
  while (true) {
    auto lines = fetch_(from_, deadline);
    // Between two masters there are no lines; the status tells whether another comes.
    if (!lines.ok()) return wanted;
    const bool is_of_another_master = lines->next < from_;
    from_ = is_of_another_master ? 0 : lines->next;
    for (KeptLine& line : lines->lines) {
      if (!cluster::is_wanted(request_, line.task, line.is_error)) continue;
      if (cluster::is_too_old(request_, line.time)) continue;
      wanted.push_back(cluster::log_line(line.task, line.is_error, std::move(line.text)));
      wanted.back().time = line.time;
    }
    // The tail is of what is there at the beginning: all of that comes first.
    const bool is_all = lines->lines.empty() && !is_of_another_master;
    const bool collects_tail = is_first_ && request_.tail;
    if (is_all || (!collects_tail && !wanted.empty()) || clock_.now() >= deadline) break;
  }
  wanted = cluster::without_replaced(std::move(wanted));
  if (std::exchange(is_first_, false)) return cluster::last_lines(std::move(wanted), request_);
  return wanted;
}

}  // namespace gangrun::wire
