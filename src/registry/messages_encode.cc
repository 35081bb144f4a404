#include <string>
#include <variant>

#include "base/format.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/strings.h"
#include "registry/messages.h"

// The way from a message to its frame; messages.cc is the way back.
namespace gangrun::registry {

namespace {

using base::Json;

void put_past_exit(Json& json, const PastExit& past) {
  json["exit"] = job::to_json(past.report);
  json["ended_ms_ago"] = past.ago.count();
}

Json write(const ReportMessage& message) {
  Json json = {{"type", "report"},
               {"protocol", kProtocol},
               {"task", job::to_string(message.task)},
               {"attempt", message.attempt},
               {"address", job::to_string(message.address)},
               {"more_ports", message.more_ports},
               {"address_reason", base::shorten(message.address_reason, kMaxReasonBytes)},
               {"pid", message.pid},
               {"state", to_string(message.state)},
               {"run_attempt", message.run_attempt},
               {"generation", message.generation},
               {"user_pid", message.user_pid}};
  if (message.control) {
    json["control_port"] = message.control->port;
    json["control_fingerprint"] = message.control->fingerprint;
  }
  if (message.exit) put_past_exit(json, *message.exit);
  return json;
}

Json write(const StartedMessage& message) {
  return {{"type", "started"},
          {"attempt", message.attempt},
          {"generation", message.generation},
          {"pid", message.pid}};
}

Json write(const ExitedMessage& message) {
  Json json = {
      {"type", "exited"}, {"attempt", message.attempt}, {"generation", message.generation}};
  put_past_exit(json, message.exit);
  return json;
}

Json write(const HeartbeatMessage& message) {
  return {{"type", "heartbeat"},
          {"memory_bytes", message.memory_bytes},
          {"cpu_seconds", message.cpu_seconds},
          {"progress", message.progress}};
}

Json write(const LogMessage& message) {
  Json json = {{"type", "log"},
               {"stream", to_string(message.stream)},
               {"lines", message.lines},
               {"dropped", message.dropped}};
  if (!message.incomplete.empty()) json["incomplete"] = message.incomplete;
  return json;
}

Json write(const PortLostMessage& message) {
  return {{"type", "port_lost"}, {"attempt", message.attempt}, {"generation", message.generation}};
}

Json write(const FiguresMessage& message) {
  return {{"type", "figures"},
          {"attempt", message.attempt},
          {"generation", message.generation},
          {"figures", job::to_json(message.figures)}};
}

Json write(const ResultMessage& message) {
  return {{"type", "result"},
          {"attempt", message.attempt},
          {"generation", message.generation},
          {"offset", message.offset},
          {"size", message.size},
          {"bytes", base::to_hex(message.bytes)}};
}

Json write(const RendezvousMessage& message) {
  Json json = {{"type", "rendezvous"},
               {"attempt", message.attempt},
               {"generation", message.generation},
               {"id", message.id},
               {"action", to_string(message.action)},
               {"key", message.key}};
  if (message.action == RendezvousAction::kPut) json["value"] = base::to_hex(message.value);
  return json;
}

Json write(const WelcomeMessage& message) {
  return {{"type", "welcome"},
          {"heartbeat_ms", message.heartbeat.count()},
          {"master_lost_ms", message.master_lost.count()}};
}

Json write(const AliveMessage&) { return {{"type", "alive"}}; }

// The only one whose place an outline has.
job::TaskId told_task(const job::ClusterSpec& outline) {
  for (const auto& [type, indexes] : outline.members) {
    const auto own = std::find_if(indexes.begin(), indexes.end(), [](int i) { return i >= 0; });
    if (own != indexes.end()) return {type, *own};
  }
  return {};
}

Json write(const StartMessage& message) {
  const job::ClusterSpec& spec = message.cluster_spec;
  Json json = {{"type", "start"}, {"attempt", message.attempt}, {"restarts", message.restarts}};
  if (spec.is_outline) {
    json["outline"] = job::outline_to_json(spec, told_task(spec));
  } else {
    json["cluster_spec"] = job::to_json(spec);
  }
  return json;
}

Json write(const NoticeMessage& message) {
  Json json = {{"type", "notice"}};
  if (message.left) json["left_ms"] = message.left->count();
  return json;
}

Json write(const TokensMessage& message) {
  return {{"type", "tokens"}, {"file", base::to_hex(message.file.reveal())}};
}

Json write(const StopMessage& message) {
  return {{"type", "stop"}, {"grace_ms", message.grace.count()}};
}

Json write(const EndMessage& message) {
  return {{"type", "end"}, {"grace_ms", message.grace.count()}};
}

Json write(const RefusedMessage& message) {
  return {{"type", "refused"},
          {"reason", base::shorten(message.reason, kMaxReasonBytes)},
          {"retry", message.retry}};
}

Json write(const ResultKeptMessage& message) {
  return {{"type", "result_kept"},
          {"attempt", message.attempt},
          {"kept", message.kept},
          {"refused", base::shorten(message.refused, kMaxReasonBytes)}};
}

Json write(const RendezvousAnswerMessage& message) {
  return {{"type", "rendezvous"},
          {"attempt", message.attempt},
          {"id", message.id},
          {"value", base::to_hex(message.value)},
          {"refused", base::shorten(message.refused, kMaxReasonBytes)}};
}

}  // namespace

std::string encode(const AgentMessage& message) {
  return std::visit([](const auto& value) { return base::dump_json(write(value)); }, message);
}

std::string encode(const MasterMessage& message) {
  return std::visit([](const auto& value) { return base::dump_json(write(value)); }, message);
}

std::string encode_cluster_spec(const job::ClusterSpec& spec) {
  return base::dump_json(job::to_json(spec));
}

}  // namespace gangrun::registry
