#pragma once

#include "base/result.h"
#include "client/context.h"

namespace gangrun::client {

// Tells the error and gives the status for it.
ExitStatus fail(Context& context, const base::Error& error);
ExitStatus fail(Context& context, const base::Error& error, ExitStatus status);

}  // namespace gangrun::client
