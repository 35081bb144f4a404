#include "yarn/container_end.h"

#include <algorithm>
#include <csignal>
#include <string_view>

#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace gangrun::yarn {

namespace {

constexpr std::size_t kMaxDiagnostics = 400;
constexpr std::size_t kMaxTimeBytes = 40;
// The words of a NodeManager that came back and found a container gone
// (ContainerExecutor.ExitCode.LOST).
constexpr std::int32_t kExitLost = 154;

// The part of the diagnostics that is for people: without the leading "[2026-01-31 12:00:00.000]",
// on one line.
std::string first_words(std::string_view diagnostics) {
  if (diagnostics.starts_with('[')) {
    const std::size_t end = diagnostics.substr(0, kMaxTimeBytes).find(']');
    if (end != std::string_view::npos) diagnostics.remove_prefix(end + 1);
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

// The words of YARN beside the status; empty: none.
std::string said_of(std::string_view diagnostics) {
  std::string words = first_words(diagnostics);
  return words == "N/A" ? std::string() : words;
}

// As a part of a sentence; empty: it says nothing.
std::string yarn_says(const std::string& words) {
  return words.empty() ? std::string() : "YARN says " + base::their_words(words);
}

std::string with_words(std::string_view what, std::string_view diagnostics) {
  const std::string said = yarn_says(said_of(diagnostics));
  return said.empty() ? std::string(what) : base::format("{}; {}", what, said);
}

job::Why taken(std::string_view by, std::string_view diagnostics) {
  return container_lost(with_words(by, diagnostics));
}

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
  job::Why why = {.reason = job::Reason::kAgentEnded};
  if (status > base::kSignalStatus && status < base::kSignalStatus + NSIG) {
    why.signal = status - base::kSignalStatus;
    return why;
  }
  why.detail = words_of_agent(diagnostics);
  // The agent's words say more than the status with which it ended.
  if (why.detail.empty()) why.code = status;
  return why;
}

}  // namespace

job::Why container_lost(std::string detail) {
  return {.reason = job::Reason::kContainerLost, .detail = std::move(detail)};
}

std::optional<job::LastWords> last_words_of(const hadoop::ContainerStatus& status) {
  if (status.exit_status <= 0 || status.exit_status > base::kSignalStatus) return std::nullopt;
  std::string_view said = status.diagnostics;
  const std::string_view mark = "\n{\"";
  const std::size_t line = said.rfind(mark);
  if (line == std::string_view::npos) return std::nullopt;
  said.remove_prefix(line + 1);
  const std::string text(said.substr(0, said.find('\n')));
  job::LastWords words = job::last_words_from(text);
  if (words.why == text) return std::nullopt;
  return words;
}

job::Why explain_end(const hadoop::ContainerStatus& status) {
  const std::string& words = status.diagnostics;
  switch (status.exit_status) {
    case hadoop::kExitInvalid: return taken("its node could not start it", words);
    case hadoop::kExitAborted:
      if (words.find("lost") != std::string::npos) return {.reason = job::Reason::kLostNode};
      return taken("YARN took it back", words);
    case hadoop::kExitDisksFailed:
      return {.reason = job::Reason::kLostNode, .detail = "its disks failed"};
    case hadoop::kExitPreempted:
      return {.reason = job::Reason::kPreempted, .detail = yarn_says(said_of(words))};
    case hadoop::kExitOverVirtualMemory:
    case hadoop::kExitOverPhysicalMemory: {
      const bool is_virtual = status.exit_status == hadoop::kExitOverVirtualMemory;
      return {.reason = job::Reason::kOutOfMemory, .detail = memory_words(words, is_virtual)};
    }
    case hadoop::kExitKilledByMaster: return container_lost("it was stopped");
    case hadoop::kExitKilledByResourceManager: return taken("the ResourceManager killed it", words);
    case hadoop::kExitAfterApplication: return container_lost("the application had ended");
    case hadoop::kExitOverLogLimit:
      return {.reason = job::Reason::kLogLimit, .detail = said_of(words)};
    case kExitLost: return container_lost("it ended while its NodeManager was away");
    default: break;
  }
  if (status.exit_status >= 0) return of_a_process(status.exit_status, words);
  return taken(base::format("YARN ended it with status {}", status.exit_status), words);
}

}  // namespace gangrun::yarn
