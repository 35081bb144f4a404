#pragma once

#include <string>
#include <string_view>

#include "jobfile/place_rules.h"

// The rules for what Kubernetes takes of a job, as far as that can be said without a cluster.
namespace gangrun::kubernetes::pods {

// A job's name or a task type as a part of the names of objects: in lower case, '_' and '.' as '-',
// with "job-" in front where it begins with a digit. "Data_Server" is data-server.
std::string kubernetes_name(std::string_view name);

jobfile::PlaceRules kubernetes_rules();

}  // namespace gangrun::kubernetes::pods
