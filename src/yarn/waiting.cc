#include "yarn/waiting.h"

#include <algorithm>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "yarn/task_container.h"

namespace gangrun::yarn {

namespace {

constexpr std::size_t kMaxWords = 300;
// The length of "[Sun Jan 31 12:00:00 +0000 2026] ", with room.
constexpr std::size_t kTimeLength = 40;

std::string vcores_words(std::int64_t vcores) {
  return base::format("{} {}", vcores, vcores == 1 ? "vcore" : "vcores");
}

std::string left_words(std::int64_t memory_mib, std::int64_t vcores) {
  return base::format("{} MiB and {} left", std::max<std::int64_t>(memory_mib, 0),
                      vcores_words(std::max<std::int64_t>(vcores, 0)));
}

}  // namespace

std::string resource_words(const hadoop::Resource& resource) {
  std::string text = base::format("{} MiB, {}", resource.memory_mib, vcores_words(resource.vcores));
  for (const auto& [name, value] : resource.others) text += base::format(", {} {}", value, name);
  return text;
}

std::string container_words(const hadoop::Resource& resource,
                            const std::optional<std::string>& label, bool one_per_node) {
  return base::format("{}{}{}", resource_words(resource),
                      label && !label->empty() ? ", label " + *label : "",
                      one_per_node ? ", one on a node" : "");
}

std::string counted_words(const std::map<std::string, int>& counts) {
  std::vector<std::string> parts;
  for (const auto& [text, count] : counts) parts.push_back(base::format("{} of {}", count, text));
  return base::format("{}", base::join(parts, "; "));
}

std::string asked_words(const job::JobSpec& spec) {
  std::map<std::string, int> asked;
  for (const job::TaskSpec& task : spec.tasks) {
    for (int index = 0; index < task.slots(); ++index) {
      const hadoop::Resource resource = resource_of(task.resources_of(index));
      ++asked[container_words(resource, task.label, task.one_per_node)];
    }
  }
  return counted_words(asked);
}

std::set<std::string> labels_of(const job::JobSpec& spec) {
  std::set<std::string> labels;
  for (const job::TaskSpec& task : spec.tasks) {
    if (task.label && !task.label->empty()) labels.insert(*task.label);
  }
  return labels;
}

std::set<std::string> archives_of(const job::JobSpec& spec) {
  std::set<std::string> names;
  for (const job::TaskSpec& task : spec.tasks) {
    for (const auto& [folder, source] : spec.archives_of(task)) {
      names.insert(source.substr(source.rfind('/') + 1));
    }
  }
  return names;
}

std::string unpacking_words(const job::JobSpec& spec) {
  const std::set<std::string> names = archives_of(spec);
  if (names.empty()) return {};
  return base::format("nodes that do not have {} yet fetch and unpack {} before",
                      base::join(names, ", "), names.size() == 1 ? "it" : "them");
}

std::string queue_words(const hadoop::QueueInfo& queue) {
  return base::format("queue {} has {}", queue.name,
                      left_words(queue.available_memory_mib, queue.available_vcores));
}

std::string label_words(const std::string& label, const std::vector<hadoop::NodeReport>& nodes) {
  std::int64_t memory_mib = 0;
  std::int64_t vcores = 0;
  int count = 0;
  for (const hadoop::NodeReport& node : nodes) {
    const auto& labels = node.labels;
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) continue;
    ++count;
    memory_mib += node.capability.memory_mib - node.used.memory_mib;
    vcores += node.capability.vcores - node.used.vcores;
  }
  return base::format("label {} has {} on {} {}", label, left_words(memory_mib, vcores), count,
                      count == 1 ? "node" : "nodes");
}

bool awaits_logs(const hadoop::ApplicationReport& report, base::WallTime now) {
  using Status = hadoop::LogAggregationStatus;
  // Between the end of an application and the first word of a node: a heartbeat or two.
  constexpr std::chrono::seconds kFirstWord{30};
  switch (report.log_aggregation) {
    case Status::kRunning:
    case Status::kRunningWithFailure: return true;
    case Status::kNotStarted:
      return now - base::WallTime(std::chrono::milliseconds(report.finish_time)) < kFirstWord;
    default: return false;
  }
}

std::string words_of_yarn(const std::string& diagnostics) {
  std::string line;
  for (const char c : diagnostics) line += c == '\n' || c == '\t' ? ' ' : c;
  std::string_view words = base::trim(line);
  if (words.starts_with('[') && words.find("] ") < kTimeLength) {
    words.remove_prefix(words.find("] ") + 2);
  }
  words = words.substr(0, words.find("  Last Node "));
  const std::string text(base::trim(words));
  return text == "N/A" ? std::string() : base::shorten(text, kMaxWords);
}

std::string waiting_words(const hadoop::ApplicationReport& report, int ahead_in_queue) {
  using State = hadoop::ApplicationState;
  const std::string words = words_of_yarn(report.diagnostics);
  if (report.state == State::kNew || report.state == State::kNewSaving) {
    return "YARN to record the application";
  }
  if (report.state == State::kRunning)
    return "the master, which has started and does not answer yet";
  std::string sentence = base::format("a container for the master in queue {}", report.queue);
  if (ahead_in_queue > 0) {
    sentence += base::format("; {} {} before this one", ahead_in_queue,
                             ahead_in_queue == 1 ? "application waits" : "applications wait");
  }
  return words.empty() ? sentence
                       : base::format("{}; YARN says {}", sentence, base::their_words(words));
}

}  // namespace gangrun::yarn
