#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "job/status.h"
#include "net/client.h"

// What the commands ask of a job's registry. Each blocks until `deadline` at most. Errors are those
// of net::request(), and what the registry answered: kUnauthenticated for a wrong secret, …
namespace gangrun::registry {

base::Result<job::JobStatus> fetch_status(const net::Endpoint& endpoint, const base::Secret& secret,
                                          base::Instant deadline);

// Asks the master to end the job; that it has ended is seen by fetch_status().
base::Result<> request_stop(const net::Endpoint& endpoint, const base::Secret& secret, bool at_once,
                            const std::string& by, base::Instant deadline);

// The cluster spec of this generation or a later one, as soon as it is complete; kDeadlineExceeded
// when that is not before `deadline`.
base::Result<job::ClusterSpec> fetch_cluster_spec(const net::Endpoint& endpoint,
                                                  const base::Secret& secret, int generation,
                                                  base::Instant deadline);

}  // namespace gangrun::registry
