#include "cli/why.h"

#include <map>

#include "base/format.h"
#include "base/strings.h"
#include "client/report.h"
#include "client/text.h"

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

// Why the tasks are known by their addresses: a sentence for each host, with the tasks that it has.
void add_addresses(const job::JobStatus& status, std::vector<std::string>& sentences) {
  std::map<std::string, std::vector<const job::TaskStatus*>> by_address;
  for (const job::TaskStatus& task : status.tasks) {
    const std::size_t colon = task.address.rfind(':');
    if (colon == std::string::npos || task.address_reason.empty()) continue;
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
                                     tasks.size() == 1 ? "is" : "are", client::harmless(address)));
  }
}

std::vector<std::string> reasons(const job::JobStatus& status) {
  std::vector<std::string> sentences = {client::verdict_sentence(status) + "."};
  if (job::is_final(status.state)) {
    if (!status.cause) return sentences;
    sentences.push_back(client::harmless(status.cause->sentence) + ".");
    if (status.cause->reason != job::Reason::kUnknown) {
      sentences.push_back(
          base::format("What to do: gangrun explain {}", job::to_string(status.cause->reason)));
    }
    return sentences;
  }
  if (!status.waiting_for.empty()) {
    sentences.push_back(base::format("It waits for {}.", client::harmless(status.waiting_for)));
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

}  // namespace

std::vector<std::string> why(const job::JobStatus& status) {
  std::vector<std::string> sentences = reasons(status);
  for (const std::string& note : status.notes) sentences.push_back(client::harmless(note) + ".");
  add_addresses(status, sentences);
  return sentences;
}

}  // namespace gangrun::cli
