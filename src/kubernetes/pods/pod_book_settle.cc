#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_words.h"

// The steps that follow from what is asked of one task and known of its pod.
//
// settle() takes all of them, in one order, after each piece of news and at each time that an entry
// has set for itself (is_due). First comes what the news means: whether the pod is that of the run
// (claim), whether somebody deletes it (note_deletion), its start, its end, and that it is taken
// away (give_notice). An end is noted once, and stands. Then comes what the run still
// needs: its log is followed to the end, then its outputs are fetched, each with a limit (close);
// only a closed run is told to the gang (conclude), because nothing of it may come after its end.
// Last comes what the cluster is asked to do: to delete a pod that nobody wants, by force once its
// time is over (remove), to look for one that may be there, and to make the next one (create),
// never before the former is surely gone.
//
// A pod that is gone without a reason may be one of many that go with their owner. So such a loss
// is not told before the owner was looked up: a deleted owner is the end of the job, and no task's
// fault.
namespace gangrun::kubernetes::pods {

namespace {

constexpr base::Duration kEventsPause = std::chrono::seconds(10);
// The time between two requests for events, of all pods together: a thousand that wait are not all
// asked about at once.
constexpr base::Duration kEventsSpacing = std::chrono::milliseconds(200);
constexpr base::Duration kOwnerPause = std::chrono::seconds(1);
constexpr base::Duration kSilentPause = std::chrono::seconds(10);

std::string words_of_force(const PodEntry& entry, base::Instant now) {
  if (!entry.ends_by || now >= *entry.ends_by) {
    return base::format("the pod {} did not end on {}: it was deleted by force", entry.name,
                        entry.pod->node);
  }
  return base::format(
      "the pod {} was deleted at once, but {} gives its processes the time to end that they were "
      "given first: up to {} more",
      entry.name, entry.pod->node, base::to_words(*entry.ends_by - now));
}

bool has_ended(const PodFacts& pod) {
  return pod.task.state == ContainerFacts::State::kTerminated || pod.is_over();
}

}  // namespace

// Else it will be, and the entry is settled again then.
bool PodBook::is_due(PodEntry& entry, base::Instant when) const {
  if (now_ >= when) return true;
  lower(entry.wake, when);
  return false;
}

void PodBook::settle(PodEntry& entry) {
  entry.wake.reset();
  claim(entry);
  note_deletion(entry);
  note_start(entry);
  note_end(entry);
  give_notice(entry);
  note_lost_node(entry);
  note_end_of_start(entry);
  let_go(entry);
  follow_log(entry);
  close(entry);
  conclude(entry);
  remove(entry);
  look_for(entry);
  create(entry);
  leave(entry);
}

void PodBook::claim(PodEntry& entry) const {
  if (!entry.run || !entry.pod || !entry.run->uid.empty() || entry.run->end) return;
  const PodFacts& pod = *entry.pod;
  const bool is_ours = pod.attempt == entry.run->attempt && pod.job == options_.job_id &&
                       pod.made_by == options_.master_number;
  if (is_ours && !pod.is_deleting) entry.run->uid = pod.uid;
}

// Somebody who deletes one without a reason may be deleting all, one kind of object after the
// other.
void PodBook::note_deletion(PodEntry& entry) {
  if (!entry.has_own_pod() || !entry.pod->is_deleting || entry.deletion) return;
  if (loss_of(*entry.pod) || (entry.owner_at && !is_due(entry, *entry.owner_at))) return;
  entry.owner_at = now_ + kOwnerPause;
  (void)is_due(entry, *entry.owner_at);
  ask_for_owner();
}

void PodBook::note_start(PodEntry& entry) {
  if (!entry.has_own_pod()) return;
  Run& run = *entry.run;
  const PodFacts& pod = *entry.pod;
  if (pod.is_scheduled() && !run.placed_at) run.placed_at = now_;
  if (!pod.is_scheduled() && !pod.unschedulable.empty()) run.lacked = pending_words(pod, "");
  const bool is_kept = options_.has_agents && entry.slot && run.placed_at && !is_of_round(entry);
  if (is_kept && !std::exchange(run.is_place_told, true)) tell_place(entry, pod.node);
  if (!pod.task.has_run || run.is_taken_back) return;
  if (!options_.has_agents && run.log == LogState::kNone) read_log(entry, true);
  // One that was given back has been told already.
  if (std::exchange(run.is_started, true)) return;
  tell(RunStarted{entry.task, run.attempt, pod.node});
}

void PodBook::tell_place(PodEntry& entry, const std::string& node) {
  base::Json handle = {{"pod", entry.name}};
  // A later master finds the agent by it.
  if (options_.master_number > 0) handle["uid"] = entry.run->uid;
  tell(cluster::AgentAllocated{entry.task, entry.slot->attempt, node, std::move(handle)});
}

void PodBook::note_end(PodEntry& entry) {
  if (!entry.has_own_pod() || entry.run->end || entry.run->is_taken_back) return;
  const Run& run = *entry.run;
  const PodFacts& pod = *entry.pod;
  if (!has_ended(pod)) return note_limits(entry);
  const std::optional<job::Why> loss = loss_of(pod);
  if (run.asked_to_end_at) {
    const bool is_known = pod.task.has_run && pod.task.state == ContainerFacts::State::kTerminated;
    end(entry, is_known ? exit_report(pod) : stopped(), is_known);
  } else if (loss || (pod.is_deleting && !entry.deletion)) {
    lose(entry, loss);
  } else {
    job::ExitReport report = exit_report(pod);
    if (options_.has_agents) report.why = agent_end(report.why, pod);
    if (!report.success && is_of_round(entry)) note_absent(report.why);
    end(entry, std::move(report), true);
  }
}

// A node that the cluster hears nothing of, as little as we of the agent, tells no end. Its pod is
// deleted by force, and its name free, when the agent is dead for sure.
void PodBook::note_lost_node(PodEntry& entry) {
  if (!entry.has_own_pod() || !entry.pod->is_node_lost || !entry.dead_at) return;
  lower(entry.force_at, *entry.dead_at);
  (void)is_due(entry, *entry.force_at);
  const Run& run = *entry.run;
  if (run.end || run.asked_to_end_at || run.is_taken_back) return;
  lose(entry, loss_of_agent(entry));
  entry.run->end->is_with_node = true;
}

// How long its container may take to start.
void PodBook::note_limits(PodEntry& entry) {
  Run& run = *entry.run;
  const PodFacts& pod = *entry.pod;
  if (run.asked_to_end_at || pod.task.has_run) return;
  if (!run.placed_at) return end_allocation(entry);
  const std::string words = pending_words(pod, entry.warning);
  if (is_due(entry, *run.placed_at + options_.timeouts.allocation)) {
    return end(entry,
               not_started(start_reason(pod),
                           base::format("its container did not run within {}: {}",
                                        base::to_words(options_.timeouts.allocation), words)),
               false);
  }
  const StartTrouble trouble = start_trouble(pod);
  if (trouble == StartTrouble::kNone) return;
  if (!run.trouble_at) run.trouble_at = now_;
  base::Duration limit{0};
  if (trouble == StartTrouble::kImage) limit = options_.timeouts.roll_call;
  if (trouble == StartTrouble::kConfig) limit = kConfigLimit;
  if (is_due(entry, *run.trouble_at + limit))
    end(entry, not_started(start_reason(pod), words), false);
}

// If nothing of it is there, time or a stop may end it too.
void PodBook::note_end_of_start(PodEntry& entry) {
  if (!entry.run || entry.run->end || entry.pod) return;
  if (!entry.run->asked_to_end_at) return end_allocation(entry);
  if (entry.is_free()) end(entry, stopped(), false);
}

void PodBook::end(PodEntry& entry, job::ExitReport report, bool is_known) {
  PodRunEnd end{.report = std::move(report), .is_known = is_known};
  end.seen_at = now_;
  end.outputs_by = now_ + kOutputsLimit;
  if (entry.pod) end.finished_at = entry.pod->task.finished_at;
  if (end.finished_at) server_time_.heard(*end.finished_at, now_);
  entry.run->end = std::move(end);
}

job::Why PodBook::loss_of_agent(const PodEntry& entry) {
  job::Why why = agent_loss(*entry.pod);
  // Its node is named before the words then.
  if (entry.run->is_place_told) why.host.clear();
  return why;
}

// None: Kubernetes does not say why it is gone.
void PodBook::lose(PodEntry& entry, const std::optional<job::Why>& loss) {
  job::ExitReport report;
  report.why = loss.value_or(job::Why{.reason = job::Reason::kContainerLost,
                                      .host = entry.pod ? entry.pod->node : std::string(),
                                      .detail = "somebody deleted its pod"});
  if (options_.has_agents && entry.pod) report.why = loss_of_agent(entry);
  end(entry, std::move(report), false);
  entry.run->end->is_lost = true;
  if (!loss) ask_for_owner();
}

// The cluster ends what the deleted owner had: how is of no interest any more.
void PodBook::let_go(PodEntry& entry) {
  if (!is_owner_deleted_ || !entry.slot || !entry.slot->is_stopping) return;
  if (entry.pod) vanish(entry);
  if (!entry.run) return;
  if (!entry.run->end || entry.run->end->is_lost) end(entry, stopped(), false);
  drop_log(entry);
  entry.run->is_closed = true;
}

// Lines that it has not sent are not waited for.
void PodBook::drop_log(PodEntry& entry) {
  if (!entry.run || entry.run->log == LogState::kNone || entry.run->log == LogState::kDone) return;
  actions_.emplace_back(DropLog{entry.task});
  entry.run->log = LogState::kDone;
}

void PodBook::follow_log(PodEntry& entry) {
  if (!entry.run || entry.run->uid.empty()) return;
  Run& run = *entry.run;
  const bool is_there = entry.has_own_pod();
  // The log of a deleted pod is followed to its end: a new reading may come too late.
  const bool is_settled = run.end && is_there && !entry.pod->is_deleting;
  if (run.log == LogState::kFollowed && is_settled) return read_log(entry, false);
  if (run.log != LogState::kBroken) return;
  if (!is_there) {
    run.log = LogState::kDone;
    return;
  }
  const bool is_read_at_once = is_settled && run.log_error.empty();
  if (is_read_at_once || is_due(entry, run.log_at)) read_log(entry, !is_settled);
}

void PodBook::read_log(PodEntry& entry, bool follows) {
  entry.run->log = follows ? LogState::kFollowed : LogState::kFinishing;
  entry.run->log_at = now_;
  actions_.emplace_back(ReadLog{entry.task, entry.run->uid, follows});
}

// A run that has ended is closed when its log and its outputs are here.
void PodBook::close(PodEntry& entry) {
  if (!entry.run || !entry.run->end || entry.run->is_closed) return;
  const bool has_log = log_is_done(entry);
  const bool has_outputs = outputs_are_done(entry);
  entry.run->is_closed = has_log && has_outputs;
}

bool PodBook::log_is_done(PodEntry& entry) {
  Run& run = *entry.run;
  if (run.log == LogState::kNone) return true;
  if (run.log != LogState::kDone) {
    const base::Instant seen = run.end->seen_at;
    const base::Instant limit =
        std::min(std::max(seen, std::min(run.log_at, now_)) + kLogLimit, seen + kLongestLogLimit);
    if (!is_due(entry, limit)) return false;
    drop_log(entry);
    if (run.log_error.empty()) {
      run.log_error = base::format("it did not end within {}", base::to_words(now_ - seen));
    }
  }
  if (!run.log_error.empty()) {
    warn(base::format("the log of {} could not be read to its end: {}", job::to_string(entry.task),
                      std::exchange(run.log_error, {})));
  }
  return true;
}

bool PodBook::outputs_are_done(PodEntry& entry) {
  Run& run = *entry.run;
  const bool has_outputs = options_.with_outputs.contains(entry.task) && run.end->is_known &&
                           job::has_begun(run.end->report.why.reason) && !run.asked_to_end_at;
  if (!has_outputs || run.fetch == FetchState::kDone) return true;
  std::string failed;
  if (!entry.has_own_pod()) {
    failed = "its pod is gone";
  } else if (is_due(entry, run.end->outputs_by)) {
    failed = base::format("it took longer than {}", base::to_words(now_ - run.end->seen_at));
  } else if (run.fetch == FetchState::kNone) {
    run.fetch = FetchState::kAsked;
    actions_.emplace_back(FetchOutputs{entry.task, run.uid});
  }
  if (failed.empty()) return false;
  run.fetch = FetchState::kDone;
  warn_of_outputs(entry.task, failed);
  return true;
}

void PodBook::warn_of_outputs(const job::TaskId& task, const std::string& why) {
  warn(base::format("the outputs of {} could not be fetched: {}", job::to_string(task), why));
}

// By the node's clock it is known to the second only; a line in that second is nearer. But what was
// asked to end must not seem to have failed before, unless it surely has.
base::Instant PodBook::end_of(const Run& run) const {
  const PodRunEnd& end = *run.end;
  if (!end.finished_at) return end.seen_at;
  const base::WallTime next_second = *end.finished_at + std::chrono::seconds(1);
  const base::Instant latest = server_time_.instant_of(next_second, end.seen_at);
  if (run.asked_to_end_at) return latest < *run.asked_to_end_at ? latest : end.seen_at;
  const bool is_near =
      run.last_line && *run.last_line >= *end.finished_at && *run.last_line < next_second;
  return is_near ? server_time_.instant_of(*run.last_line, end.seen_at) : latest;
}

void PodBook::conclude(PodEntry& entry) {
  if (!entry.run || !entry.run->is_closed) return;
  const Run& run = *entry.run;
  const bool is_stopping = entry.slot && entry.slot->is_stopping;
  const bool takes_slot = run.end->is_lost || (options_.has_agents && !is_stopping);
  const bool waits = run.end->is_lost && !run.end->is_with_node;
  if (waits && (!entry.is_free() || is_owner_questioned() || is_owner_deleted_)) return;
  if (takes_slot) {
    if (entry.slot) {
      tell(job::AgentEnded{entry.task, entry.slot->attempt, run.end->report.why, end_of(run)});
    }
    entry.slot.reset();
  } else if (options_.has_agents) {
    // Its slot's end is told when its pod is gone.
  } else if (!is_stopping || run.end->is_known) {
    tell(job::Exited{entry.task, run.attempt, run.end->report, end_of(run)});
  }
  entry.run.reset();
}

std::chrono::seconds PodBook::grace_for(const PodEntry& entry) const {
  // The end of its log is on its node, for as long as the pod is.
  const bool has_log =
      entry.has_own_pod() && entry.run->log != LogState::kNone && entry.run->log != LogState::kDone;
  if (has_ended(*entry.pod) && has_log && entry.deletion) return entry.deletion->grace;
  if (has_ended(*entry.pod) || !entry.pod->is_scheduled()) return std::chrono::seconds(0);
  // Without any, the API server forgets a pod before its processes have ended.
  const std::chrono::seconds least(1);
  const bool is_asked = entry.run && entry.run->asked_to_end_at && entry.grace;
  if (!is_asked) return kTakeBackGrace;
  return std::max(least, std::chrono::ceil<std::chrono::seconds>(*entry.grace));
}

// Somebody has given the agent's run a time to end, which the next one waits for.
bool PodBook::ends_by_others(const PodEntry& entry) const {
  const bool is_asked = entry.run && (entry.run->asked_to_end_at || entry.run->is_taken_back);
  return options_.has_agents && entry.pod->is_deleting && !entry.deletion &&
         !has_ended(*entry.pod) && !is_asked;
}

void PodBook::remove(PodEntry& entry) {
  if (!entry.pod) return;
  const bool is_wanted = entry.has_own_pod() && !entry.run->asked_to_end_at &&
                         !entry.run->is_taken_back && !entry.run->is_closed;
  const bool is_of_earlier_client = !entry.slot && !others_are_released_ && !entry.run;
  const bool may_be_adopted = entry.slot && entry.slot->is_adopted;
  const bool is_kept = is_wanted || is_of_earlier_client || may_be_adopted || ends_by_others(entry);
  if (entry.force_at && is_due(entry, *entry.force_at)) {
    if (is_silent()) {
      entry.force_at = now_ + kSilentPause;
      (void)is_due(entry, *entry.force_at);
      return;
    }
    actions_.emplace_back(DeletePod{entry.task, entry.pod->uid, std::chrono::seconds(0)});
    warn(words_of_force(entry, now_));
    // Its node would go on sending what its processes write meanwhile.
    if (entry.ends_by && now_ < *entry.ends_by) drop_log(entry);
    vanish(entry);
    return settle(entry);
  }
  if (is_kept) return;
  const std::chrono::seconds grace = grace_for(entry);
  if (entry.deletion && grace >= entry.deletion->grace) {
    if (!entry.deletion->again_at || !is_due(entry, *entry.deletion->again_at)) return;
  }
  actions_.emplace_back(DeletePod{entry.task, entry.pod->uid, grace});
  entry.deletion = Deletion{.grace = grace};
  if (!entry.ends_by) entry.ends_by = now_ + grace;
  const bool is_hurried = grace.count() > 0 && now_ + grace < *entry.ends_by;
  const base::Instant limit = now_ + grace + (is_hurried ? kHurriedAllowance : kDeletionAllowance);
  lower(entry.force_at, limit);
  (void)is_due(entry, *entry.force_at);
}

// Makes requests when it is their time.
void PodBook::look_for(PodEntry& entry) {
  if (entry.is_unsure && !entry.is_looked_for && !entry.is_being_made &&
      is_due(entry, entry.look_at)) {
    entry.is_looked_for = true;
    actions_.emplace_back(LookForPod{entry.task});
  }
  const bool is_awaited = entry.has_own_pod() && !entry.run->end && !entry.run->asked_to_end_at &&
                          !entry.pod->task.has_run && entry.pod->unschedulable.empty() &&
                          entry.pod->gate.empty();
  if (!is_awaited || !entry.events_at) return;
  if (!is_due(entry, std::max(*entry.events_at, next_events_at_))) return;
  entry.events_at = now_ + kEventsPause;
  next_events_at_ = now_ + kEventsSpacing;
  actions_.emplace_back(ListEvents{entry.task, entry.pod->uid});
  (void)is_due(entry, *entry.events_at);
}

void PodBook::create(PodEntry& entry) {
  if (!entry.run || !entry.is_free() || !is_ready_ || !is_listed_ || is_gone_) return;
  if (is_owner_questioned()) return;
  Run& run = *entry.run;
  if (run.end || run.asked_to_end_at || !run.uid.empty()) return;
  if (!is_due(entry, run.create_at)) return;
  const auto again_at = round_.parts.ask_again_at();
  if (is_of_round(entry) && again_at && !is_due(entry, *again_at)) return;
  run.is_taken_back = false;
  entry.is_being_made = true;
  actions_.emplace_back(CreatePod{entry.task, run.attempt});
}

void PodBook::leave(PodEntry& entry) {
  if (!entry.slot || !entry.slot->is_stopping || entry.slot->is_adopted) return;
  if (entry.run || !entry.is_free()) return;
  tell(job::AgentEnded{entry.task, entry.slot->attempt, {.reason = job::Reason::kStopped}, now_});
  entry.slot.reset();
}

}  // namespace gangrun::kubernetes::pods
