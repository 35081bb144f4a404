#pragma once

#include <chrono>
#include <cstdint>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/pods/manifests.h"
#include "kubernetes/pods/master_config.h"
#include "kubernetes/pods/owner.h"

// A detached job has its master in a pod, which the Job that owns all of it keeps alive. Pure.
namespace gangrun::kubernetes::pods {

// How long all of a job is kept after its end, for who asks what became of it.
inline constexpr std::chrono::hours kKeptAfterEnd{24};

// The Job with the master's pod as its template. It makes none (parallelism 0) until it is switched
// on, and goes with all that it owns at the end of `lease`. `manifests` has agents.
base::Json master_owner(const Manifests& manifests, std::chrono::seconds lease);
// How long the cluster keeps all of a job from its start on, whatever becomes of its masters: its
// time limit, or a week, and the time that its end takes.
std::chrono::seconds detached_life(const job::JobSpec& spec);
// The merge patch by which the pod is made. The deadline counts from the Job's start.
base::Json switch_on(std::int64_t deadline_seconds);
// The Secret with all that the master must know, by the keys of master_names.h.
base::Result<base::Json> master_secret(const ManifestInput& input, const PodMasterConfig& config,
                                       const Owner& owner);

}  // namespace gangrun::kubernetes::pods
