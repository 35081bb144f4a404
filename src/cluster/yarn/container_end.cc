#include "cluster/yarn/container_end.h"

#include <algorithm>
#include <csignal>
#include <string_view>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

constexpr std::size_t kMaxDiagnostics = 400;
constexpr std::int32_t kSignalBase = 128;
// What a NodeManager says that came back and found a container gone
// (ContainerExecutor.ExitCode.LOST).
constexpr std::int32_t kExitLost = 154;

// What of the diagnostics is for people: without the leading "[2026-01-31 12:00:00.000]", on one
// line.
std::string first_words(std::string_view diagnostics) {
  if (diagnostics.starts_with('[')) {
    const std::size_t end = diagnostics.find(']');
    if (end != std::string_view::npos && end < 40) diagnostics.remove_prefix(end + 1);
  }
  std::string line;
  for (const char c : diagnostics) {
    if (c == '\n' && !line.empty()) break;
    if (c != '\n') line += c;
  }
  return base::shorten(std::string(base::trim(line)), kMaxDiagnostics);
}

// "Current usage: 70.1 MB of 64 MB physical memory used; 200 MB of 134.4 MB virtual memory used."
std::string memory_words(std::string_view diagnostics, bool is_virtual) {
  const std::string_view mark = "Current usage: ";
  const std::size_t start = diagnostics.find(mark);
  if (start == std::string_view::npos) return "it used more memory than it had asked for";
  std::string_view usage = diagnostics.substr(start + mark.size());
  const std::size_t separator = usage.find("; ");
  if (is_virtual && separator != std::string_view::npos) {
    usage.remove_prefix(separator + 2);
    return std::string(usage.substr(0, usage.find(" used") + 5));
  }
  return std::string(usage.substr(0, separator));
}

std::string with_words(std::string sentence, std::string_view diagnostics) {
  const std::string words = first_words(diagnostics);
  return words.empty() || words == "N/A" ? sentence : base::format("{}: {}", sentence, words);
}

job::Why taken(std::string sentence) { return {std::move(sentence), job::Reason::kContainerLost}; }

// The last line that the agent wrote, as the NodeManager tells the end of its standard error:
// "gangrun-agent NAME: WORDS".
std::string words_of_agent(std::string_view diagnostics) {
  const std::string_view mark = "\ngangrun-agent ";
  const std::size_t line = diagnostics.rfind(mark);
  if (line == std::string_view::npos) return {};
  diagnostics.remove_prefix(line + mark.size());
  diagnostics = diagnostics.substr(0, diagnostics.find('\n'));
  const std::size_t words = diagnostics.find(": ");
  if (words == std::string_view::npos) return {};
  return base::shorten(std::string(base::trim(diagnostics.substr(words + 2))), kMaxDiagnostics);
}

job::Why of_a_process(std::int32_t status, std::string_view diagnostics) {
  constexpr job::Reason kReason = job::Reason::kAgentEnded;
  if (status == 0) return {"lost its agent, which ended", kReason};
  if (status > kSignalBase && status < kSignalBase + NSIG) {
    return {base::format("lost its agent, which was killed by signal {}", status - kSignalBase),
            kReason};
  }
  const std::string words = words_of_agent(diagnostics);
  if (!words.empty()) return {base::format("lost its agent, which ended: {}", words), kReason};
  return {base::format("lost its agent, which exited with status {}", status), kReason};
}

}  // namespace

job::Why explain_end(const hadoop::ContainerStatus& status) {
  const std::string& words = status.diagnostics;
  switch (status.exit_status) {
    case hadoop::kExitInvalid: return taken(with_words("could not be started by its node", words));
    case hadoop::kExitAborted:
      if (words.find("lost") != std::string::npos) {
        return {"was lost with its node", job::Reason::kLostNode};
      }
      return taken(with_words("had its container taken back by YARN", words));
    case hadoop::kExitDisksFailed:
      return {"was lost: the disks of its node failed", job::Reason::kLostNode};
    case hadoop::kExitPreempted:
      return {"was preempted by YARN's scheduler", job::Reason::kPreempted};
    case hadoop::kExitOverVirtualMemory:
    case hadoop::kExitOverPhysicalMemory: {
      const bool is_virtual = status.exit_status == hadoop::kExitOverVirtualMemory;
      return {base::format("was killed by YARN: {}", memory_words(words, is_virtual)),
              job::Reason::kOutOfMemory};
    }
    case hadoop::kExitKilledByMaster: return taken("was stopped with its container");
    case hadoop::kExitKilledByResourceManager:
      return taken(with_words("was killed by the ResourceManager", words));
    case hadoop::kExitAfterApplication: return taken("was killed after the application's end");
    case hadoop::kExitOverLogLimit:
      return {with_words("was killed by YARN for its log files", words), job::Reason::kLogLimit};
    case kExitLost: return taken("lost its container while its NodeManager was away");
    default: break;
  }
  if (status.exit_status >= 0) return of_a_process(status.exit_status, words);
  return taken(
      with_words(base::format("was ended by YARN with status {}", status.exit_status), words));
}

}  // namespace gangrun::cluster
