#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "cluster/kubernetes/manifests.h"
#include "job/spec.h"

// Variables that do not stand in a pod in the clear.
namespace gangrun::cluster {

// Whether a variable of this name holds a password, token, key or the like: "DB_PASSWORD",
// "HF_TOKEN", "AWS_ACCESS_KEY_ID"; not "TOKENIZERS_PARALLELISM".
[[nodiscard]] bool looks_secret(std::string_view name);

// Under which key the job's secret has the variable; none: it is not one of the user's, or does not
// look secret.
std::optional<std::string> secret_key(const job::JobSpec& spec, const job::TaskSpec& task,
                                      const std::string& name);
// With all of them; none where there are none.
std::optional<base::Json> secret_object(const ManifestInput& input, const Owner& owner);

}  // namespace gangrun::cluster
