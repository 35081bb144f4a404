#include "kubernetes/pods/pod_book.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/pod_words.h"

// The book of what is asked of tasks and what is known of their pods.
namespace gangrun::kubernetes::pods {

namespace {

constexpr base::Duration kFirstPause = std::chrono::seconds(1);
constexpr base::Duration kLookPause = std::chrono::milliseconds(500);
// A service account of a new namespace is made a moment after it.
constexpr base::Duration kNewNamespace = std::chrono::seconds(10);
// Between two looks at the owner: a thousand pods may be deleted at once.
constexpr base::Duration kOwnerSpacing = std::chrono::milliseconds(500);
// As many uids are remembered of those that had a name: news of them may come late.
constexpr std::size_t kMaxDead = 8;

bool is_dead(const PodEntry& entry, const std::string& uid) {
  return std::find(entry.dead.begin(), entry.dead.end(), uid) != entry.dead.end();
}

// Forgets what a run knows of its pod.
void wait_for_another_pod(Run& run) {
  run.uid.clear();
  run.placed_at.reset();
  run.trouble_at.reset();
  run.last_line.reset();
  run.log = LogState::kNone;
  run.is_taken_back = false;
  run.notice = Notice::kNone;
}

}  // namespace

PodBook::PodBook(Options options) : options_(std::move(options)), round_(round_of(0)) {
  for (const auto& [task, name] : options_.names) {
    PodEntry& entry = entries_[task];
    entry.task = task;
    entry.name = name;
    by_name_[name] = &entry;
  }
}

Run PodBook::run_of(PodRun wish) {
  Run run;
  static_cast<PodRun&>(run) = std::move(wish);
  run.asked_at = run.create_at = now_;
  return run;
}

std::optional<PodRun> PodBook::wanted(const job::TaskId& task) const {
  const PodEntry& entry = entries_.at(task);
  if (!entry.run || entry.run->end || entry.run->asked_to_end_at || is_gone_) return std::nullopt;
  return PodRun(*entry.run);
}

void PodBook::start(const job::TaskId& task, int attempt, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  entry.slot = Slot{.attempt = attempt};
  // Without an agent it costs nothing, and is there before its pod.
  if (!options_.has_agents) tell_place(entry, "");
}

void PodBook::adopt(const job::TaskId& task, int attempt, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  entry.slot = Slot{.attempt = attempt, .is_adopted = true};
  if (is_listed_) resolve_adoption(entry);
  settle(entry);
}

void PodBook::adopt_agent(const job::TaskId& task, int attempt, const std::string& uid,
                          base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  entry.slot = Slot{.attempt = attempt, .is_adopted = true, .uid = uid};
  if (is_listed_) resolve_adoption(entry);
  settle(entry);
}

// Its pod is as if this book had made it. Where an agent was adopted, another pod of its name is
// none of its.
void PodBook::resolve_adoption(PodEntry& entry) {
  if (!entry.slot || !std::exchange(entry.slot->is_adopted, false)) return;
  const std::string& uid = entry.slot->uid;
  const bool is_another =
      entry.pod && options_.has_agents &&
      (entry.pod->attempt != entry.slot->attempt || (!uid.empty() && entry.pod->uid != uid));
  if (!entry.pod || is_another) {
    tell(job::AgentEnded{entry.task,
                         entry.slot->attempt,
                         {.reason = job::Reason::kContainerLost, .detail = "its pod is gone"},
                         now_});
    entry.slot.reset();
    return;
  }
  entry.run = run_of({.attempt = entry.pod->attempt, .generation = -1, .environment = {}});
  entry.run->uid = entry.pod->uid;
  entry.run->is_place_told = true;
  if (entry.slot->is_stopping) entry.run->asked_to_end_at = now_;
}

void PodBook::release_others(base::Instant now) {
  now_ = now;
  others_are_released_ = true;
  settle_all();
}

void PodBook::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace,
                   base::Instant now) {
  PodEntry& entry = entries_.at(task);
  if (!entry.slot || entry.slot->attempt != attempt) return;
  entry.slot->is_stopping = true;
  end_run(task, grace, now);
}

void PodBook::run(const job::TaskId& task, PodRun run, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  if (entry.run && entry.run->attempt == run.attempt) {
    // It is there from an earlier client.
    entry.run->generation = run.generation;
  } else {
    if (run.generation != round_.generation) round_ = round_of(run.generation);
    entry.run = run_of(std::move(run));
    entry.grace.reset();
    entry.warning.clear();
  }
  settle(entry);
}

