#include "client/render.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "client/text.h"

namespace gangrun::client {

namespace {

constexpr std::size_t kBarWidth = 20;

// In the order in which people want to hear of them.
constexpr std::array kStates = {
    job::TaskState::kFailed,    job::TaskState::kLost,       job::TaskState::kRunning,
    job::TaskState::kStarting,  job::TaskState::kRegistered, job::TaskState::kAllocated,
    job::TaskState::kWaiting,   job::TaskState::kStopping,   job::TaskState::kSpare,
    job::TaskState::kSucceeded, job::TaskState::kStopped};

std::string time_words(std::int64_t ms) { return base::to_words(std::chrono::milliseconds(ms)); }

using Counts = std::map<job::TaskState, std::int64_t>;

Line counts_line(const Counts& counts) {
  Line line;
  for (const auto state : kStates) {
    const auto found = counts.find(state);
    if (found == counts.end()) continue;
    if (line.width() > 0) line.add(", ");
    line.add(base::format("{} {}", found->second, job::to_string(state)), paint_of(state));
  }
  return line;
}

Counts count_states(const job::JobStatus& status) {
  Counts counts;
  for (const job::TaskStatus& task : status.tasks) ++counts[task.state];
  return counts;
}

// How far the gang has come on its way to running: places, then reports.
Line progress_line(const job::JobStatus& status) {
  const bool allocating = status.state == job::JobState::kAllocating;
  const auto done = std::count_if(status.tasks.begin(), status.tasks.end(), [&](const auto& task) {
    const bool has_place = task.state != job::TaskState::kWaiting;
    return allocating ? has_place : has_place && task.state != job::TaskState::kAllocated;
  });
  const auto total = std::max<std::size_t>(status.tasks.size(), 1);
  const std::size_t filled = kBarWidth * static_cast<std::size_t>(done) / total;
  Line line(base::format("{:<10} ", allocating ? "allocation" : "roll call"));
  line.add(std::string(filled, '#'), Paint::kGreen);
  line.add(std::string(kBarWidth - filled, '.'), Paint::kDim);
  line.add(base::format(" {} of {}", done, status.tasks.size()));
  return line;
}

std::vector<Span> row_of(const job::TaskStatus& task) {
  const std::string state =
      task.attempt > 1 ? base::format("{} (run {})", job::to_string(task.state), task.attempt)
                       : std::string(job::to_string(task.state));
  // How it failed is more than what it said last; how it succeeded is less. A master of an older
  // version tells of one that runs how the run before ended.
  const bool failed = task.state == job::TaskState::kFailed || task.state == job::TaskState::kLost;
  const bool shows_exit =
      task.exit && job::is_final(task.state) && (failed || task.last_line.empty());
  const std::string says = shows_exit             ? harmless_sentence(job::to_words(*task.exit))
                           : task.figures.empty() ? harmless_output(task.last_line)
                                                  : harmless_sentence(job::to_words(task.figures));
  const Paint exit_paint = shows_exit ? paint_of(task.state) : Paint::kNone;
  return {{job::to_string(task.task), paint_of_type(task.task.type)},
          {state, paint_of(task.state)},
          {task.address.empty() ? "-" : harmless_sentence(task.address)},
          {task.pid == 0 ? "-" : std::to_string(task.pid)},
          {bytes_text(task.memory_bytes)},
          {says, exit_paint}};
}

Lines summary_by_type(const job::JobStatus& status, std::size_t height) {
  std::vector<std::string> types;
  std::map<std::string, Counts> counts;
  std::map<std::string, std::int64_t> memory;
  for (const job::TaskStatus& task : status.tasks) {
    if (!counts.contains(task.task.type)) types.push_back(task.task.type);
    ++counts[task.task.type][task.state];
    memory[task.task.type] += task.memory_bytes;
  }
  Lines lines;
  if (types.size() > height) {
    Line line(base::format("{} tasks of {} types: ", status.tasks.size(), types.size()));
    const Line states = counts_line(count_states(status));
    return {line.add(states.text())};
  }
  for (const std::string& type : types) {
    std::int64_t total = 0;
    for (const auto& [state, count] : counts[type]) total += count;
    Line line(fit(base::format("{} ({})", type, total), 20), paint_of_type(type));
    line.add(base::format(" {:>9}  ", bytes_text(memory[type])));
    line.add(counts_line(counts[type]).text());
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Paint paint_of(job::JobState state) {
  switch (state) {
    case job::JobState::kAllocating:
    case job::JobState::kRollCall: return Paint::kYellow;
    case job::JobState::kRunning: return Paint::kCyan;
    case job::JobState::kRestarting:
    case job::JobState::kStopping:
    case job::JobState::kKilled: return Paint::kYellow;
    case job::JobState::kSucceeded: return Paint::kGreen;
    case job::JobState::kFailed:
    case job::JobState::kLost: return Paint::kRed;
  }
  return Paint::kNone;
}

Paint paint_of(job::TaskState state) {
  switch (state) {
    case job::TaskState::kWaiting:
    case job::TaskState::kAllocated:
    case job::TaskState::kRegistered:
    case job::TaskState::kStarting:
    case job::TaskState::kStopping: return Paint::kYellow;
    case job::TaskState::kRunning: return Paint::kCyan;
    case job::TaskState::kSucceeded: return Paint::kGreen;
    case job::TaskState::kSpare:
    case job::TaskState::kStopped: return Paint::kDim;
    case job::TaskState::kFailed:
    case job::TaskState::kLost: return Paint::kRed;
  }
  return Paint::kNone;
}

std::string state_words(job::JobState state) {
  if (state == job::JobState::kRollCall) return "roll call";
  return std::string(job::to_string(state));
}

Lines render_header(const job::JobStatus& status) {
  Line first(harmless_sentence(status.id), Paint::kBold);
  first.add("  ").add(state_words(status.state), paint_of(status.state));
  first.add(base::format("  {}", time_words(status.elapsed_ms)));
  if (status.generation > 1) first.add(base::format("  generation {}", status.generation));
  if (status.restarts_used > 0) {
    first.add(base::format("  {} of {} used", status.restarts_used,
                           count_text(status.restarts_max, "restart")),
              Paint::kYellow);
  }
  Lines lines = {first};
  if (status.state == job::JobState::kAllocating || status.state == job::JobState::kRollCall) {
    lines.push_back(progress_line(status));
  }
  if (!status.waiting_for.empty()) {
    lines.emplace_back(base::format("waiting for {}", harmless_sentence(status.waiting_for)),
                       Paint::kDim);
  }
  return lines;
}

Lines render_tasks(const job::JobStatus& status, std::size_t width) {
  const std::vector<Column> columns = {{"TASK"},      {"STATE"},        {"ADDRESS"},
                                       {"PID", true}, {"MEMORY", true}, {"LAST LINE"}};
  std::vector<std::vector<Span>> rows;
  rows.reserve(status.tasks.size());
  for (const job::TaskStatus& task : status.tasks) rows.push_back(row_of(task));
  return table(columns, rows, width);
}

Lines render(const job::JobStatus& status, std::size_t width, std::size_t height,
             const std::string& notice, const Lines& said) {
  Lines lines = render_header(status);
  const std::size_t below = notice.empty() ? 0 : 1;
  const std::size_t room = height - std::min(height, lines.size() + below);
  const std::size_t for_tasks = room - std::min({room, said.size(), kLeastSaid});
  Lines body = status.tasks.size() + 1 <= for_tasks ? render_tasks(status, width)
                                                    : summary_by_type(status, for_tasks);
  lines.insert(lines.end(), body.begin(), body.end());
  const std::size_t newest = std::min(said.size(), room - std::min(room, body.size()));
  lines.insert(lines.end(), said.end() - static_cast<std::ptrdiff_t>(newest), said.end());
  if (!notice.empty()) {
    // The notice is the one line that must be seen.
    lines.resize(std::min(lines.size(), std::max<std::size_t>(height, 1) - 1));
    lines.emplace_back(notice, Paint::kYellow);
  }
  lines.resize(std::min(lines.size(), height));
  for (Line& line : lines) line = line.cut_to(width);
  return lines;
}

}  // namespace gangrun::client
