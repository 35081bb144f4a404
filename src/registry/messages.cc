#include "registry/messages.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/strings.h"
#include "job/cluster_spec_text.h"
#include "net/packing.h"

namespace gangrun::registry {

namespace {

using base::Json;
using base::Result;
using std::chrono::milliseconds;

constexpr std::size_t kMaxShownBytes = 80;  // of a wrong value in an error
constexpr std::int64_t kMaxPid = std::int64_t{1} << 22U;

base::Error wrong(std::string_view type, std::string_view key, std::string_view allowed) {
  return base::invalid_argument(base::format("{}: \"{}\" must be {}", type, key, allowed));
}

// Reads the members of one message and remembers its type for the errors.
class Reader {
 public:
  Reader(const Json& json, std::string_view type) : json_(json), type_(type) {}

  Result<> only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : json_.items()) {
      if (key == "type" || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      return base::invalid_argument(
          base::format("{}: unknown member \"{}\"", type_, base::shorten(key, kMaxShownBytes)));
    }
    return {};
  }

  template <typename T>
  Result<T> get(std::string_view key) const {
    return base::json_member<T>(json_, key).context(type_);
  }

  Result<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most) const {
    GANGRUN_ASSIGN(const auto value, get<std::int64_t>(key));
    if (value < least || value > most) {
      return wrong(type_, key, base::format("from {} to {}", least, most));
    }
    return value;
  }

  Result<int> attempt() const {
    GANGRUN_ASSIGN(const auto value, integer("attempt", 1, kMaxAttempt));
    return static_cast<int>(value);
  }

  Result<int> generation(int least) const {
    GANGRUN_ASSIGN(const auto value, integer("generation", least, kMaxGeneration));
    return static_cast<int>(value);
  }

  Result<milliseconds> duration(std::string_view key, milliseconds most) const {
    GANGRUN_ASSIGN(const auto value, integer(key, 0, most.count()));
    return milliseconds(value);
  }

  Result<std::string> text(std::string_view key, std::size_t max_bytes) const {
    GANGRUN_ASSIGN(auto value, get<std::string>(key));
    if (value.size() > max_bytes) {
      return wrong(type_, key, base::format("at most {} bytes long", max_bytes));
    }
    return value;
  }

  // Any bytes, written in hexadecimal digits.
  Result<std::string> bytes(std::string_view key, std::size_t max_bytes) const {
    GANGRUN_ASSIGN(const auto digits, text(key, max_bytes * 2));
    auto value = base::from_hex(digits);
    if (!value) return wrong(type_, key, "pairs of hexadecimal digits");
    return *std::move(value);
  }

  [[nodiscard]] bool has(std::string_view key) const { return json_.contains(key); }
  [[nodiscard]] const Json& member(std::string_view key) const { return json_.at(key); }
  [[nodiscard]] std::string_view type() const { return type_; }

 private:
  const Json& json_;
  std::string_view type_;
};

Result<PastExit> read_past_exit(const Reader& in) {
  if (!in.has("exit")) return wrong(in.type(), "exit", "there");
  auto report = job::exit_report_from_json(in.member("exit")).context(in.type());
  if (!report.ok()) return std::move(report).error();
  GANGRUN_ASSIGN(const milliseconds ago, in.duration("ended_ms_ago", kMaxEndedAgo));
  return PastExit{*std::move(report), ago};
}

Result<AgentState> read_state(const Reader& in) {
  GANGRUN_ASSIGN(const std::string text, in.text("state", kMaxShownBytes));
  for (const auto state :
       {AgentState::kWaiting, AgentState::kStarting, AgentState::kRunning, AgentState::kExited}) {
    if (text == to_string(state)) return state;
  }
  return wrong(in.type(), "state", "waiting, starting, running or exited");
}