void PodBook::end_run(const job::TaskId& task, std::chrono::milliseconds grace, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  lower(entry.grace, grace);
  if (entry.run && entry.run->end) {
    entry.run->end->outputs_by = std::min(entry.run->end->outputs_by, now + grace);
  } else if (entry.run && !entry.run->asked_to_end_at) {
    entry.run->asked_to_end_at = now;
  }
  settle(entry);
  check_round();
}

void PodBook::on_ready(base::Instant now) {
  now_ = now;
  is_ready_ = true;
  settle_all();
}

void PodBook::on_list(const std::vector<PodFacts>& pods, base::Instant now) {
  now_ = now;
  on_heard(now_);
  is_listed_ = true;
  std::set<std::string> uids;
  for (const PodFacts& pod : pods) {
    const auto found = by_name_.find(pod.name);
    if (found == by_name_.end()) continue;
    uids.insert(pod.uid);
    see(*found->second, pod, true);
  }
  for (auto& [task, entry] : entries_) {
    if (entry.pod && !uids.contains(entry.pod->uid)) {
      // The list may be older than the pod.
      if (entry.is_seen) {
        vanish(entry);
      } else {
        look(entry, base::Duration(0));
      }
    }
    resolve_adoption(entry);
  }
  settle_all();
}

void PodBook::on_change(const PodFacts& pod, bool is_deleted, base::Instant now) {
  now_ = now;
  on_heard(now_);
  const auto found = by_name_.find(pod.name);
  if (found == by_name_.end()) return;
  PodEntry& entry = *found->second;
  see(entry, pod, true);
  if (is_deleted && entry.pod && entry.pod->uid == pod.uid) {
    claim(entry);
    note_start(entry);
    note_end(entry);
    vanish(entry);
  }
  settle(entry);
  check_round();
}

void PodBook::see(PodEntry& entry, const PodFacts& pod, bool by_watch) {
  if (is_dead(entry, pod.uid)) return;
  if (entry.pod && entry.pod->uid != pod.uid) {
    // The watch, which tells in order, has not come to ours yet.
    if (by_watch && !entry.is_seen) return;
    vanish(entry);
  }
  if (!entry.pod) entry.events_at = now_ + std::chrono::seconds(2);
  entry.pod = pod;
  entry.is_seen = entry.is_seen || by_watch;
  entry.is_unsure = false;
  if (pod.is_deleting && !entry.ends_by) entry.ends_by = now_ + pod.deletion_grace;
  if (pod.is_deleting && !entry.force_at) {
    entry.force_at = now_ + pod.deletion_grace + kDeletionAllowance;
  }
}

// Its name is free.
void PodBook::vanish(PodEntry& entry) {
  const bool was_own = entry.has_own_pod();
  entry.dead.push_back(entry.pod->uid);
  if (entry.dead.size() > kMaxDead) entry.dead.erase(entry.dead.begin());
  if (was_own && !entry.run->end) {
    Run& run = *entry.run;
    const std::optional<job::Why> loss = loss_of(*entry.pod);
    if (run.asked_to_end_at) {
      end(entry, stopped(), false);
    } else if (run.is_taken_back) {
      wait_for_another_pod(run);
    } else {
      lose(entry, loss);
    }
  }
  entry.pod.reset();
  entry.is_seen = false;
  entry.deletion.reset();
  entry.owner_at.reset();
  entry.ends_by.reset();
  entry.force_at.reset();
  entry.dead_at.reset();
  entry.events_at.reset();
  entry.warning.clear();
}

void PodBook::on_trouble(const base::Error& error, bool is_final, base::Instant now) {
  now_ = now;
  if (!silent_since_) silent_since_ = now;
  silence_ = error.message;
  if (is_final) on_gone(error.message, job::Reason::kApiServer);
}

void PodBook::on_gone(const std::string& sentence, job::Reason reason) {
  if (std::exchange(is_gone_, true)) return;
  tell(gang::ClusterGone{sentence, reason});
}

void PodBook::ask_for_owner() {
  is_owner_in_doubt_ = true;
  look_at_owner();
}

