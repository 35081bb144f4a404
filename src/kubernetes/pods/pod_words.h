#pragma once

#include <optional>
#include <string>

#include "job/ends.h"
#include "job/exit_report.h"
#include "job/reason.h"
#include "kubernetes/pods/pod_facts.h"

namespace gangrun::kubernetes::pods {

// Why the task's command does not run yet: "0/2 nodes are available: 2 Insufficient cpu.", "its
// image x cannot be pulled (ErrImagePull): …". `warning` is what the pod's events tell; empty:
// nothing.
std::string pending_words(const PodFacts& facts, const std::string& warning);
// The same of one that a gate keeps from schedulers; `turn`: what is known of its turn there.
std::string gate_words(const PodFacts& facts, const std::string& turn);

// The trouble that keeps the command from running, as the kubelet sees it.
enum class StartTrouble {
  kNone,
  kImage,   // or an init container that fails again and again: may pass, but rarely does
  kConfig,  // a ConfigMap or Secret is missing: may pass at once
  kFinal,   // never passes
};
StartTrouble start_trouble(const PodFacts& facts);
// Why a command that does not run will not: the image, the container, or unknown causes.
job::Reason start_reason(const PodFacts& facts);

// The reason why a pod was lost by no fault of the command's. None: it was not.
std::optional<job::Why> loss_of(const PodFacts& facts);

// The same of an agent's pod that is being taken away, with the pod's name and who takes it, where
// the API server says so.
job::Why agent_loss(const PodFacts& facts);
// Whether it is being taken away; else it only may be.
[[nodiscard]] bool is_being_taken(const PodFacts& facts);

// How the command ended. Only where its container has terminated, or the pod is over.
job::ExitReport exit_report(const PodFacts& facts);
// The end of an agent whose container ended with `why`.
job::Why agent_end(job::Why why, const PodFacts& facts);
// The report of a command that was stopped, if nobody saw how it ended.
job::ExitReport stopped();
// The report of a command that could not be started.
job::ExitReport not_started(job::Reason reason, const std::string& detail);

}  // namespace gangrun::kubernetes::pods
