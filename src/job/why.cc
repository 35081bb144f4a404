#include "job/why.h"

#include <string_view>

#include "base/clock.h"
#include "base/format.h"
#include "base/terminal_text.h"

namespace gangrun::job {

namespace {

using base::format;

bool tells_of_process(const Why& why) { return why.code != 0 || why.signal != 0; }

std::string process_words(const Why& why) {
  std::string words = base::to_words({.code = why.code,
                                      .signal = why.signal,
                                      .out_of_memory = why.reason == Reason::kOutOfMemory,
                                      .core_dumped = why.core_dumped});
  if (why.processes > 1) words += format(" (process {} of {})", why.process, why.processes);
  return words;
}

// With the end of the process where one is known.
std::string process_or(const Why& why, std::string_view words) {
  return tells_of_process(why) ? process_words(why) : std::string(words);
}

std::string within(const Why& why, std::string_view what, std::string_view field) {
  return format("{} within {} (timeouts.{})", what, base::to_words(why.limit), field);
}

std::string what_happened(const Why& why) {
  switch (why.reason) {
    case Reason::kUnknown:
    case Reason::kExitStatus:
    case Reason::kSignal: return process_words(why);
    case Reason::kOutOfMemory: return process_or(why, "ran out of memory");
    case Reason::kCouldNotStart:
    case Reason::kImagePull:
    case Reason::kContainerCreate: return "could not be started";
    case Reason::kPortLost: return process_or(why, "lost its port to another program");
    case Reason::kLogLimit: return "was killed for the size of its log files";
    case Reason::kNoProgress: return process_or(why, "made no progress");
    case Reason::kPreempted:
      if (!tells_of_process(why)) return "was preempted";
      return process_words(why) + " after the notice of its preemption";
    case Reason::kEvicted: return "was evicted";
    case Reason::kLostNode: return "was lost with its node";
    case Reason::kContainerLost: return "lost its container";
    case Reason::kNoHeartbeat: return format("sent no heartbeat for {}", base::to_words(why.limit));
    case Reason::kAgentEnded: return "lost its agent, which " + process_or(why, "ended");
    case Reason::kAllocationTimeout: return within(why, "got no place", "allocation");
    case Reason::kRollCallTimeout: return within(why, "was not ready", "roll_call");
    case Reason::kJobTimeout: return within(why, "did not end", "job");
    case Reason::kStopTimeout: return "could not be stopped for the restart";
    case Reason::kStopped: return process_or(why, "was stopped");
    case Reason::kClusterGone: return "lost its cluster";
    case Reason::kApiServer: return "was refused by the API server";
    case Reason::kMasterLost: return "lost its master";
  }
  return process_words(why);
}

}  // namespace

Why why_of(const base::ProcessEnd& end) {
  Why why = {.code = end.code, .signal = end.signal, .core_dumped = end.core_dumped};
  if (end.out_of_memory) {
    why.reason = Reason::kOutOfMemory;
  } else if (end.signal != 0) {
    why.reason = Reason::kSignal;
  } else if (end.code != 0) {
    why.reason = Reason::kExitStatus;
  }
  return why;
}

Why not_begun() { return {.reason = Reason::kStopped, .detail = "it had not begun"}; }

std::string to_words(const Why& why) {
  if (!why.told.empty()) return base::harmless_sentence(why.told);
  std::string words = what_happened(why);
  const bool names_node = why.reason == Reason::kLostNode;
  if (!why.host.empty()) words += format("{}{}", names_node ? " " : " on ", why.host);
  if (!why.detail.empty()) words += format(": {}", why.detail);
  // Hosts, clusters and programs have a word in it.
  return base::harmless_sentence(words);
}

}  // namespace gangrun::job
