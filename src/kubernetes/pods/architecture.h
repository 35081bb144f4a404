#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "job/spec.h"

// The processors of nodes, by the words that their label has: "amd64", "arm64".
namespace gangrun::kubernetes::pods {

inline constexpr const char* kArchitectureLabel = "kubernetes.io/arch";

// The architecture of this program.
[[nodiscard]] std::string_view own_architecture();
// The same of a program by its bytes; empty: it is none that agents run on.
[[nodiscard]] std::string_view architecture_of(std::string_view program);

// The one of the agents of all pods of the job: `own` where the pods may go to such nodes, by
// node_selector, or the nodeSelector and required node affinity of `pod`; else the one that they
// ask for. kInvalidArgument: no agent runs there, or task types ask for different ones.
base::Result<std::string> agents_architecture(const job::JobSpec& spec, std::string_view own);

// The end of a message that says that a program is for another processor than its node's; empty:
// it says something else.
[[nodiscard]] std::string words_of_other_processor(std::string_view message);

}  // namespace gangrun::kubernetes::pods
