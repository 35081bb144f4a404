#include "kubernetes/pods/pod_words.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/exit_words.h"
#include "base/format.h"
#include "base/signal_status.h"
#include "base/terminal_text.h"
#include "kubernetes/pods/architecture.h"
#include "kubernetes/pods/kueue.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::format;
using State = ContainerFacts::State;

constexpr int kLastSignal = 64;
constexpr std::size_t kMaxShown = 1000;

// Text that comes from Kubernetes, or from a pod.
std::string said_by(std::string_view words) {
  if (words.empty()) return {};
  return base::their_words(words, kMaxShown) + words_of_other_processor(words);
}

std::string with(std::string sentence, std::string_view words) {
  return words.empty() ? sentence : format("{}: {}", sentence, said_by(words));
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_image_trouble(std::string_view reason) {
  return is_one_of(reason, {"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable",
                            "ImageInspectError", "SignatureValidationFailed"}) ||
         is_one_of(reason, {"InvalidImageName", "ErrImageNeverPull"});
}

bool is_config_trouble(std::string_view reason) {
  return is_one_of(reason,
                   {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"});
}

StartTrouble trouble_of(const ContainerFacts& container) {
  if (container.state != State::kWaiting) return StartTrouble::kNone;
  const std::string_view reason = container.reason;
  if (is_one_of(reason, {"InvalidImageName", "ErrImageNeverPull"})) return StartTrouble::kFinal;
  if (is_image_trouble(reason) || reason == "CrashLoopBackOff") return StartTrouble::kImage;
  return is_config_trouble(reason) ? StartTrouble::kConfig : StartTrouble::kNone;
}

// Why this container waits; empty: for nothing in particular.
std::string container_words(const ContainerFacts& container, std::string_view whose) {
  const auto because = [&](std::string_view what) {
    return with(format("{} ({})", what, container.reason), container.message);
  };
  if (container.state != State::kWaiting) return {};
  if (is_image_trouble(container.reason)) {
    return because(format("{}image {} cannot be pulled", whose, container.image));
  }
  if (is_config_trouble(container.reason)) {
    return because(format("{}container cannot be created", whose));
  }
  if (container.reason == "CrashLoopBackOff") {
    return because(format("{}container keeps failing", whose));
  }
  return {};
}

// Status 128 + n is what a container's runtime says of signal n.
int signal_of(const ContainerFacts& container) {
  if (container.signal > 0) return container.signal;
  const int signal = container.exit_code - base::kSignalStatus;
  return signal > 0 && signal <= kLastSignal ? signal : 0;
}

base::ProcessEnd end_of_process(const ContainerFacts& container) {
  const int signal = signal_of(container);
  return {.code = signal > 0 ? 0 : container.exit_code,
          .signal = signal,
          .out_of_memory = container.reason == "OOMKilled"};
}

// The init container that keeps the others from starting; none: they are no trouble.
const ContainerFacts* failing_init(const PodFacts& facts) {
  for (const ContainerFacts& init : facts.init) {
    if (trouble_of(init) != StartTrouble::kNone) return &init;
    if (init.state == State::kTerminated && init.exit_code != 0) return &init;
  }
  return nullptr;
}

std::string init_words(const ContainerFacts& init) {
  const std::string whose = format("its init container {}: ", init.name);
  if (init.state == State::kWaiting) return container_words(init, whose);
  return with(format("its init container {} {}", init.name, base::to_words(end_of_process(init))),
              init.message);
}

bool fails_to_run(const ContainerFacts& container) {
  if (container.state == State::kTerminated) return container.exit_code != 0;
  return container.state == State::kWaiting &&
         (is_config_trouble(container.reason) || container.reason == "CrashLoopBackOff");
}

std::string unplaced_words(const PodFacts& facts, const std::string& warning) {
  if (!facts.gate.empty()) return gate_words(facts, "");
  if (!facts.unschedulable.empty()) {
    return with("the scheduler finds no node", facts.unschedulable);
  }
  // Whoever serves that name says something of each of its pods.
  const bool is_waited_for = warning.empty() && !facts.is_seen_by_scheduler &&
                             !is_one_of(facts.scheduler, {"", "default-scheduler"});
  if (!is_waited_for) return with("it has no node yet", warning);
  return format(
      "it has no node, as the scheduler that its schedulerName asks for, {}, has not looked at it; "
      "perhaps the cluster has none of this name",
      said_by(facts.scheduler));
}

bool could_not_start(const ContainerFacts& task) {
  return is_one_of(task.reason, {"StartError", "ContainerCannotRun"});
}

}  // namespace

std::string pending_words(const PodFacts& facts, const std::string& warning) {
  if (!facts.is_scheduled()) return unplaced_words(facts, warning);
  if (const ContainerFacts* init = failing_init(facts); init != nullptr) return init_words(*init);
  std::string words = container_words(facts.task, "its ");
  if (!words.empty()) return words;
  return with(format("it is being started on {}", facts.node), warning);
}

std::string gate_words(const PodFacts& facts, const std::string& turn) {
  const std::string words = facts.gate == kKueueGate
                                ? "Kueue has not admitted it"
                                : format("its gate {} is closed", said_by(facts.gate));
  return turn.empty() ? words : format("{}: {}", words, turn);
}

StartTrouble start_trouble(const PodFacts& facts) {
  if (const StartTrouble own = trouble_of(facts.task); own != StartTrouble::kNone) return own;
  const ContainerFacts* init = failing_init(facts);
  return init == nullptr ? StartTrouble::kNone : trouble_of(*init);
}

job::Reason start_reason(const PodFacts& facts) {
  const ContainerFacts* init = failing_init(facts);
  const ContainerFacts& container = init == nullptr ? facts.task : *init;
  if (container.state == State::kWaiting && is_image_trouble(container.reason)) {
    return job::Reason::kImagePull;
  }
  return fails_to_run(container) ? job::Reason::kContainerCreate : job::Reason::kCouldNotStart;
}

std::optional<job::Why> loss_of(const PodFacts& facts) {
  using job::Reason;
  const auto because = [&facts](Reason reason, std::string_view detail) {
    return job::Why{.reason = reason, .host = facts.node, .detail = std::string(detail)};
  };
  const std::string_view why =
      facts.disruption_message.empty() ? facts.message : facts.disruption_message;
  const std::string_view said = facts.message.empty() ? why : facts.message;
  if (facts.disruption == "PreemptionByScheduler" || facts.reason == "Preempted" ||
      facts.reason == "Preempting" ||
      (facts.is_taken_by_kueue && facts.disruption.find("Preempted") != std::string::npos)) {
    return because(Reason::kPreempted, said_by(why));
  }
  if (facts.reason == "NodeLost" ||
      is_one_of(facts.disruption, {"DeletionByTaintManager", "DeletionByPodGC"})) {
    return because(Reason::kLostNode, said_by(why));
  }
  if (facts.reason == "Evicted" || facts.disruption == "EvictionByEvictionAPI") {
    return because(Reason::kEvicted, said_by(said));
  }
  if (is_one_of(facts.reason, {"Terminated", "NodeShutdown", "Shutdown"})) {
    return because(Reason::kLostNode, with("it was shut down", said));
  }
  if (facts.disruption == "TerminationByKubelet") return because(Reason::kEvicted, said_by(said));
  if (!facts.disruption.empty()) return because(Reason::kEvicted, said_by(why));
  if (facts.task.reason == "ContainerStatusUnknown") {
    return because(Reason::kLostNode, with("it lost its container", facts.task.message));
  }
  // A pod that its node has not even begun with.
  const bool has_begun = facts.task.state != State::kUnknown || !facts.init.empty();
  if (facts.phase == "Failed" && !has_begun && facts.reason != "DeadlineExceeded") {
    return because(Reason::kContainerLost,
                   with(format("its node refused it ({})", facts.reason), facts.message));
  }
  return std::nullopt;
}

bool is_being_taken(const PodFacts& facts) {
  return facts.is_deleting || facts.disruption == "TerminationByKubelet";
}

job::Why agent_loss(const PodFacts& facts) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTakers = {{
      {"PreemptionByScheduler", "by the scheduler"},
      {"EvictionByEvictionAPI", "by the eviction API"},
      {"DeletionByTaintManager", "by the taint manager"},
      {"DeletionByPodGC", "by the pod garbage collector"},
      {"TerminationByKubelet", "by its kubelet"},
  }};
  job::Why unexplained{
      .reason = job::Reason::kContainerLost, .host = facts.node, .detail = "somebody deleted it"};
  if (facts.is_node_lost) {
    unexplained.reason = job::Reason::kLostNode;
    unexplained.detail = "the node is not ready, and the agent is silent";
  }
  job::Why why = loss_of(facts).value_or(std::move(unexplained));
  const auto* taker = std::ranges::find(kTakers, facts.disruption,
                                        &std::pair<std::string_view, std::string_view>::first);
  std::string pod = format("pod {}", facts.name);
  if (taker != kTakers.end()) pod += format(", {}", taker->second);
  if (facts.is_taken_by_kueue) pod += ", by Kueue";
  why.detail = why.detail.empty() ? pod : format("{}: {}", pod, why.detail);
  return why;
}

job::ExitReport exit_report(const PodFacts& facts) {
  const ContainerFacts& task = facts.task;
  if (task.state == State::kTerminated && could_not_start(task)) {
    return not_started(job::Reason::kCouldNotStart, said_by(task.message));
  }
  if (task.state != State::kTerminated) {
    const ContainerFacts* init = failing_init(facts);
    if (init != nullptr) return not_started(start_reason(facts), init_words(*init));
    return not_started(job::Reason::kCouldNotStart,
                       with(format("its pod ended as {}", facts.phase),
                            facts.message.empty() ? facts.reason : facts.message));
  }
  job::ExitReport report;
  report.why = job::why_of(end_of_process(task));
  report.success = report.why.signal == 0 && report.why.code == 0;
  // Its own end is a success, even of a container where another process had no memory left.
  if (report.success) report.why.reason = job::Reason::kUnknown;
  if (facts.reason == "DeadlineExceeded") report.why.detail = "its pod's deadline had passed";
  return report;
}

job::Why agent_end(job::Why why, const PodFacts& facts) {
  using job::Reason;
  const bool is_process_end = why.reason == Reason::kUnknown || why.reason == Reason::kSignal ||
                              why.reason == Reason::kExitStatus;
  if (!is_process_end) return why;
  why.reason = Reason::kAgentEnded;
  // The end of its container's log.
  if (why.detail.empty()) why.detail = said_by(facts.task.message);
  return why;
}

job::ExitReport stopped() {
  job::ExitReport report;
  report.why.reason = job::Reason::kStopped;
  return report;
}

job::ExitReport not_started(job::Reason reason, const std::string& detail) {
  job::ExitReport report;
  report.why = {.reason = reason, .detail = detail};
  return report;
}

}  // namespace gangrun::kubernetes::pods
