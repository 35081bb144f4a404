#include "yarn/ends.h"

#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/exit_words.h"
#include "base/format.h"
#include "base/signal_status.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "yarn/waiting.h"

namespace gangrun::yarn {

namespace {

using job::Reason;

constexpr std::size_t kMaxDiagnostics = 400;
constexpr std::size_t kMaxTimeBytes = 40;
// The words of a NodeManager that came back and found a container gone
// (ContainerExecutor.ExitCode.LOST).
constexpr std::int32_t kExitLost = 154;

// The text behind the first `mark`.
std::optional<std::string_view> after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + mark.size());
}

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
  return base::shorten(base::trim(line), kMaxDiagnostics);
}

// "Current usage: 70.1 MB of 64 MB physical memory used; 200 MB of 134.4 MB virtual memory used."
std::string memory_words(std::string_view diagnostics, bool is_virtual) {
  const auto usage = after(diagnostics, "Current usage: ");
  if (!usage) return "it used more memory than it had asked for";
  const auto of_virtual = after(*usage, "; ");
  if (is_virtual && of_virtual) {
    return std::string(of_virtual->substr(0, of_virtual->find(" used") + 5));
  }
  return std::string(usage->substr(0, usage->find("; ")));
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

job::Why taken(std::string_view by, std::string_view diagnostics) {
  const std::string said = yarn_says(said_of(diagnostics));
  return container_lost(said.empty() ? std::string(by) : base::format("{}; {}", by, said));
}

// The last line that the agent wrote, as the NodeManager tells the end of its standard error:
// "gangrun-agent NAME: WORDS".
std::string words_of_agent(std::string_view diagnostics) {
  const std::string_view mark = "\ngangrun-agent ";
  const std::size_t line = diagnostics.rfind(mark);
  if (line == std::string_view::npos) return {};
  diagnostics.remove_prefix(line + mark.size());
  diagnostics = diagnostics.substr(0, diagnostics.find('\n'));
  return base::shorten(base::trim(after(diagnostics, ": ").value_or("")), kMaxDiagnostics);
}

job::Why of_a_process(std::int32_t status, std::string_view diagnostics) {
  job::Why why = {.reason = Reason::kAgentEnded};
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
  return {.reason = Reason::kContainerLost, .detail = std::move(detail)};
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
      if (words.find("lost") != std::string::npos) return {.reason = Reason::kLostNode};
      return taken("YARN took it back", words);
    case hadoop::kExitDisksFailed:
      return {.reason = Reason::kLostNode, .detail = "its disks failed"};
    case hadoop::kExitPreempted:
      return {.reason = Reason::kPreempted, .detail = yarn_says(said_of(words))};
    case hadoop::kExitOverVirtualMemory:
    case hadoop::kExitOverPhysicalMemory: {
      const bool is_virtual = status.exit_status == hadoop::kExitOverVirtualMemory;
      return {.reason = Reason::kOutOfMemory, .detail = memory_words(words, is_virtual)};
    }
    case hadoop::kExitKilledByMaster: return container_lost("it was stopped");
    case hadoop::kExitKilledByResourceManager: return taken("the ResourceManager killed it", words);
    case hadoop::kExitAfterApplication: return container_lost("the application had ended");
    case hadoop::kExitOverLogLimit: return {.reason = Reason::kLogLimit, .detail = said_of(words)};
    case kExitLost: return container_lost("it ended while its NodeManager was away");
    default: break;
  }
  if (status.exit_status >= 0) return of_a_process(status.exit_status, words);
  return taken(base::format("YARN ended it with status {}", status.exit_status), words);
}

