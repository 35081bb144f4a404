#include "client/stacks_view.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/described_json.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "process/stack_look.h"

namespace gangrun::client {

namespace {

using ToldLooks = process::StackLooks<base::Json>;

// None, where it is no such answer.
ToldLooks told_looks(const base::Json& said) {
  return base::from_json<ToldLooks>(said).value_or(ToldLooks{});
}

std::vector<process::StackLook> looks_of(const base::Json& said) {
  std::vector<process::StackLook> looks;
  const ToldLooks told = told_looks(said);
  for (const base::Json& each : told.processes) {
    auto look = base::from_json<process::StackLook>(each);
    if (look.ok()) looks.push_back(*std::move(look));
  }
  return looks;
}

// Whether a number at `at` tells a thread or a process from another.
bool is_of_thread(std::string_view line, std::size_t at) {
  const std::string_view before = line.substr(0, at);
  return before.ends_with("Thread ") || before.ends_with("LWP ") || before.ends_with("TID ") ||
         before.ends_with("pid ");
}

// Addresses and the numbers of threads differ where the stacks are the same.
std::string without_numbers(std::string_view line) {
  std::string result;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::string_view two = line.substr(at, 2);
    const bool is_address = two == "0x" || two == "[<";
    const bool is_number = base::is_digit(line[at]);
    if (!is_address && !(is_number && is_of_thread(line, at))) {
      result += line[at++];
      continue;
    }
    if (is_address) {
      result += two;
      at += two.size();
    }
    result += "…";
    while (at < line.size() && base::is_small_hex_digit(line[at])) ++at;
  }
  return result;
}

// py-spy and eu-stack begin with lines on the process itself, gdb ends with one.
bool is_about_process(std::string_view line) {
  return line.starts_with("Process ") || line.starts_with("PID ") || line.starts_with("Python v") ||
         line.starts_with("[Inferior");
}

// The arguments of a system call, and where it was called, differ from process to process.
std::string kernel_line(std::string_view line) {
  return without_numbers(base::printable(line.substr(0, line.find(" 0x"))));
}

std::string stack_of(const process::StackLook& look) {
  std::string_view text = look.python;
  if (text.empty()) text = look.native;
  std::string stack;
  for (const std::string& line : base::split(text, '\n')) {
    if (line.empty() || is_about_process(line)) continue;
    stack += "    " + without_numbers(base::printable(line)) + "\n";
  }
  if (!stack.empty()) return stack;
  if (!look.kernel.empty()) {
    for (const std::string& line : base::split(look.kernel, '\n')) {
      stack += "    " + kernel_line(line) + "\n";
    }
  }
  if (!look.trouble.empty()) {
    stack += base::format("    ({})\n", without_numbers(base::printable(look.trouble)));
  }
  return stack;
}

// As proc(5) has them.
std::string state_words(const std::string& state) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"R", "runs"},       {"S", "sleeps"},    {"D", "waits in the kernel"},
      {"T", "is stopped"}, {"t", "is traced"}, {"Z", "has ended"}};
  const auto found = std::ranges::find(kWords, state, [](const auto& row) { return row.first; });
  return std::string(found == std::end(kWords) ? state : found->second);
}

// " (sleeps, 1.5 s of CPU)"; empty, where nobody could look.
std::string activity(const SameStack& stack) {
  if (stack.states.empty()) return {};
  const std::string least = base::format("{:.1f}", stack.least_cpu_seconds);
  const std::string most = base::format("{:.1f}", stack.most_cpu_seconds);
  return base::format(" ({}, {} s of CPU)", base::join(stack.states, " or "),
                      least == most ? least : base::format("{} to {}", least, most));
}

// Whether the interpreter's own stack is shown in place of Python's, for want of py-spy. A process
// without any stack says so itself.
bool needs_py_spy(const cluster::TaskAnswer& task) {
  return std::ranges::any_of(looks_of(task.said), [](const process::StackLook& look) {
    return look.needs_py_spy && look.trouble.empty();
  });
}

}  // namespace

std::vector<SameStack> same_stacks(const cluster::Answer& answer) {
  std::vector<SameStack> stacks;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // of each in `stacks`
  for (const cluster::TaskAnswer& task : answer.tasks) {
    for (const process::StackLook& look : looks_of(task.said)) {
      // py-spy's is the usual one.
      const bool is_own = look.python_by == process::kFaulthandler;
      const std::string name =
          is_own ? base::format("{}, by {}", look.name, look.python_by) : look.name;
      const std::string stack = stack_of(look);
      const auto [place, is_new] = places.try_emplace({name, stack}, stacks.size());
      if (is_new) {
        stacks.push_back({.process = name,
                          .stack = stack,
                          .least_cpu_seconds = look.cpu_seconds,
                          .most_cpu_seconds = look.cpu_seconds});
      }
      SameStack& same = stacks[place->second];
      if (same.tasks.empty() || same.tasks.back() != task.task) same.tasks.push_back(task.task);
      if (!look.state.empty()) same.states.insert(state_words(look.state));
      same.least_cpu_seconds = std::min(same.least_cpu_seconds, look.cpu_seconds);
      same.most_cpu_seconds = std::max(same.most_cpu_seconds, look.cpu_seconds);
    }
  }
  std::ranges::stable_sort(stacks, {}, [](const SameStack& one) { return one.tasks.size(); });
  return stacks;
}

std::string task_ranges(const std::vector<job::TaskId>& tasks) {
  std::map<std::string, std::vector<int>> indexes;
  for (const job::TaskId& task : tasks) indexes[task.type].push_back(task.index);
  std::vector<std::string> words;
  for (auto& [type, numbers] : indexes) {
    std::ranges::sort(numbers);
    std::string text = type + ":";
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t end = i + 1;
      while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
      if (i > 0) text += ",";
      text += end - i > 1 ? base::format("{}-{}", numbers[i], numbers[end - 1])
                          : std::to_string(numbers[i]);
      i = end;
    }
    words.push_back(std::move(text));
  }
  return base::format("{}", base::join(words, " "));
}

std::string stacks_text(const cluster::Answer& answer) {
  std::string text;
  for (const SameStack& stack : same_stacks(answer)) {
    text += base::format("{}  {}{}\n{}\n", task_ranges(stack.tasks), stack.process, activity(stack),
                         stack.stack);
  }
  std::map<std::string, std::vector<job::TaskId>> lacks;
  for (const cluster::TaskAnswer& task : answer.tasks) {
    if (!task.refused.empty()) lacks[task.refused].push_back(task.task);
    if (const int more = told_looks(task.said).not_shown; more > 0) {
      lacks[base::format("{} more processes are not shown", more)].push_back(task.task);
    }
  }
  for (const auto& [why, tasks] : lacks) {
    text += base::format("{}: {}\n", task_ranges(tasks), base::printable(why));
  }
  if (std::ranges::any_of(answer.tasks, needs_py_spy)) {
    text += "Python's own stacks need py-spy where the tasks run: pip install 'gangrun[stacks]'\n";
  }
  return text;
}

base::Json stacks_json(const cluster::Answer& answer) {
  base::Json tasks = base::Json::array();
  for (const cluster::TaskAnswer& task : answer.tasks) {
    base::Json each{{"task", job::to_string(task.task)}};
    if (task.refused.empty()) {
      each.update(base::to_json(told_looks(task.said)));
    } else {
      each["trouble"] = task.refused;
    }
    tasks.push_back(std::move(each));
  }
  return {{"tasks", std::move(tasks)}};
}

}  // namespace gangrun::client