// Some members are there, or not zero, in some states only.
Result<> check_members_fit(const Reader& in, const ReportMessage& out) {
  const bool has_run = out.state != AgentState::kWaiting;
  if (has_run != (out.run_attempt > 0)) {
    return wrong(in.type(), "run_attempt", "0 exactly when the state is waiting");
  }
  if (has_run && out.run_attempt < out.attempt) {
    return wrong(in.type(), "run_attempt", "no earlier than the agent's");
  }
  if (has_run != (out.generation > 0)) {
    return wrong(in.type(), "generation", "0 exactly when the state is waiting");
  }
  if (out.state != AgentState::kRunning && out.user_pid != 0) {
    return wrong(in.type(), "user_pid", "0 unless the state is running");
  }
  const bool exited = out.state == AgentState::kExited;
  if (in.has("exit") != exited || in.has("ended_ms_ago") != exited) {
    return wrong(in.type(), "exit", "there, with \"ended_ms_ago\", exactly when it has exited");
  }
  return {};
}

Result<std::vector<std::uint16_t>> read_more_ports(const Reader& in) {
  GANGRUN_ASSIGN(auto ports, in.get<std::vector<std::uint16_t>>("more_ports"));
  const bool valid =
      ports.size() <= kMaxMorePorts && std::find(ports.begin(), ports.end(), 0) == ports.end();
  if (valid) return ports;
  return wrong(in.type(), "more_ports",
               base::format("at most {} ports, none of them 0", kMaxMorePorts));
}

// Both members or none.
Result<std::optional<ControlAddress>> read_control(const Reader& in) {
  if (!in.has("control_port") && !in.has("control_fingerprint")) return {std::nullopt};
  ControlAddress out;
  GANGRUN_ASSIGN(const std::int64_t port, in.integer("control_port", 1, 65535));
  out.port = static_cast<std::uint16_t>(port);
  GANGRUN_ASSIGN(out.fingerprint, in.text("control_fingerprint", kFingerprintDigits));
  if (out.fingerprint.size() != kFingerprintDigits || !base::from_hex(out.fingerprint)) {
    return wrong(in.type(), "control_fingerprint",
                 base::format("{} hexadecimal digits", kFingerprintDigits));
  }
  return {std::move(out)};
}

// Who reports, and where it is reached.
Result<> read_sender(const Reader& in, ReportMessage& out) {
  GANGRUN_ASSIGN(const std::string task, in.text("task", kMaxShownBytes));
  GANGRUN_ASSIGN(out.task, job::parse_task_id(task));
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(const std::string address, in.get<std::string>("address"));
  GANGRUN_ASSIGN(out.address, job::parse_address(address));
  GANGRUN_ASSIGN(out.more_ports, read_more_ports(in));
  GANGRUN_ASSIGN(out.address_reason, in.text("address_reason", kMaxReasonBytes));
  GANGRUN_ASSIGN(out.pid, in.integer("pid", 0, kMaxPid));
  GANGRUN_ASSIGN(out.control, read_control(in));
  return {};
}

Result<AgentMessage> read_report(const Reader& in) {
  // The version comes first: the members of another version may have any form.
  GANGRUN_ASSIGN(const int protocol, in.get<int>("protocol"));
  if (protocol != kProtocol) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("the agent speaks protocol {}, the master {}", protocol, kProtocol)};
  }
  GANGRUN_TRY(in.only({"protocol", "task", "attempt", "address", "more_ports", "address_reason",
                       "pid", "control_port", "control_fingerprint", "state", "run_attempt",
                       "generation", "user_pid", "exit", "ended_ms_ago"}));
  ReportMessage out;
  GANGRUN_TRY(read_sender(in, out));
  GANGRUN_ASSIGN(out.state, read_state(in));
  GANGRUN_ASSIGN(const std::int64_t run_attempt, in.integer("run_attempt", 0, kMaxAttempt));
  out.run_attempt = static_cast<int>(run_attempt);
  GANGRUN_ASSIGN(out.generation, in.generation(0));
  GANGRUN_ASSIGN(out.user_pid, in.integer("user_pid", 0, kMaxPid));
  GANGRUN_TRY(check_members_fit(in, out));
  if (out.state == AgentState::kExited) {
    GANGRUN_ASSIGN(out.exit, read_past_exit(in));
  }
  return AgentMessage(std::move(out));
}

