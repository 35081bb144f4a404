#include "job/ends.h"

#include <string>
#include <utility>

#include "job/described.h"
#include "job/json_text.h"

namespace gangrun::job {

namespace {

base::Result<Reason> reason_of_flags(const base::Json& json) {
  GANGRUN_ASSIGN(const bool counts, base::json_member<bool>(json, "counts"));
  GANGRUN_ASSIGN(const bool out_of_memory, base::json_member<bool>(json, "out_of_memory"));
  if (out_of_memory) return Reason::kOutOfMemory;
  return counts ? Reason::kAgentEnded : Reason::kContainerLost;
}

base::Result<Reason> reason_told(const base::Json& json) {
  if (json.contains("counts")) return reason_of_flags(json);
  GANGRUN_ASSIGN(const auto reason, base::json_member<std::string>(json, "reason"));
  return reason_or_unknown(reason);
}

}  // namespace

base::Result<std::optional<base::Json>> AgentEnded::renewed(const base::Json& json) {
  if (!json.contains("sentence")) return std::optional<base::Json>();
  GANGRUN_ASSIGN(const Reason reason, reason_told(json));
  GANGRUN_ASSIGN(std::string told, text_member(json, "sentence", kMaxSentenceBytes));
  base::Json now = json;
  for (const char* key : {"sentence", "reason", "counts", "out_of_memory"}) now.erase(key);
  now["why"] = base::to_json(Why{.reason = reason, .told = std::move(told)});
  return std::optional(std::move(now));
}

}  // namespace gangrun::job
