#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "job/spec.h"
#include "kubernetes/pods/manifests.h"

// Variables that do not stand in a pod in the clear.
namespace gangrun::kubernetes::pods {

// Whether a variable holds a password, token, key or the like, or an address that may have one in
// it: by its name ("DB_PASSWORD", "HF_TOKEN", "PGPASSFILE", "DATABASE_URL"), or as its value is an
// address with a login. Errs to the safe side: what is none is only not seen in the pod.
[[nodiscard]] bool looks_secret(std::string_view name, std::string_view value);

// The key of the variable in the job's secret; none: it is not one of the user's, or does not look
// secret.
std::optional<std::string> secret_key(const job::JobSpec& spec, const job::TaskSpec& task,
                                      const std::string& name);
// With all of them; none where there are none.
std::optional<base::Json> secret_object(const ManifestInput& input, const Owner& owner);

}  // namespace gangrun::kubernetes::pods
