#pragma once

#include <string>

#include "job/spec.h"

namespace gangrun::cluster {

// Where the job's tasks work, and what becomes of what they write there. `outputs` is the URL of
// the folder for what the job names as its outputs.
std::string where_containers_work(const job::JobSpec& spec, const std::string& outputs);

}  // namespace gangrun::cluster