void PodBook::look_at_owner() {
  if (!is_owner_to_be_read() || now_ < owner_look_at_) return;
  is_owner_in_doubt_ = false;
  is_owner_asked_for_ = true;
  owner_look_at_ = now_ + kOwnerSpacing;
  actions_.emplace_back(LookAtOwner{});
}

void PodBook::on_stranger(base::Instant now) {
  now_ = now;
  ask_for_owner();
}

void PodBook::on_owner_there(base::Instant now) {
  now_ = now;
  is_owner_asked_for_ = false;
  look_at_owner();
  settle_all();
}

void PodBook::on_owner_deleted(const std::string& sentence, base::Instant now) {
  now_ = now;
  is_owner_asked_for_ = is_owner_in_doubt_ = false;
  is_owner_deleted_ = true;
  on_gone(sentence);
  settle_all();
}

void PodBook::on_created(const job::TaskId& task, const base::Result<PodFacts>& made,
                         base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  entry.is_being_made = false;
  if (!made.ok()) {
    refused(entry, made.error());
  } else {
    on_heard(now_);
    Run* run = entry.run ? &*entry.run : nullptr;
    if (run != nullptr) run->refusal.clear();
    const bool is_its = run != nullptr && run->uid.empty() && run->attempt == made->attempt;
    if (is_its && !run->end) run->uid = made->uid;
    const bool was_dead = is_dead(entry, made->uid);
    // The facts from the watch are newer.
    if (!entry.pod) {
      entry.pod = *made;
      entry.events_at = now + std::chrono::seconds(2);
    }
    if (was_dead) vanish(entry);
  }
  settle(entry);
  check_round();
}

void PodBook::refused(PodEntry& entry, const base::Error& error) {
  const bool is_in_question =
      entry.run && entry.run->uid.empty() && !entry.run->end && !entry.run->asked_to_end_at;
  const std::string sentence =
      base::format("the pod {} cannot be created: {}", entry.name, error.message);
  switch (error.code) {
    case base::Code::kAlreadyExists: return look(entry, base::Duration(0));
    case base::Code::kUnavailable:
    case base::Code::kDeadlineExceeded:
      // It may have been made all the same.
      look(entry, kLookPause);
      return is_in_question ? try_again(entry, error) : void();
    case base::Code::kResourceExhausted:
    case base::Code::kFailedPrecondition:
      on_heard(now_);
      return is_in_question ? try_again(entry, error) : void();
    case base::Code::kPermissionDenied:
      if (is_in_question && now_ < entry.run->asked_at + kNewNamespace &&
          error.message.find("looking up service account") != std::string::npos) {
        return try_again(entry, error);
      }
      [[fallthrough]];
    default: return is_in_question ? on_gone(sentence, job::Reason::kApiServer) : void();
  }
}

void PodBook::try_again(PodEntry& entry, const base::Error& error) {
  Run& run = *entry.run;
  run.refusal = error.message;
  run.create_at = now_ + run.pause.next();
}

void PodBook::look(PodEntry& entry, base::Duration pause) {
  entry.is_unsure = true;
  entry.look_at = now_ + pause;
}

void PodBook::on_looked_for(const job::TaskId& task,
                            const base::Result<std::optional<PodFacts>>& found, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  // The watch may have been quicker.
  if (!std::exchange(entry.is_looked_for, false) || !entry.is_unsure) return;
  if (!found.ok()) {
    look(entry, kLookPause);
  } else if (!*found) {
    on_heard(now_);
    entry.is_unsure = false;
    if (entry.pod) vanish(entry);
  } else if ((*found)->job != options_.job_id) {
    entry.is_unsure = false;
    on_gone(base::format("the pod {} does not belong to this job: its name is taken", entry.name));
  } else {
    const PodFacts& pod = **found;
    // One that was taken for gone still has the name.
    if (is_dead(entry, pod.uid)) {
      actions_.emplace_back(DeletePod{task, pod.uid, std::chrono::seconds(0)});
      look(entry, kLookPause);
    } else {
      see(entry, pod, false);
    }
  }
  settle(entry);
  check_round();
}

