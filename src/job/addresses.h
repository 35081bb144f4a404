#pragma once

#include <string>
#include <vector>

#include "job/cluster_spec.h"

namespace gangrun::job {

// "host:port,host:port": the form of the DTF_*_HOSTS that ytf-submit gave its tasks.
std::string comma_separated(const std::vector<Address>& addresses);

}  // namespace gangrun::job
