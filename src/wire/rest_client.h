#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "cluster/question.h"
#include "job/cluster_spec.h"
#include "job/status.h"
#include "net/client.h"
#include "wire/rest_bodies.h"

// The requests of the commands to a job's registry, and of a master to its agents. Each blocks
// until `deadline` at most. Errors are those of net::request(), and what the registry answered:
// kUnauthenticated for a wrong secret, …
namespace gangrun::wire {

base::Result<job::JobStatus> fetch_status(const net::Endpoint& endpoint, const base::Secret& secret,
                                          base::Instant deadline);

// Asks the master to end the job; that it has ended is seen by fetch_status().
base::Result<> request_stop(const net::Endpoint& endpoint, const base::Secret& secret, bool at_once,
                            const std::string& by, base::Instant deadline);

// Asks tasks of the job. `deadline` leaves the tasks the question's limit. kNotFound: the master is
// of a version that takes no questions, but for a notice.
base::Result<cluster::Answer> ask(const net::Endpoint& endpoint, const base::Secret& secret,
                                  const cluster::Question& question, base::Instant deadline);

// The output of all tasks from this line on, as far as the master keeps it; there is none if no new
// line has come by `wait_until`.
base::Result<KeptLines> fetch_lines(const net::Endpoint& endpoint, const base::Secret& secret,
                                    std::int64_t from, base::Instant wait_until,
                                    base::Instant deadline);

// The cluster spec of this generation or a later one, as soon as it is complete; kDeadlineExceeded
// when that is not before `deadline`.
base::Result<job::ClusterSpec> fetch_cluster_spec(const net::Endpoint& endpoint,
                                                  const base::Secret& secret, int generation,
                                                  base::Instant deadline);

// Tells an agent, at its control address, where its master is now: the one with this number, whose
// certificate is the job's as before. kAlreadyExists: the agent knows of a later master.
base::Result<> call_back(const net::Endpoint& agent, const base::Secret& secret,
                         const job::Address& master, int attempt, base::Instant deadline);

// The outputs that the master keeps of this task ("worker-0"); empty: of all. kNotFound: it keeps
// none.
base::Result<OutputList> fetch_outputs(const net::Endpoint& endpoint, const base::Secret& secret,
                                       const std::string& task, base::Instant deadline);
// Bytes of one from `from` on, at most kMaxOutputAnswerBytes; none: its end.
base::Result<std::string> read_output(const net::Endpoint& endpoint, const base::Secret& secret,
                                      const std::string& task, const std::string& name,
                                      std::uint64_t from, base::Instant deadline);
// All of the task are somewhere else now, and go.
base::Result<> remove_outputs(const net::Endpoint& endpoint, const base::Secret& secret,
                              const std::string& task, base::Instant deadline);

}  // namespace gangrun::wire
