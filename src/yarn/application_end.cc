#include "yarn/application_end.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/exit_words.h"
#include "base/format.h"
#include "base/terminal_text.h"
#include "yarn/container_end.h"
#include "yarn/waiting.h"

namespace gangrun::yarn {

namespace {

using job::Reason;

constexpr std::string_view kReasonMark = " [reason: ";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The status with which the master's container ended: "AM Container for appattempt_… exited with
// exitCode: -104".
std::optional<std::int32_t> exit_status_in(std::string_view words) {
  const std::string_view mark = "exitCode: ";
  const std::size_t at = words.find(mark);
  if (!has(words, "AM Container for ") || at == std::string_view::npos) return std::nullopt;
  words.remove_prefix(at + mark.size());
  std::int32_t status = 0;
  const auto [end, failure] = std::from_chars(words.data(), words.data() + words.size(), status);
  return failure == std::errc() ? std::optional(status) : std::nullopt;
}

// The words of YARN about the last master's end, without those around them.
std::string master_diagnostics(std::string_view words) {
  constexpr std::string_view kMark = "Diagnostics: ";
  constexpr std::string_view kEnd = "\nFor more detailed output, check";
  if (const std::size_t at = words.find(kMark); at != std::string_view::npos) {
    words.remove_prefix(at + kMark.size());
  }
  return std::string(words.substr(0, words.find(kEnd)));
}

// " 2 times": how often its masters had failed when YARN gave up ("failed 2 times due to", "failed
// 2 times (global limit =3; local limit is =2) due to"); empty: it did not for that.
std::string times_of(std::string_view words) {
  constexpr std::string_view kFailed = " failed ";
  const std::size_t at = words.find(kFailed);
  if (at == std::string_view::npos) return {};
  words.remove_prefix(at + kFailed.size());
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
  hadoop::ContainerStatus container;
  container.exit_status = status;
  container.diagnostics = said;
  const job::Why why = explain_end(container);
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
    hadoop::ContainerStatus container;
    container.exit_status = *status;
    container.diagnostics = diagnostics;
    const Reason reason = explain_end(container).reason;
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

}  // namespace gangrun::yarn
