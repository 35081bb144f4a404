#include "ssh/host_lists.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"
#include "jobfile/hosts.h"

namespace gangrun::ssh {

namespace {

using base::Result;
using Hosts = std::vector<job::Host>;

constexpr std::string_view kSlotsKey = "slots=";
// A list that names more is none of a cluster.
constexpr std::size_t kMaxListed = 100'000;

base::Error too_many() {
  return base::invalid_argument(base::format("more than {} hosts are named", kMaxListed));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// One that is named again has the slots of both.
void add_host(job::Host host, Hosts& hosts) {
  const auto found = std::ranges::find(hosts, host.name, &job::Host::name);
  if (found == hosts.end()) {
    hosts.push_back(std::move(host));
  } else {
    found->slots = found->slots.value_or(1) + host.slots.value_or(1);
  }
}

Result<job::Host> host_of_line(const std::vector<std::string>& words) {
  GANGRUN_ASSIGN(Hosts hosts, jobfile::hosts_from({words.front()}));
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with(kSlotsKey) || hosts.front().slots) {
      return base::invalid_argument(
          base::format("{} is not allowed; allowed: NAME, NAME:SLOTS or NAME slots=SLOTS",
                       job::in_quotes(word)));
    }
    GANGRUN_ASSIGN(hosts.front().slots,
                   job::parse_count(word.substr(kSlotsKey.size()), 1, job::kMaxTasks));
  }
  return std::move(hosts.front());
}

// The text between two brackets: "01-03,7".
Result<std::vector<std::string>> numbers_of(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string& range : base::split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
    const auto from = base::parse_integer(first);
    const auto to = base::parse_integer(last);
    if (!from || !to || *from < 0 || *to < *from) {
      return base::invalid_argument(base::format("{} is no range", job::in_quotes(range)));
    }
    for (std::int64_t number = *from; number <= *to; ++number) {
      std::string text = std::to_string(number);
      // "08" is followed by "09", and "9" by "10".
      if (text.size() < first.size()) text.insert(0, first.size() - text.size(), '0');
      numbers.push_back(std::move(text));
      if (numbers.size() > kMaxListed) return too_many();
    }
  }
  return numbers;
}

// "r[1-2]gpu[01-03]" for each of them.
Result<std::vector<std::string>> expand(std::string_view entry) {
  const std::size_t open = entry.find('[');
  if (open == std::string_view::npos) return std::vector<std::string>{std::string(entry)};
  const std::size_t close = entry.find(']', open);
  if (close == std::string_view::npos) {
    return base::invalid_argument(base::format("{} has no \"]\"", job::in_quotes(entry)));
  }
  GANGRUN_ASSIGN(const auto numbers, numbers_of(entry.substr(open + 1, close - open - 1)));
  GANGRUN_ASSIGN(const auto rests, expand(entry.substr(close + 1)));
  if (numbers.size() * rests.size() > kMaxListed) return too_many();
  std::vector<std::string> names;
  for (const std::string& number : numbers) {
    for (const std::string& rest : rests) {
      names.push_back(base::format("{}{}{}", entry.substr(0, open), number, rest));
    }
  }
  return names;
}

// At the commas that are in no brackets.
std::vector<std::string> entries_of(std::string_view nodelist) {
  std::vector<std::string> entries(1);
  int depth = 0;
  for (const char c : nodelist) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      entries.emplace_back();
    } else {
      entries.back() += c;
    }
  }
  return entries;
}

// "8(x2),4" is 8, 8, 4.
Result<std::vector<int>> counts_of(std::string_view tasks_per_node) {
  std::vector<int> counts;
  if (tasks_per_node.empty()) return counts;
  for (const std::string& part : base::split(tasks_per_node, ',')) {
    const std::size_t open = part.find("(x");
    GANGRUN_ASSIGN(const int count, job::parse_count(part.substr(0, open), 1, job::kMaxTasks));
    int times = 1;
    if (open != std::string::npos) {
      const std::string repeated = part.substr(open + 2);
      GANGRUN_ASSIGN(times, job::parse_count(repeated.substr(0, repeated.find(')')), 1,
                                             static_cast<int>(kMaxListed)));
    }
    counts.insert(counts.end(), static_cast<std::size_t>(times), count);
    if (counts.size() > kMaxListed) return too_many();
  }
  return counts;
}

}  // namespace

Result<Hosts> hosts_of_file(std::string_view text) {
  GANGRUN_ASSIGN(text, base::without_mark(text));
  Hosts hosts;
  int number = 0;
  for (const std::string& line : base::split(text, '\n')) {
    ++number;
    const auto words = words_of(std::string_view(line).substr(0, line.find('#')));
    if (words.empty()) continue;
    GANGRUN_ASSIGN(job::Host host, host_of_line(words).context(base::format("line {}", number)));
    add_host(std::move(host), hosts);
  }
  if (hosts.empty()) return base::invalid_argument("no host is named");
  return hosts;
}

Result<Hosts> hosts_of_nodelist(std::string_view nodelist, std::string_view tasks_per_node) {
  Hosts hosts;
  GANGRUN_ASSIGN(const auto counts, counts_of(tasks_per_node));
  for (const std::string& entry : entries_of(nodelist)) {
    GANGRUN_ASSIGN(const auto names, expand(entry));
    for (const std::string& name : names) {
      job::Host host{name, std::nullopt};
      if (hosts.size() < counts.size()) host.slots = counts[hosts.size()];
      hosts.push_back(std::move(host));
      if (hosts.size() > kMaxListed) return too_many();
    }
  }
  return hosts;
}

Result<Hosts> hosts_of_names(std::string_view text) {
  Hosts hosts;
  for (const std::string& name : words_of(text)) add_host({name, 1}, hosts);
  if (hosts.empty()) return base::invalid_argument("no host is named");
  return hosts;
}

Result<std::optional<BatchHosts>> hosts_of_batch_system(
    const std::map<std::string, std::string>& environment,
    const std::function<Result<std::string>(const std::string&)>& read_file) {
  const auto value = [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  BatchHosts batch;
  if (const std::string nodelist = value("SLURM_JOB_NODELIST"); !nodelist.empty()) {
    batch.source = "SLURM_JOB_NODELIST";
    GANGRUN_ASSIGN(
        batch.hosts,
        hosts_of_nodelist(nodelist, value("SLURM_TASKS_PER_NODE")).context(batch.source));
  } else if (const std::string file = value("PBS_NODEFILE"); !file.empty()) {
    batch.source = "PBS_NODEFILE";
    GANGRUN_ASSIGN(const std::string text, read_file(file).context(batch.source));
    GANGRUN_ASSIGN(batch.hosts, hosts_of_names(text).context(batch.source));
  } else if (const std::string names = value("LSB_HOSTS"); !names.empty()) {
    batch.source = "LSB_HOSTS";
    GANGRUN_ASSIGN(batch.hosts, hosts_of_names(names).context(batch.source));
  } else {
    return {std::nullopt};
  }
  return {std::move(batch)};
}

}  // namespace gangrun::ssh
