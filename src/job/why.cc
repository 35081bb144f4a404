#include "job/why.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/format.h"
#include "base/terminal_text.h"
#include "job/json_text.h"

namespace gangrun::job {

namespace {

using base::format;

// Longer than any host name that DNS permits.
constexpr std::size_t kMaxHostBytes = 1024;

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

base::Json to_json(const Why& why) {
  base::Json json = {{"reason", to_string(why.reason)}};
  if (why.code != 0) json["code"] = why.code;
  if (why.signal != 0) json["signal"] = why.signal;
  if (why.core_dumped) json["core_dumped"] = true;
  if (why.processes != 0) {
    json["process"] = why.process;
    json["processes"] = why.processes;
  }
  if (why.limit.count() != 0) json["limit_ms"] = why.limit.count();
  if (!why.host.empty()) json["host"] = json_text(why.host, kMaxHostBytes);
  if (!why.detail.empty()) json["detail"] = json_text(why.detail, kMaxSentenceBytes);
  if (!why.told.empty()) json["told"] = json_text(why.told, kMaxSentenceBytes);
  return json;
}

base::Result<Why> why_from_json(const base::Json& json) {
  Why why;
  GANGRUN_ASSIGN(const auto reason, base::json_member<std::string>(json, "reason"));
  why.reason = reason_or_unknown(reason);
  GANGRUN_ASSIGN(why.code, base::json_member_or(json, "code", 0));
  GANGRUN_ASSIGN(why.signal, base::json_member_or(json, "signal", 0));
  GANGRUN_ASSIGN(why.core_dumped, base::json_member_or(json, "core_dumped", false));
  GANGRUN_ASSIGN(why.process, base::json_member_or(json, "process", 0));
  GANGRUN_ASSIGN(why.processes, base::json_member_or(json, "processes", 0));
  GANGRUN_ASSIGN(const auto limit, base::json_member_or<std::int64_t>(json, "limit_ms", 0));
  why.limit = std::chrono::milliseconds(limit);
  GANGRUN_ASSIGN(why.host, text_member_or_empty(json, "host", kMaxHostBytes));
  GANGRUN_ASSIGN(why.detail, text_member_or_empty(json, "detail", kMaxSentenceBytes));
  GANGRUN_ASSIGN(why.told, text_member_or_empty(json, "told", kMaxSentenceBytes));
  return why;
}

base::Result<Why> why_member(const base::Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return base::invalid_argument(format("\"{}\" is missing", key));
  base::Result<Why> why = why_from_json(*found);
  if (!why.ok()) return why.error().context(format("\"{}\"", key));
  return why;
}

}  // namespace gangrun::job
