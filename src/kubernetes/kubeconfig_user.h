#pragma once

#include "base/result.h"
#include "kubernetes/access.h"
#include "kubernetes/kubeconfig_section.h"

namespace gangrun::kubernetes {

// The identity of a user of a kubeconfig to the server: certificate, login and impersonation of
// `access`. A token counts before a name with a password, these before a plugin.
base::Result<> read_user(const Section& user, const Surroundings& surroundings, Access& access);

}  // namespace gangrun::kubernetes
