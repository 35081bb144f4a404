#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "job/cluster_spec.h"

namespace gangrun::job {

// The cluster spec of a text of at most `max_bytes`. As to_json() and
// dump_json() write a spec it is read in one pass, without a document: each agent of a gang reads
// the addresses of all.
base::Result<ClusterSpec> cluster_spec_from_text(std::string_view text, std::size_t max_bytes);

}  // namespace gangrun::job
