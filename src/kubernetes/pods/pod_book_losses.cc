#include <utility>

#include "kubernetes/pods/pod_book.h"
#include "kubernetes/pods/pod_words.h"

// Pods of agents that others take away, and what is told of that before they have ended.
//
// The watch tells of it some time after it has begun, while an agent tells at once that its task
// has failed for want of such a pod. But the failure comes after the deletion, so a list that is
// requested then shows it. It is told when the owner has been looked up, if Kubernetes gives no
// reason for the deletion.
namespace gangrun::kubernetes::pods {

// An agent's peers may break before it has ended, and are not to be the first to be heard of. One
// that has ended so may keep its name for a while, before which its end is not told.
void PodBook::give_notice(PodEntry& entry) {
  if (!options_.has_agents || !entry.has_own_pod() || !entry.slot || is_owner_deleted_) return;
  Run& run = *entry.run;
  const PodFacts& pod = *entry.pod;
  const bool is_lost = run.end && run.end->is_lost;
  if (!is_lost && (run.end || entry.deletion)) return;
  if (!run.is_place_told || run.asked_to_end_at) return;
  const bool is_taken = is_lost || is_being_taken(pod);
  const bool is_sure = is_taken && (loss_of(pod) || !is_owner_questioned());
  if (!is_sure && pod.disruption.empty()) return;
  const Notice notice = is_sure ? Notice::kSurely : Notice::kMaybe;
  if (run.notice >= notice) return;
  run.notice = notice;
  const base::Instant end =
      pod.is_deleting && entry.ends_by ? *entry.ends_by : now_ + options_.timeouts.stop;
  cluster::PreemptionNotice told{entry.task, entry.slot->attempt, end};
  if (is_sure) told.loss = loss_of_agent(entry);
  tell(std::move(told));
}

void PodBook::look_for_losses(base::Instant now) {
  now_ = now;
  look_by_ = now + kLookLimit;
  is_listed_ = false;
  actions_.emplace_back(ListPods{});
}

void PodBook::end_look() {
  if (!look_by_) return;
  const bool is_known = is_listed_ && !is_owner_questioned();
  if (!is_known && now_ < *look_by_) return;
  look_by_.reset();
  tell(cluster::LossesTold{});
}

}  // namespace gangrun::kubernetes::pods
