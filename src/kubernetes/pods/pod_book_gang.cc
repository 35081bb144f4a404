#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_words.h"

// All or nothing (cluster/all_or_nothing.h), and what is waited for. Pods are given back when some
// have a node and no further one has got one for `hold`.
namespace gangrun::kubernetes::pods {

namespace {

constexpr base::Duration kLeastPause = std::chrono::seconds(1);
constexpr base::Duration kMostPause = std::chrono::seconds(10);
constexpr base::Duration kPauseLimit = std::chrono::seconds(60);
// The most that fits in a sentence.
constexpr std::size_t kMaxNames = 4;
constexpr std::size_t kMaxReasons = 3;

}  // namespace

PodBook::Round PodBook::round_of(int generation) const {
  return {.generation = generation,
          .parts = cluster::AllOrNothing({.hold = options_.timeouts.hold,
                                          .is_renewed = true,
                                          .shortest_pause = kLeastPause,
                                          .longest_pause = kMostPause,
                                          .doubles_up_to = kPauseLimit,
                                          .random = options_.random})};
}

bool PodBook::is_of_round(const PodEntry& entry) const {
  return options_.takes_back && !round_.is_complete && entry.run &&
         options_.gang.contains(entry.task) && entry.run->generation == round_.generation;
}

void PodBook::check_round() {
  round_.wake.reset();
  if (!options_.takes_back || round_.is_complete || is_gone_) return;
  std::size_t placed = 0;
  std::size_t wanted = 0;
  for (const auto& [task, entry] : entries_) {
    if (!is_of_round(entry) || entry.run->asked_to_end_at) continue;
    ++wanted;
    const bool has_place = entry.run->end || (entry.run->placed_at && !entry.run->is_taken_back);
    placed += has_place ? 1 : 0;
  }
  if (wanted == 0) return;
  if (placed == wanted) {
    round_ = round_of(round_.generation);
    round_.is_complete = true;
    if (!options_.has_agents) return;
    for (auto& [task, entry] : entries_) settle(entry);
    return;
  }
  round_.parts.on_held(placed, now_);
  const auto limit = round_.parts.give_back_at();
  if (!limit) return;
  if (now_ < *limit || is_silent()) {
    round_.wake = now_ < *limit ? *limit : now_ + std::chrono::seconds(1);
    return;
  }
  take_back(placed, wanted);
}

// Also those without a node: they would get one while the others are not asked for.
void PodBook::take_back(std::size_t placed, std::size_t wanted) {
  const std::string missing = reasons();
  const base::Duration pause = round_.parts.give_back(now_);
  round_.placed = placed;
  round_.wanted = wanted;
  warn(base::format(
      "{} of {} pods got a node and no other got one for {}: all are released and "
      "requested again in {} ({})",
      placed, wanted, base::to_words(options_.timeouts.hold), base::to_words(pause), missing));
  for (auto& [task, entry] : entries_) {
    if (!is_of_round(entry) || entry.run->end || entry.run->asked_to_end_at) continue;
    if (!entry.is_free()) entry.run->is_taken_back = true;
    if (entry.run->log != LogState::kNone) actions_.emplace_back(DropLog{task});
    entry.run->log = LogState::kNone;
    settle(entry);
  }
}

// A run that has had no node for too long. Without one of the gang there is no job.
void PodBook::end_allocation(PodEntry& entry) {
  Run& run = *entry.run;
  // An agent that is not there is the gang's to wait for.
  if (run.end || is_gone_ || options_.has_agents) return;
  if (!is_due(entry, run.asked_at + options_.timeouts.allocation)) return;
  if (options_.gang.contains(entry.task)) {
    return on_gone(base::format("no node for all pods within {} (timeouts.allocation): {}",
                                base::to_words(options_.timeouts.allocation), reasons()),
                   job::Reason::kAllocationTimeout);
  }
  job::ExitReport report;
  report.why = {.reason = job::Reason::kAllocationTimeout,
                .limit = options_.timeouts.allocation,
                .detail = reason_of(entry)};
  end(entry, std::move(report), false);
}

// Why its command does not run yet; empty: it does, or is not asked for.
std::string PodBook::reason_of(const PodEntry& entry) const {
  if (!entry.run || entry.run->end || entry.run->asked_to_end_at) return {};
  if (entry.has_own_pod() && !entry.run->is_taken_back) {
    if (!entry.pod->gate.empty()) return gate_words(*entry.pod, turn_);
    return entry.pod->task.has_run ? "" : pending_words(*entry.pod, entry.warning);
  }
  if (!entry.run->refusal.empty()) return entry.run->refusal;
  if (!entry.run->lacked.empty()) return entry.run->lacked;
  if (entry.pod) return "its last pod is being deleted";
  return is_ready_ && is_listed_ ? "its pod is being created"
                                 : "the job's objects are being created";
}

bool PodBook::waits_at_gate() const {
  return std::ranges::any_of(entries_, [](const auto& each) {
    const PodEntry& entry = each.second;
    return entry.has_own_pod() && !entry.run->end && !entry.run->asked_to_end_at &&
           !entry.pod->gate.empty();
  });
}

std::string PodBook::reasons() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& [task, entry] : entries_) {
    std::string reason = reason_of(entry);
    if (reason.empty()) continue;
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == reason; });
    if (same != groups.end()) {
      same->second.push_back(job::to_string(task));
    } else {
      groups.emplace_back(std::move(reason), std::vector{job::to_string(task)});
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [reason, tasks] : groups) {
    if (sentences.size() == kMaxReasons) {
      sentences.push_back(base::format("{} more reasons", groups.size() - kMaxReasons));
      break;
    }
    sentences.push_back(base::format("{}: {}", base::first_and_more(tasks, kMaxNames), reason));
  }
  return base::format("{}", base::join(sentences, "; "));
}