Result<AgentMessage> read_started(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "generation", "pid"}));
  StartedMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.generation, in.generation(1));
  GANGRUN_ASSIGN(out.pid, in.integer("pid", 0, kMaxPid));
  return AgentMessage(out);
}

Result<AgentMessage> read_exited(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "generation", "exit", "ended_ms_ago"}));
  ExitedMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.generation, in.generation(1));
  GANGRUN_ASSIGN(out.exit, read_past_exit(in));
  return AgentMessage(std::move(out));
}

Result<AgentMessage> read_heartbeat(const Reader& in) {
  GANGRUN_TRY(in.only({"memory_bytes", "cpu_seconds", "progress"}));
  HeartbeatMessage out;
  GANGRUN_ASSIGN(out.memory_bytes,
                 in.integer("memory_bytes", 0, std::numeric_limits<std::int64_t>::max()));
  GANGRUN_ASSIGN(out.cpu_seconds, in.get<double>("cpu_seconds"));
  if (!(out.cpu_seconds >= 0)) return wrong(in.type(), "cpu_seconds", "at least 0");
  GANGRUN_ASSIGN(out.progress, in.get<bool>("progress"));
  return AgentMessage(out);
}

Result<AgentMessage> read_log(const Reader& in) {
  GANGRUN_TRY(in.only({"stream", "lines", "dropped", "incomplete"}));
  LogMessage out;
  GANGRUN_ASSIGN(const std::string stream, in.text("stream", kMaxShownBytes));
  if (stream != "out" && stream != "err") return wrong(in.type(), "stream", "out or err");
  out.stream = stream == "out" ? Stream::kOut : Stream::kErr;
  GANGRUN_ASSIGN(out.lines, in.get<std::vector<std::string>>("lines"));
  std::size_t bytes = 0;
  for (const std::string& line : out.lines) {
    if (line.size() > kMaxLogLineBytes) {
      return wrong(in.type(), "lines", base::format("of at most {} bytes", kMaxLogLineBytes));
    }
    bytes += line.size();
  }
  if (out.lines.size() > kMaxLinesOfLogMessage || bytes > kMaxBytesOfLogMessage) {
    return wrong(in.type(), "lines",
                 base::format("at most {} lines and {} bytes", kMaxLinesOfLogMessage,
                              kMaxBytesOfLogMessage));
  }
  GANGRUN_ASSIGN(out.dropped, in.integer("dropped", 0, std::numeric_limits<std::int64_t>::max()));
  if (in.has("incomplete")) {
    GANGRUN_ASSIGN(out.incomplete, in.text("incomplete", kMaxIncompleteLogBytes));
  }
  return AgentMessage(std::move(out));
}

Result<AgentMessage> read_port_lost(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "generation"}));
  PortLostMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.generation, in.generation(0));
  return AgentMessage(out);
}

Result<AgentMessage> read_figures(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "generation", "figures"}));
  FiguresMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.generation, in.generation(1));
  if (!in.has("figures")) return wrong(in.type(), "figures", "there");
  auto figures = job::figures_from_json(in.member("figures")).context(in.type());
  if (!figures.ok()) return std::move(figures).error();
  out.figures = *std::move(figures);
  return AgentMessage(std::move(out));
}

Result<AgentMessage> read_result(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "generation", "offset", "size", "bytes"}));
  ResultMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.generation, in.generation(1));
  GANGRUN_ASSIGN(out.size, in.integer("size", 1, kMaxResultBytes));
  GANGRUN_ASSIGN(out.offset, in.integer("offset", 0, out.size - 1));
  GANGRUN_ASSIGN(out.bytes, in.bytes("bytes", kMaxResultPartBytes));
  const auto end = out.offset + static_cast<std::int64_t>(out.bytes.size());
  if (out.bytes.empty() || end > out.size) {
    return wrong(in.type(), "bytes", "at least one, and not over the size");
  }
  return AgentMessage(std::move(out));
}