void PodBook::on_deleted(const job::TaskId& task, const std::string& uid,
                         const base::Result<>& deleted, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  const bool is_answered = deleted.ok() || deleted.error().code == base::Code::kNotFound ||
                           deleted.error().code == base::Code::kFailedPrecondition;
  if (is_answered) on_heard(now_);
  if (!is_answered && is_dead(entry, uid) &&
      deleted.error().code != base::Code::kPermissionDenied) {
    // By force: nobody else asks for it again.
    actions_.emplace_back(DeletePod{task, uid, std::chrono::seconds(0)});
  }
  if (!entry.pod || entry.pod->uid != uid) return;
  if (is_answered) {
    // No such pod, or another one has the name now.
    if (!deleted.ok()) vanish(entry);
  } else if (entry.deletion) {
    entry.deletion->again_at = now + kFirstPause;
    const bool lacks_right = deleted.error().code == base::Code::kPermissionDenied;
    if (lacks_right && !std::exchange(entry.was_refused_deletion, true)) {
      warn(base::format("the pod {} cannot be deleted: {}", entry.name, deleted.error().message));
    }
  }
  settle(entry);
}

void PodBook::on_events(const job::TaskId& task, const std::string& uid, std::string warning) {
  PodEntry& entry = entries_.at(task);
  if (entry.pod && entry.pod->uid == uid) entry.warning = std::move(warning);
}

void PodBook::on_line(const job::TaskId& task, const std::string& uid,
                      std::optional<base::WallTime> time, base::Instant now) {
  PodEntry& entry = entries_.at(task);
  if (time) server_time_.heard(*time, now);
  if (!entry.run || entry.run->uid != uid) return;
  entry.run->log_at = now;
  entry.run->log_pause.reset();
  if (time) entry.run->last_line = time;
}

void PodBook::on_log_ended(const job::TaskId& task, const std::string& uid,
                           const base::Result<>& ended, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  if (!entry.run || entry.run->uid != uid) return;
  Run& run = *entry.run;
  if (run.log != LogState::kFollowed && run.log != LogState::kFinishing) return;
  const bool is_whole = ended.ok() || ended.error().code == base::Code::kNotFound;
  run.log_error = is_whole ? "" : ended.error().message;
  const bool is_last =
      run.log == LogState::kFinishing || !entry.has_own_pod() || entry.pod->is_deleting;
  run.log = is_whole && is_last ? LogState::kDone : LogState::kBroken;
  // A node may be able to follow few logs at a time; how they end is read at once.
  if (run.end) run.log_pause.reset();
  run.log_at = now + run.log_pause.next();
  settle(entry);
}

void PodBook::on_outputs(const job::TaskId& task, const std::string& uid,
                         const base::Result<>& fetched, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  if (!entry.run || entry.run->uid != uid || entry.run->fetch != FetchState::kAsked) return;
  entry.run->fetch = FetchState::kDone;
  if (!fetched.ok()) warn_of_outputs(task, fetched.error().message);
  settle(entry);
}

void PodBook::on_agent_silent(const job::TaskId& task, base::Instant dead_at, base::Instant now) {
  now_ = now;
  PodEntry& entry = entries_.at(task);
  if (!entry.dead_at) entry.dead_at = dead_at;
  settle(entry);
}

void PodBook::on_agent_heard(const job::TaskId& task, base::Instant now) {
  now_ = now;
  entries_.at(task).dead_at.reset();
}

void PodBook::on_time(base::Instant now) {
  now_ = now;
  look_at_owner();
  tell_silence();
  settle_all();
}

void PodBook::settle_all() {
  for (auto& [task, entry] : entries_) settle(entry);
  check_round();
  end_look();
}

std::optional<base::Instant> PodBook::next_deadline() const {
  std::optional<base::Instant> next = round_.wake;
  if (silent_since_ && !is_silence_told_ && !is_gone_) {
    lower(next, *silent_since_ + kSilenceTold);
  }
  if (is_owner_to_be_read()) lower(next, owner_look_at_);
  if (look_by_) lower(next, *look_by_);
  for (const auto& [task, entry] : entries_) {
    if (entry.wake) lower(next, *entry.wake);
  }
  return next;
}

std::vector<PodAction> PodBook::take_actions() { return std::exchange(actions_, {}); }

std::vector<job::TaskId> PodBook::running() const {
  std::vector<job::TaskId> tasks;
  for (const auto& [task, entry] : entries_) {
    if (!entry.has_own_pod() || !entry.run->is_started || entry.run->asked_to_end_at) continue;
    const PodFacts& pod = *entry.pod;
    const bool runs = pod.task.state == ContainerFacts::State::kRunning;
    if (runs && !pod.is_deleting) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace gangrun::kubernetes::pods
