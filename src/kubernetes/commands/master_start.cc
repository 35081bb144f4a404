#include "kubernetes/commands/master_start.h"

#include "base/format.h"
#include "base/result.h"
#include "base/terminal_text.h"
#include "kubernetes/pods/amounts.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/pods/master_names.h"
#include "kubernetes/pods/pod_facts.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Json;

// The one that is not on its way out, where there are more.
const Json* pod_to_come(const std::vector<Json>& pods) {
  const Json* chosen = nullptr;
  for (const Json& pod : pods) {
    if (chosen == nullptr || pods::is_being_deleted(*chosen)) chosen = &pod;
  }
  return chosen;
}

}  // namespace

MasterStart master_start(const records::Head& head, const std::vector<Json>& pods,
                         const std::string& warning) {
  MasterStart start;
  start.leads = head.master > 0 && !head.summary.state.empty();
  if (start.leads) return start;
  start.refusal = head.refusal;
  // One about the job's volume is the file system's.
  start.lacks_right = head.refusal_code == base::to_string(base::Code::kPermissionDenied) &&
                      !head.refusal.starts_with(pods::kJournalField);
  const Json* pod = pod_to_come(pods);
  if (pod == nullptr) {
    start.words = warning.empty()
                      ? "its pod is not there yet"
                      : warning + pods::fields_for_amounts(warning, "kubernetes.master");
    if (pods::amount_refusal(warning) == pods::AmountRefusal::kRange) {
      start.trouble = pods::StartTrouble::kFinal;
    }
    return start;
  }
  const pods::PodFacts facts = pods::pod_facts(*pod, pods::kMasterContainer);
  start.trouble = pods::start_trouble(facts);
  if (!facts.task.has_run) {
    start.words = pods::pending_words(facts, "");
  } else if (facts.task.state == pods::ContainerFacts::State::kRunning) {
    start.words = base::format("its pod {} runs, and has not taken the job yet", facts.name);
  } else {
    // One that ends well before it leads will never do so.
    const bool is_for_good =
        facts.task.state == pods::ContainerFacts::State::kTerminated && facts.task.exit_code == 0;
    if (is_for_good) start.trouble = pods::StartTrouble::kFinal;
    start.words =
        base::format("its container in the pod {} ended with status {}{}", facts.name,
                     facts.task.exit_code, is_for_good ? " for good" : ", and is started again");
    if (!facts.task.message.empty()) {
      start.words += base::format(": {}", base::their_words(facts.task.message));
    }
  }
  return start;
}

}  // namespace gangrun::kubernetes::commands