Result<AgentMessage> read_rendezvous(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "generation", "id", "action", "key", "value"}));
  RendezvousMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.generation, in.generation(1));
  GANGRUN_ASSIGN(out.id, in.integer("id", 0, std::numeric_limits<std::int64_t>::max()));
  GANGRUN_ASSIGN(const std::string action, in.text("action", kMaxShownBytes));
  const auto all = {RendezvousAction::kGet, RendezvousAction::kPut, RendezvousAction::kDelete};
  const auto* const found = std::find_if(
      all.begin(), all.end(), [&](RendezvousAction one) { return action == to_string(one); });
  if (found == all.end()) return wrong(in.type(), "action", "get, put or delete");
  out.action = *found;
  GANGRUN_ASSIGN(out.key, in.text("key", kMaxRendezvousKeyBytes));
  if (out.action == RendezvousAction::kPut) {
    GANGRUN_ASSIGN(out.value, in.bytes("value", kMaxRendezvousValueBytes));
  } else if (in.has("value")) {
    return wrong(in.type(), "value", "there exactly when the action is put");
  }
  return AgentMessage(std::move(out));
}

Result<MasterMessage> read_welcome(const Reader& in) {
  GANGRUN_TRY(in.only({"heartbeat_ms", "master_lost_ms"}));
  WelcomeMessage out;
  GANGRUN_ASSIGN(out.heartbeat, in.duration("heartbeat_ms", kMaxInterval));
  if (out.heartbeat.count() == 0) return wrong(in.type(), "heartbeat_ms", "at least 1");
  GANGRUN_ASSIGN(out.master_lost, in.duration("master_lost_ms", kMaxInterval));
  return MasterMessage(out);
}

Result<MasterMessage> read_alive(const Reader& in) {
  GANGRUN_TRY(in.only({}));
  return MasterMessage(AliveMessage{});
}

// In one of its three forms.
Result<job::ClusterSpec> read_cluster_spec(const Reader& in) {
  const int forms =
      (in.has("cluster_spec") ? 1 : 0) + (in.has("packed") ? 1 : 0) + (in.has("outline") ? 1 : 0);
  if (forms != 1) return wrong(in.type(), "cluster_spec", "there, or \"packed\" or \"outline\"");
  if (in.has("cluster_spec")) return job::cluster_spec_from_json(in.member("cluster_spec"));
  if (in.has("outline")) return job::cluster_spec_from_outline(in.member("outline"));
  GANGRUN_ASSIGN(const auto packed, in.get<std::string>("packed"));
  GANGRUN_ASSIGN(const std::string text, net::unpack(packed, kMaxMasterMessageBytes));
  return job::cluster_spec_from_text(text, kMaxMasterMessageBytes);
}

Result<MasterMessage> read_start(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "restarts", "cluster_spec", "packed", "outline"}));
  StartMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(const std::int64_t restarts, in.integer("restarts", 0, kMaxGeneration));
  out.restarts = static_cast<int>(restarts);
  GANGRUN_ASSIGN(out.cluster_spec, read_cluster_spec(in).context(in.type()));
  if (out.cluster_spec.generation < 1 || out.cluster_spec.generation > kMaxGeneration) {
    return wrong(in.type(), "generation", base::format("from 1 to {}", kMaxGeneration));
  }
  return MasterMessage(std::move(out));
}

Result<MasterMessage> read_notice(const Reader& in) {
  GANGRUN_TRY(in.only({"left_ms"}));
  NoticeMessage out;
  if (in.has("left_ms")) {
    GANGRUN_ASSIGN(out.left, in.duration("left_ms", kMaxInterval));
  }
  return MasterMessage(out);
}

Result<MasterMessage> read_tokens(const Reader& in) {
  GANGRUN_TRY(in.only({"file"}));
  GANGRUN_ASSIGN(std::string file, in.bytes("file", kMaxTokensBytes));
  return MasterMessage(TokensMessage{base::Secret(std::move(file))});
}

