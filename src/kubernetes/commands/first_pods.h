#pragma once

#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/manifests.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::commands {

// The pods of all tasks as they are when the job begins, with all their variables.
base::Result<std::vector<base::Json>> first_pods(const pods::Manifests& manifests,
                                                 const pods::Owner& owner);

// Has the API server check the job's pods as it would if they were made, strictly, and makes none:
// one of each task type, with the defaults and admission of the cluster. kInvalidArgument: the
// server takes none like it; all other errors: it has not checked it.
base::Result<> try_pods(net::EventLoop& loop, kubernetes::Client& client,
                        const pods::Manifests& manifests, base::Instant deadline);

}  // namespace gangrun::kubernetes::commands
