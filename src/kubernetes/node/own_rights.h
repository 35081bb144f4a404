#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/rights.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

// Asks the API server whether who asks has these rights in the namespace; runs the loop. The error
// names all that are missing (kPermissionDenied), or is that of the questions.
base::Result<> check_own_rights(net::EventLoop& loop, kubernetes::Client& client,
                                const std::string& name_space,
                                const std::vector<pods::Right>& rights, base::Instant deadline);

}  // namespace gangrun::kubernetes::node