template <typename Message>
Result<MasterMessage> read_grace(const Reader& in) {
  GANGRUN_TRY(in.only({"grace_ms"}));
  Message out;
  GANGRUN_ASSIGN(out.grace, in.duration("grace_ms", kMaxInterval));
  return MasterMessage(out);
}

Result<MasterMessage> read_refused(const Reader& in) {
  GANGRUN_TRY(in.only({"reason", "retry"}));
  RefusedMessage out;
  GANGRUN_ASSIGN(out.reason, in.text("reason", kMaxReasonBytes));
  GANGRUN_ASSIGN(out.retry, in.get<bool>("retry"));
  return MasterMessage(std::move(out));
}

Result<MasterMessage> read_result_kept(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "kept", "refused"}));
  ResultKeptMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.kept, in.integer("kept", 0, kMaxResultBytes));
  GANGRUN_ASSIGN(out.refused, in.text("refused", kMaxReasonBytes));
  return MasterMessage(std::move(out));
}

Result<MasterMessage> read_rendezvous_answer(const Reader& in) {
  GANGRUN_TRY(in.only({"attempt", "id", "value", "refused"}));
  RendezvousAnswerMessage out;
  GANGRUN_ASSIGN(out.attempt, in.attempt());
  GANGRUN_ASSIGN(out.id, in.integer("id", 0, std::numeric_limits<std::int64_t>::max()));
  GANGRUN_ASSIGN(out.value, in.bytes("value", kMaxRendezvousValueBytes));
  GANGRUN_ASSIGN(out.refused, in.text("refused", kMaxReasonBytes));
  return MasterMessage(std::move(out));
}

template <typename Message>
struct Row {
  std::string_view type;
  Result<Message> (*read)(const Reader&);
};

constexpr Row<AgentMessage> kAgentRows[] = {
    {"report", read_report},       {"started", read_started}, {"exited", read_exited},
    {"heartbeat", read_heartbeat}, {"log", read_log},         {"port_lost", read_port_lost},
    {"figures", read_figures},     {"result", read_result},   {"rendezvous", read_rendezvous}};
constexpr Row<MasterMessage> kMasterRows[] = {{"welcome", read_welcome},
                                              {"alive", read_alive},
                                              {"start", read_start},
                                              {"notice", read_notice},
                                              {"tokens", read_tokens},
                                              {"stop", read_grace<StopMessage>},
                                              {"end", read_grace<EndMessage>},
                                              {"refused", read_refused},
                                              {"result_kept", read_result_kept},
                                              {"rendezvous", read_rendezvous_answer}};

template <typename Message, std::size_t N>
Result<Message> decode(std::string_view frame, std::size_t max_bytes,
                       const Row<Message> (&rows)[N]) {
  GANGRUN_ASSIGN(const Json json, base::parse_json(frame, max_bytes));
  GANGRUN_ASSIGN(const std::string type, base::json_member<std::string>(json, "type"));
  for (const auto& row : rows) {
    if (row.type == type) return row.read(Reader(json, row.type));
  }
  return base::invalid_argument(
      base::format("unknown message \"{}\"", base::shorten(type, kMaxShownBytes)));
}

}  // namespace

std::string_view to_string(AgentState state) {
  switch (state) {
    case AgentState::kWaiting: return "waiting";
    case AgentState::kStarting: return "starting";
    case AgentState::kRunning: return "running";
    case AgentState::kExited: return "exited";
  }
  return "";
}

std::string_view to_string(Stream stream) { return stream == Stream::kOut ? "out" : "err"; }

std::string_view to_string(RendezvousAction action) {
  switch (action) {
    case RendezvousAction::kGet: return "get";
    case RendezvousAction::kPut: return "put";
    case RendezvousAction::kDelete: return "delete";
  }
  return "";
}

Result<AgentMessage> decode_agent_message(std::string_view frame) {
  return decode(frame, kMaxAgentMessageBytes, kAgentRows);
}

Result<MasterMessage> decode_master_message(std::string_view frame) {
  return decode(frame, kMaxMasterMessageBytes, kMasterRows);
}

}  // namespace gangrun::registry
