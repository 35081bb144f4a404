#include "cli/why.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "client/report.h"
#include "client/text.h"
#include "host/local_launch.h"

namespace gangrun::cli {

namespace {

// More tasks than that are counted and not named.
constexpr std::size_t kMaxNamed = 8;

std::string names_in(const std::vector<const job::TaskStatus*>& tasks) {
  return base::first_and_more(
      tasks, kMaxNamed, [](const job::TaskStatus* task) { return job::to_string(task->task); });
}

std::vector<const job::TaskStatus*> tasks_in(const job::JobStatus& status, job::TaskState state,
                                             bool decide) {
  std::vector<const job::TaskStatus*> found;
  for (const job::TaskStatus& task : status.tasks) {
    const bool decides = task.policy == job::Policy::kTracked;
    if (task.state == state && (!decide || decides)) found.push_back(&task);
  }
  return found;
}

// Words of others (Kubernetes' events, say) may have their full stop already.
std::string as_sentence(std::string text) {
  if (!text.ends_with('.')) text += '.';
  return text;
}

// Why the tasks are known by their addresses: a sentence for each host, with the tasks that it has.
// That tasks of one machine find each other by its loopback is never the trouble, unless somebody
// chose it.
void add_addresses(const job::JobStatus& status, std::vector<std::string>& sentences) {
  std::map<std::string, std::vector<const job::TaskStatus*>> by_address;
  for (const job::TaskStatus& task : status.tasks) {
    const std::size_t colon = task.address.rfind(':');
    if (colon == std::string::npos || task.address_reason.empty()) continue;
    if (task.address_reason == host::kDefaultAddressReason) continue;
    by_address[base::format("{}, {}", task.address.substr(0, colon), task.address_reason)]
        .push_back(&task);
  }
  std::size_t named = 0;
  for (const auto& [address, tasks] : by_address) {
    if (named++ == kMaxNamed) {
      sentences.push_back(
          base::format("The tasks have {} more addresses.", by_address.size() - kMaxNamed));
      return;
    }
    sentences.push_back(base::format("{} {} known by the address {}.", names_in(tasks),
                                     tasks.size() == 1 ? "is" : "are",
                                     client::harmless_sentence(address)));
  }
}

// Why it ended, or what it waits for.
std::vector<std::string> reasons(const job::JobStatus& status) {
  std::vector<std::string> sentences = {client::verdict_sentence(status) + "."};
  if (job::is_final(status.state)) {
    if (status.cause)
      sentences.push_back(as_sentence(client::harmless_sentence(job::to_words(*status.cause))));
    return sentences;
  }
  if (!status.waiting_for.empty()) {
    sentences.push_back(as_sentence(
        base::format("It waits for {}", client::harmless_sentence(status.waiting_for))));
  }
  const auto lost = tasks_in(status, job::TaskState::kLost, false);
  if (!lost.empty()) {
    sentences.push_back(base::format(
        "No heartbeat from {}; each is replaced when its lease expires.", names_in(lost)));
  }
  const auto running = tasks_in(status, job::TaskState::kRunning, true);
  if (!running.empty() && status.state == job::JobState::kRunning) {
    sentences.push_back(base::format("Its own work: {} {}.",
                                     running.size() == 1 ? "one task runs," : "these tasks run,",
                                     names_in(running)));
  }
  if (sentences.size() == 1)
    sentences.emplace_back("It is between two steps and waits for nothing.");
  return sentences;
}

// Says where the rest of a task's output is.
std::string output_sentence(const job::JobStatus& status, const job::TaskId& task) {
  const auto has_gap = [&task](const job::TaskStatus& each) {
    return each.task == task && !each.incomplete_log.empty();
  };
  const bool is_whole = std::ranges::none_of(status.tasks, has_gap);
  return base::format("{}: {}", is_whole ? "Full output" : "Output, as far as it was kept",
                      client::logs_command(status));
}

// Further facts, and at the end where to read on.
std::vector<std::string> remarks(const job::JobStatus& status) {
  std::vector<std::string> sentences;
  for (const std::string& note : status.notes)
    sentences.push_back(as_sentence(client::harmless_sentence(note)));
  for (std::string& sentence : client::missing_lines(status, {}))
    sentences.push_back(as_sentence(std::move(sentence)));
  for (std::string& sentence : client::lost_outputs(status))
    sentences.push_back(as_sentence(std::move(sentence)));
  add_addresses(status, sentences);
  if (!job::is_final(status.state) || !status.cause) return sentences;
  if (status.cause->task && status.state == job::JobState::kFailed) {
    sentences.push_back(output_sentence(status, *status.cause->task));
  }
  if (status.cause->why.reason != job::Reason::kUnknown) {
    sentences.push_back(
        base::format("What to do: gangrun explain {}", job::to_string(status.cause->why.reason)));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> why(const job::JobStatus& status) {
  std::vector<std::string> sentences = reasons(status);
  for (std::string& sentence : remarks(status)) sentences.push_back(std::move(sentence));
  return sentences;
}

client::Lines why_lines(const job::JobStatus& status) {
  client::Lines lines;
  for (const std::string& sentence : reasons(status)) lines.emplace_back(sentence);
  if (status.cause && status.state != job::JobState::kSucceeded) {
    const client::Lines evidence = client::evidence_lines(*status.cause);
    lines.insert(lines.end(), evidence.begin(), evidence.end());
  }
  for (const std::string& sentence : remarks(status)) lines.emplace_back(sentence);
  return lines;
}

}  // namespace gangrun::cli
