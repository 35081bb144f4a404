#include "cluster/kubernetes/pod_words.h"

#include <algorithm>
#include <string_view>

#include "base/exit_words.h"
#include "base/format.h"

namespace gangrun::cluster {

namespace {

using base::format;
using State = ContainerFacts::State;

constexpr int kSignalBase = 128;
constexpr int kLastSignal = 64;

std::string with(std::string sentence, std::string_view words) {
  return words.empty() ? sentence : format("{}: {}", sentence, words);
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
  const int signal = container.exit_code - kSignalBase;
  return signal > 0 && signal <= kLastSignal ? signal : 0;
}

std::string end_words(const ContainerFacts& container) {
  const bool out_of_memory = container.reason == "OOMKilled";
  if (const int signal = signal_of(container); signal > 0) {
    return base::killed_words({.signal = signal, .out_of_memory = out_of_memory});
  }
  return base::exited_words(container.exit_code) + (out_of_memory ? " (out of memory)" : "");
}

job::Reason reason_of_end(const ContainerFacts& container) {
  if (container.reason == "OOMKilled") return job::Reason::kOutOfMemory;
  return signal_of(container) > 0 ? job::Reason::kSignal : job::Reason::kExitStatus;
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
  return with(format("its init container {} {}", init.name, end_words(init)), init.message);
}

bool fails_to_run(const ContainerFacts& container) {
  if (container.state == State::kTerminated) return container.exit_code != 0;
  return container.state == State::kWaiting &&
         (is_config_trouble(container.reason) || container.reason == "CrashLoopBackOff");
}

bool could_not_start(const ContainerFacts& task) {
  return is_one_of(task.reason, {"StartError", "ContainerCannotRun"});
}

}  // namespace

std::string pending_words(const PodFacts& facts, const std::string& warning) {
  if (!facts.is_scheduled()) {
    return facts.unschedulable.empty() ? with("it has no node yet", warning) : facts.unschedulable;
  }
  if (const ContainerFacts* init = failing_init(facts); init != nullptr) return init_words(*init);
  std::string words = container_words(facts.task, "its ");
  if (!words.empty()) return words;
  return with(format("it is being started on {}", facts.node), warning);
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
  const std::string_view why =
      facts.disruption_message.empty() ? facts.message : facts.disruption_message;
  const std::string_view said = facts.message.empty() ? why : facts.message;
  if (facts.disruption == "PreemptionByScheduler" || facts.reason == "Preempted" ||
      facts.reason == "Preempting") {
    return job::Why{with("was preempted by Kubernetes", why), Reason::kPreempted};
  }
  if (facts.reason == "NodeLost" ||
      is_one_of(facts.disruption, {"DeletionByTaintManager", "DeletionByPodGC"})) {
    return job::Why{with(format("was lost with its node {}", facts.node), why), Reason::kLostNode};
  }
  if (facts.reason == "Evicted" || facts.disruption == "EvictionByEvictionAPI") {
    return job::Why{with("was evicted by Kubernetes", said), Reason::kEvicted};
  }
  if (is_one_of(facts.reason, {"Terminated", "NodeShutdown", "Shutdown"})) {
    return job::Why{with(format("was lost as its node {} was shut down", facts.node), said),
                    Reason::kLostNode};
  }
  if (facts.disruption == "TerminationByKubelet")
    return job::Why{with("was evicted by Kubernetes", said), Reason::kEvicted};
  if (!facts.disruption.empty())
    return job::Why{with("was taken from its node", why), Reason::kEvicted};
  if (facts.task.reason == "ContainerStatusUnknown") {
    return job::Why{with(format("was lost by its node {}", facts.node), facts.task.message),
                    Reason::kLostNode};
  }
  // A pod that its node has not even begun with.
  const bool has_begun = facts.task.state != State::kUnknown || !facts.init.empty();
  if (facts.phase == "Failed" && !has_begun && facts.reason != "DeadlineExceeded") {
    return job::Why{with(format("was refused by its node ({})", facts.reason), facts.message),
                    Reason::kContainerLost};
  }
  return std::nullopt;
}

job::ExitReport exit_report(const PodFacts& facts) {
  const ContainerFacts& task = facts.task;
  if (task.state == State::kTerminated && could_not_start(task)) {
    return not_started(job::Reason::kCouldNotStart, task.message);
  }
  if (task.state != State::kTerminated) {
    const ContainerFacts* init = failing_init(facts);
    if (init != nullptr) return not_started(start_reason(facts), init_words(*init));
    return not_started(job::Reason::kCouldNotStart,
                       with(format("its pod ended as {}", facts.phase),
                            facts.message.empty() ? facts.reason : facts.message));
  }
  job::ExitReport report;
  report.signal = signal_of(task);
  report.code = report.signal > 0 ? 0 : task.exit_code;
  report.success = report.signal == 0 && report.code == 0;
  if (!report.success) report.reason = reason_of_end(task);
  report.sentence = end_words(task);
  if (facts.reason == "DeadlineExceeded") report.sentence += ", as its pod's deadline had passed";
  return report;
}

job::ExitReport not_started(job::Reason reason, const std::string& why) {
  job::ExitReport report;
  report.reason = reason;
  report.sentence = with("could not be started", why);
  return report;
}

}  // namespace gangrun::cluster
