#include "wire/messages.h"

#include <algorithm>

#include "base/format.h"
#include "base/hex.h"
#include "job/cluster_spec_text.h"
#include "job/described.h"
#include "net/packing.h"

namespace gangrun::wire {

namespace {

using base::Json;
using base::Result;
using base::wrong_member;

constexpr std::string_view kTag = "type";

// The only one whose place an outline has.
job::TaskId told_task(const job::ClusterSpec& outline) {
  for (const auto& [type, indexes] : outline.members) {
    const auto own = std::find_if(indexes.begin(), indexes.end(), [](int i) { return i >= 0; });
    if (own != indexes.end()) return {type, *own};
  }
  return {};
}

template <typename Message>
Result<Message> decode(std::string_view frame, std::size_t max_bytes) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(frame, max_bytes));
  return base::tagged_from<Message>(kTag, json);
}

}  // namespace

Result<> Fingerprint::read(const Json& json, std::string_view key, std::string& out) const {
  GANGRUN_TRY(base::JsonOf<std::string>::read(json, key, out));
  if (out.size() == kFingerprintDigits && base::from_hex(out)) return {};
  return wrong_member(key, bounds());
}

std::string Fingerprint::bounds() {
  return base::format("{} hexadecimal digits", kFingerprintDigits);
}

base::Error other_protocol(std::int64_t other) {
  return {base::Code::kFailedPrecondition,
          base::format("the agent speaks protocol {}, the master {}", other, kProtocol)};
}

Result<> ReportMessage::complete() const {
  const bool has_run = state != AgentState::kWaiting;
  if (has_run != (run_attempt > 0)) {
    return wrong_member("run_attempt", "0 exactly when the state is waiting");
  }
  if (has_run && run_attempt < attempt) {
    return wrong_member("run_attempt", "no earlier than the agent's");
  }
  if (has_run != (generation > 0)) {
    return wrong_member("generation", "0 exactly when the state is waiting");
  }
  if (state != AgentState::kRunning && user_pid != 0) {
    return wrong_member("user_pid", "0 unless the state is running");
  }
  if (exit.has_value() != (state == AgentState::kExited)) {
    return wrong_member("exit", "there, with \"ended_ms_ago\", exactly when it has exited");
  }
  return {};
}

Result<> LogMessage::complete() const {
  std::size_t bytes = 0;
  for (const std::string& line : lines) bytes += line.size();
  if (bytes <= kMaxBytesOfLogMessage) return {};
  return wrong_member("lines", base::format("at most {} bytes together", kMaxBytesOfLogMessage));
}

Result<> AskMessage::complete() const {
  return about.is_object() ? Result<>() : wrong_member("about", "an object");
}

Result<> AnswerMessage::complete() const {
  return said.is_object() || said.is_null() ? Result<>()
                                            : wrong_member("said", "an object or null");
}

void StartMessage::write_spec(const StartMessage& message, Json& json) {
  const job::ClusterSpec& spec = message.cluster_spec;
  if (spec.is_outline) {
    json["outline"] = job::outline_to_json(spec, told_task(spec));
  } else {
    json["cluster_spec"] = job::to_json(spec);
  }
}

Result<> StartMessage::read_spec(base::Members& in, StartMessage& message) {
  const Json* const plain = in.take("cluster_spec");
  const Json* const packed = in.take("packed");
  const Json* const outline = in.take("outline");
  const auto forms = {plain, packed, outline};
  if (std::count(forms.begin(), forms.end(), nullptr) != 2) {
    return wrong_member("cluster_spec", "there, or \"packed\" or \"outline\"");
  }
  if (plain != nullptr) {
    GANGRUN_ASSIGN(message.cluster_spec, job::cluster_spec_from_json(*plain));
  } else if (outline != nullptr) {
    GANGRUN_ASSIGN(message.cluster_spec, job::cluster_spec_from_outline(*outline));
  } else {
    std::string bytes;
    GANGRUN_TRY(base::JsonOf<std::string>::read(*packed, "packed", bytes));
    GANGRUN_ASSIGN(const std::string text, net::unpack(bytes, kMaxMasterMessageBytes));
    GANGRUN_ASSIGN(message.cluster_spec, job::cluster_spec_from_text(text, kMaxMasterMessageBytes));
  }
  return {};
}

void StartMessage::make_spec(StartMessage& message) {
  message.cluster_spec = base::JsonOf<job::ClusterSpec>::sample();
}

Result<> StartMessage::complete() const {
  const int generation = cluster_spec.generation;
  if (generation >= kGenerationForm.least && generation <= kGenerationForm.most) return {};
  return wrong_member("generation", kGenerationForm.bounds());
}

std::string rank_key_of(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  return key.substr(0, name) + "rank_" + key.substr(name);
}

std::string encode(const AgentMessage& message) {
  return base::dump_json(base::tagged_json(kTag, message));
}

std::string encode(const MasterMessage& message) {
  return base::dump_json(base::tagged_json(kTag, message));
}

std::string encode_cluster_spec(const job::ClusterSpec& spec) {
  return base::dump_json(job::to_json(spec));
}

Result<AgentMessage> decode_agent_message(std::string_view frame) {
  return decode<AgentMessage>(frame, kMaxAgentMessageBytes);
}

Result<MasterMessage> decode_master_message(std::string_view frame) {
  return decode<MasterMessage>(frame, kMaxMasterMessageBytes);
}

}  // namespace gangrun::wire
