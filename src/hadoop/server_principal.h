#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hadoop/rpc_frames.h"
#include "sasl/principal.h"

namespace gangrun::hadoop {

class Configuration;

// The numeric addresses of a host; none where nobody knows it.
using Addresses = std::function<std::vector<std::string>(const std::string& host)>;

// The principal that a server has to prove to be: what it says of itself in `offer`, if that is
// what the configuration expects under `key` ("yarn.resourcemanager.principal") of a server on
// `host`, or what `key`.pattern allows. Else anybody with a key of the realm could pose as it.
// kFailedPrecondition where the configuration expects nothing, kUnauthenticated where it is
// another.
base::Result<sasl::Principal> server_principal(const Configuration& configuration,
                                               std::string_view key, const SaslOffer& offer,
                                               const std::string& host, const Addresses& addresses);

}  // namespace gangrun::hadoop
