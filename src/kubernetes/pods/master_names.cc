#include "kubernetes/pods/master_names.h"

#include "kubernetes/pods/names.h"

namespace gangrun::kubernetes::pods {

std::string master_secret_name(const ManifestInput& input) { return job_name(input) + "-master"; }

std::string head_name(const ManifestInput& input) { return job_name(input) + "-head"; }

}  // namespace gangrun::kubernetes::pods
