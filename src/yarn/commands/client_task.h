#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/context.h"
#include "cluster/site.h"
#include "job/spec.h"

namespace gangrun::yarn::commands {

// The type of the task that `ytf-submit --client` starts beside those of the cluster.
inline constexpr std::string_view kClientType = "client";

struct ClientTask {
  std::string job;     // its id
  job::JobSpec spec;   // whose command the client runs too, with the job's variables
  std::string script;  // DTF_TASK_SCRIPT, as it is found from here; empty: there is none
  // Whether the job is ended when the client ends. Else it goes on.
  bool ends_job = false;
};

// Each thread asks in a way of its own.
using FindJob = std::function<base::Result<std::unique_ptr<cluster::Job>>()>;

// Runs client:0 of a job on this terminal, with our own standard input and output: waits for the
// cluster spec, of which it is no part, starts the job's command with the same variables as the
// tasks have, and waits for its end, or for the job's, which ends it. What it ends with says how
// the client did.
client::ExitStatus run_client_task(const ClientTask& task, const FindJob& find_job,
                                   client::Context& context);

}  // namespace gangrun::yarn::commands