namespace {

constexpr std::string_view kReasonMark = " [reason: ";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The status with which the master's container ended: "AM Container for appattempt_… exited with
// exitCode: -104".
std::optional<std::int32_t> exit_status_in(std::string_view words) {
  const auto code = after(words, "exitCode: ");
  if (!has(words, "AM Container for ") || !code) return std::nullopt;
  std::int32_t status = 0;
  const auto [end, failure] = std::from_chars(code->data(), code->data() + code->size(), status);
  return failure == std::errc() ? std::optional(status) : std::nullopt;
}

// The words of YARN about the last master's end, without those around them.
std::string master_diagnostics(std::string_view words) {
  words = after(words, "Diagnostics: ").value_or(words);
  return std::string(words.substr(0, words.find("\nFor more detailed output, check")));
}

// " 2 times": how often its masters had failed when YARN gave up ("failed 2 times due to", "failed
// 2 times (global limit =3; local limit is =2) due to"); empty: it did not for that.
std::string times_of(std::string_view words) {
  words = after(words, " failed ").value_or("");
  int times = 0;
  const auto [end, failure] = std::from_chars(words.data(), words.data() + words.size(), times);
  words.remove_prefix(static_cast<std::size_t>(end - words.data()));
  if (failure != std::errc() || !words.starts_with(" times ") || !has(words, "due to ")) return {};
  return base::format(" {} {}", times, times == 1 ? "time" : "times");
}

// Describes masters whose containers have ended with this status: what people can do something
// about stands in YARN's text behind much that they cannot.
std::string words_of_masters(std::int32_t status, const std::string& diagnostics) {
  const std::string said = master_diagnostics(diagnostics);
  const job::Why why = explain_end({.exit_status = status, .diagnostics = said});
  const std::string times = times_of(diagnostics);
  if (why.reason == Reason::kOutOfMemory) {
    return base::format(
        "the job's master was killed{} for its memory: {}; `yarn: {{master: {{memory: …}}}}` gives "
        "it more",
        times, why.detail);
  }
  std::string last;
  if (why.reason == Reason::kAgentEnded && why.detail.empty()) {
    last = base::to_words(base::ProcessEnd{.code = why.code, .signal = why.signal});
  } else if (why.reason == Reason::kAgentEnded) {
    last = "said " + base::their_words(why.detail);
  } else {
    last = job::to_words(why);
  }
  return base::format("the job's master failed{}; the last one {}", times, last);
}

// The end of an application that had no chance to tell it.
Reason reason_of_failure(const std::string& diagnostics) {
  const auto status = exit_status_in(diagnostics);
  if (status) {
    const Reason reason = explain_end({.exit_status = *status, .diagnostics = diagnostics}).reason;
    if (*status == hadoop::kExitInvalid) return Reason::kCouldNotStart;
    const bool is_masters = reason == Reason::kAgentEnded || reason == Reason::kContainerLost;
    return is_masters ? Reason::kMasterLost : reason;
  }
  // Its attempts, by another end: a master that sent no heartbeat, a ResourceManager that
  // restarted.
  if (!times_of(diagnostics).empty()) return Reason::kMasterLost;
  // It never had a master: an unknown queue, limits, tokens that cannot be renewed.
  return words_of_yarn(diagnostics).empty() ? Reason::kUnknown : Reason::kClusterGone;
}

}  // namespace

std::string diagnostics_of(const job::JobStatus& status) {
  if (!status.cause) return {};
  std::string words = job::to_words(*status.cause);
  const Reason reason = status.cause->why.reason;
  if (reason == Reason::kUnknown) return words;
  return base::format("{}{}{}]", words, kReasonMark, job::to_string(reason));
}

job::Cause application_end(const hadoop::ApplicationReport& report) {
  using State = hadoop::ApplicationState;
  const std::string_view words = report.diagnostics;
  const bool was_killed =
      report.state == State::kKilled ||
      (report.state == State::kFinished && report.final_status == hadoop::FinalStatus::kKilled);
  const std::size_t mark = words.rfind(kReasonMark);
  if (report.state == State::kFinished && mark != std::string_view::npos) {
    const std::string_view reason = words.substr(mark + kReasonMark.size());
    return {.why = {.reason = job::reason_or_unknown(reason.substr(0, reason.find(']')))},
            .told = words_of_yarn(std::string(words.substr(0, mark)))};
  }
  const std::string said = words_of_yarn(report.diagnostics);
  // The master of an application that has finished has told its end.
  const bool is_ours = said.empty() || report.state == State::kFinished;
  job::Cause end = {.told = is_ours ? said : "YARN says " + base::their_words(said)};
  if (was_killed) {
    // A queue may limit how long its applications live: then nobody has stopped it.
    end.why.reason = has(words, "exceeded the lifetime") ? Reason::kClusterGone : Reason::kStopped;
  } else if (report.state == State::kFailed) {
    end.why.reason = reason_of_failure(report.diagnostics);
    const auto status = exit_status_in(report.diagnostics);
    if (status && end.why.reason != Reason::kCouldNotStart) {
      end.told = words_of_masters(*status, report.diagnostics);
    }
  }
  return end;
}

bool has_lost_its_master(const hadoop::ApplicationReport& report) {
  if (report.state != hadoop::ApplicationState::kFailed) return false;
  const auto status = exit_status_in(report.diagnostics);
  return status ? *status != hadoop::kExitInvalid : !times_of(report.diagnostics).empty();
}

job::JobStatus status_without_master(job::JobStatus by_yarn,
                                     std::optional<job::JobStatus> by_journal) {
  if (!by_journal) {
    // Then it is as good as one that was never started.
    if (by_yarn.state == job::JobState::kLost) by_yarn.state = job::JobState::kFailed;
    by_yarn.has_run = false;
    return by_yarn;
  }
  job::JobStatus status = *std::move(by_journal);
  if (job::is_final(status.state)) return status;
  const bool is_lost = by_yarn.state == job::JobState::kLost && status.has_run.value_or(true);
  status.state = by_yarn.state == job::JobState::kLost ? job::JobState::kFailed : by_yarn.state;
  if (is_lost) status.state = job::JobState::kLost;
  status.cause = std::move(by_yarn.cause);
  status.ended = std::move(by_yarn.ended);
  status.elapsed_ms = by_yarn.elapsed_ms;
  return status;
}

}  // namespace gangrun::yarn