// The user sees no line and no end meanwhile, and may take the job for dead.
void PodBook::tell_silence() {
  if (!silent_since_ || is_silence_told_ || is_gone_) return;
  const base::Duration silence = now_ - *silent_since_;
  if (silence < kSilenceTold) return;
  is_silence_told_ = true;
  warn(base::format("the API server has not answered for {}: {}; what runs goes on",
                    base::to_words(silence), silence_));
}

void PodBook::on_heard(base::Instant now) {
  if (!silent_since_) return;
  if (std::exchange(is_silence_told_, false)) {
    warn(base::format("the API server answers again, after {}",
                      base::to_words(now - *silent_since_)));
  }
  silent_since_.reset();
  // No node knows yet what was to end meanwhile: its time begins now, and is what was said last.
  for (auto& [task, entry] : entries_) {
    if (!entry.pod || entry.pod->is_deleting || !entry.deletion) continue;
    entry.deletion->again_at = entry.wake = now;
    entry.ends_by.reset();
    entry.force_at.reset();
  }
}

// A task that fails while others of its gang can get no node may fail for want of them.
void PodBook::note_absent(job::Why& why) const {
  if (!options_.takes_back || round_.is_complete) return;
  std::vector<std::string> absent;
  for (const auto& [task, entry] : entries_) {
    if (!is_of_round(entry) || entry.run->end || entry.run->placed_at) continue;
    const bool is_known = !entry.run->refusal.empty() || !entry.run->lacked.empty();
    if (is_known) absent.push_back(base::format("{}: {}", job::to_string(task), reason_of(entry)));
  }
  if (absent.empty()) return;
  why.detail +=
      base::format("{}not all pods of its gang had a node ({})", why.detail.empty() ? "" : "; ",
                   base::first_and_more(absent, kMaxReasons));
}

std::string PodBook::silence(base::Instant now) const {
  if (!silent_since_ || now - *silent_since_ < kSilenceTold) return {};
  return base::format("the API server, which has not answered for {}: {}",
                      base::to_words(now - *silent_since_), silence_);
}

std::string PodBook::waiting_for(base::Instant now) const {
  std::vector<std::string> sentences;
  if (std::string words = silence(now); !words.empty()) sentences.push_back(std::move(words));
  if (const auto again_at = round_.parts.ask_again_at(); again_at && now < *again_at) {
    sentences.push_back(
        base::format("only {} of {} pods got a node: they are requested again in {}", round_.placed,
                     round_.wanted, base::to_words(*again_at - now)));
  }
  if (std::string pending = reasons(); !pending.empty()) sentences.push_back(std::move(pending));
  std::vector<std::string> fetched;
  for (const auto& [task, entry] : entries_) {
    if (entry.run && entry.run->fetch == FetchState::kAsked) {
      fetched.push_back(job::to_string(task));
    }
  }
  if (!fetched.empty()) {
    sentences.push_back(
        base::format("the outputs of {} to be fetched", base::first_and_more(fetched, kMaxNames)));
  }
  return base::format("{}", base::join(sentences, "; "));
}

}  // namespace gangrun::kubernetes::pods
