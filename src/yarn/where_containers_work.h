#pragma once

#include <string>

#include "job/spec.h"

namespace gangrun::yarn {

// The folder in which the job's tasks work, and what becomes of their files there. `outputs` is the
// URL of the folder for what the job names as its outputs.
std::string where_containers_work(const job::JobSpec& spec, const std::string& outputs);

}  // namespace gangrun::yarn
