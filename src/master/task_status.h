#pragma once

#include <string>
#include <vector>

#include "cluster/tasks.h"
#include "gang/gang.h"
#include "job/status.h"

namespace gangrun::master {

// The task as people see it; `facts` is null where nothing is told of it yet. `port_names` are
// those of its type.
job::TaskStatus status_of(const gang::Task& task, const cluster::TaskFacts* facts,
                          const std::vector<std::string>& port_names);

}  // namespace gangrun::master
