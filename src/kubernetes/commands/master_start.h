#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "kubernetes/pods/pod_words.h"
#include "kubernetes/records/head.h"

namespace gangrun::kubernetes::commands {

// The start of a job's master, as one look at the cluster shows it. Pure.
struct MasterStart {
  bool leads = false;        // a master has the job
  std::string refusal;       // why it will not begin, in its own words; empty: it may yet
  bool lacks_right = false;  // because of that
  std::string words;         // what it waits for; empty once it leads
  pods::StartTrouble trouble = pods::StartTrouble::kNone;  // of its pod
};

// `pods` are those of the master, `warning` is what the events of their owner say, if nobody may
// make one.
MasterStart master_start(const records::Head& head, const std::vector<base::Json>& pods,
                         const std::string& warning);

}  // namespace gangrun::kubernetes::commands
