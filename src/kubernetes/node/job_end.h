#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "job/status.h"
#include "kubernetes/records/head.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/record_place.h"

// The last steps of a master, about the records of its job. All run the loop: not from inside
// a callback. `is_over`: nobody waits for it any more.
namespace gangrun::kubernetes::node {

// The verdict goes into the head; what the head has already stays. Waits for as long as that takes.
base::Result<> write_end(const records::RecordPlace& place, records::HeadKeeper& head,
                         const job::JobStatus& status, records::HeadSummary summary,
                         const std::function<bool()>& is_over);
// The records of the tasks' keys are of no use any more.
base::Result<> remove_keys(const records::RecordPlace& place, records::HeadKeeper& head,
                           const std::function<bool()>& is_over);
// Tells the client that waits for this job's first master, and others later, why none can lead it.
// A server that does not take it is told of in the log.
void tell_refusal(const records::RecordPlace& place, const base::Error& why,
                  base::Duration step_limit);
// The kubelet reads a container's last words here; those of its log it takes after a failure only.
inline constexpr const char* kTerminationFile = "/dev/termination-log";
// Leaves there why no master will ever lead the job.
void leave_reason(const std::string& path, const base::Error& why);
// Whether somebody has taken the job away; where the API server does not say, nobody has.
bool is_taken_away(const records::RecordPlace& place, base::Instant deadline);
// For how much longer the head says that what the job has left is kept.
std::chrono::milliseconds time_kept(const records::Head& head, base::WallTime now);
// All of the job goes `after` from now on, whatever becomes of the master's pod: what others put
// into it may not let it end.
base::Result<> limit_owner(const records::RecordPlace& place, const base::Clock& clock,
                           base::Duration after, base::Instant deadline);

}  // namespace gangrun::kubernetes::node
