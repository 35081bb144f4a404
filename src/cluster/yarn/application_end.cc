#include "cluster/yarn/application_end.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "base/terminal_text.h"
#include "cluster/yarn/container_end.h"
#include "cluster/yarn/waiting.h"

namespace gangrun::cluster {

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

// Of an application that had no chance to tell its own end.
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
  // Its attempts, by another end: a master that was not heard of, a ResourceManager that restarted.
  if (has(diagnostics, " times due to ")) return Reason::kMasterLost;
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
  // Of an application that has finished, its master has said it.
  const bool is_ours = said.empty() || report.state == State::kFinished;
  job::Cause end = {.told = is_ours ? said : "YARN says " + base::their_words(said)};
  if (was_killed) {
    // A queue may limit how long its applications live: then nobody has stopped it.
    end.why.reason = has(words, "exceeded the lifetime") ? Reason::kClusterGone : Reason::kStopped;
  } else if (report.state == State::kFailed) {
    end.why.reason = reason_of_failure(report.diagnostics);
  }
  return end;
}

}  // namespace gangrun::cluster
