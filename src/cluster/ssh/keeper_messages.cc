#include "cluster/ssh/keeper_messages.h"

#include <algorithm>
#include <climits>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "job/choice.h"
#include "job/spec_names.h"
#include "job/units.h"
#include "net/hosts.h"

namespace gangrun::cluster {

namespace {

using base::Json;
using base::Result;

constexpr std::size_t kMaxShownOp = 80;

// Reads the members of one message; errors have its name.
class KeeperReader {
 public:
  KeeperReader(const Json& json, std::string_view op) : json_(json), op_(op) {}

  [[nodiscard]] Result<> only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : json_.items()) {
      if (key == "op" || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      return base::invalid_argument(
          base::format("{}: unknown member \"{}\"", op_, base::shorten(key, kMaxShownOp)));
    }
    return {};
  }
  template <typename T>
  Result<T> get(std::string_view key) const {
    return base::json_member<T>(json_, key).context(op_);
  }
  [[nodiscard]] Result<Json> part(std::string_view key) const {
    const auto found = json_.find(key);
    if (found != json_.end()) return *found;
    return base::invalid_argument(base::format("{}: \"{}\" is missing", op_, key));
  }
  [[nodiscard]] Result<job::TaskId> task() const {
    GANGRUN_ASSIGN(const auto text, get<std::string>("task"));
    return job::parse_task_id(text).context(op_);
  }

 private:
  const Json& json_;
  std::string_view op_;
};

Json agent_json(std::string_view op, std::uint32_t agent) { return {{"op", op}, {"agent", agent}}; }

Json json_of(const HelloMessage& each) {
  return {{"op", "hello"},
          {"version", each.version},
          {"network", each.network},
          {"address", each.address},
          {"address_reason", each.address_reason},
          {"own_addresses", each.own_addresses},
          {"shares_folder", each.shares_folder},
          {"gpus", job::to_json(each.gpus)},
          {"containment", job::to_string(each.containment)},
          {"containment_lack", each.containment_lack},
          {"engine", each.engine},
          {"engine_lack", each.engine_lack},
          {"system", each.system},
          {"folder", each.folder},
          {"free_bytes", each.free_bytes}};
}

Json json_of(const BeginMessage& each) {
  return {{"op", "begin"},
          {"job", each.job_id},
          {"run_folder", each.run_folder},
          {"address", each.address},
          {"address_reason", each.address_reason},
          {"works_here", each.works_here},
          {"outlives_us", each.outlives_us},
          {"environment", Json(each.environment)}};
}

Json json_of(const BegunMessage& each) {
  return {{"op", "begun"}, {"run_folder", each.run_folder}};
}

Json json_of(const FileMessage& each) {
  return {{"op", "file"},
          {"name", each.name},
          {"size", each.size},
          {"is_executable", each.is_executable},
          {"is_folder", each.is_folder}};
}

Json json_of(const StartMessage& each) {
  Json json = agent_json("start", each.agent);
  json["task"] = job::to_string(each.task);
  json["attempt"] = each.attempt;
  json["gpus"] = each.gpus;
  if (each.wanted_port) json["wanted_port"] = *each.wanted_port;
  json["containers"] = each.containers;
  json["agent_config"] = each.agent_config;
  return json;
}

Json json_of(const AdoptMessage& each) {
  Json json = agent_json("adopt", each.agent);
  json["task"] = job::to_string(each.task);
  json["attempt"] = each.attempt;
  json["handle"] = each.handle;
  json["out_offset"] = each.out_offset;
  json["error_offset"] = each.error_offset;
  return json;
}

Json json_of(const ReleaseOthersMessage& /*each*/) { return {{"op", "release_others"}}; }

Json json_of(const StopMessage& each) {
  Json json = agent_json("stop", each.agent);
  json["grace_ms"] = each.grace.count();
  return json;
}

Json json_of(const PingMessage& /*each*/) { return {{"op", "ping"}}; }

Json json_of(const PongMessage& /*each*/) { return {{"op", "pong"}}; }

Json json_of(const BringMessage& each) {
  return {{"op", "bring"},       {"names", each.names},           {"new_too", each.new_too},
          {"limit", each.limit}, {"run_folder", each.run_folder}, {"only_rest", each.only_rest}};
}

Json json_of(const OutputMessage& each) {
  return {{"op", "output"},        {"name", each.name},
          {"size", each.size},     {"is_executable", each.is_executable},
          {"target", each.target}, {"is_folder", each.is_folder}};
}

Json json_of(const BroughtMessage& each) {
  Json odd = Json::array();
  for (const OddOutput& one : each.odd) odd.push_back(std::vector<std::string>{one.name, one.why});
  return {{"op", "brought"},
          {"left", each.left},
          {"left_files", each.left_files},
          {"left_bytes", each.left_bytes},
          {"odd", std::move(odd)},
          {"odd_files", each.odd_files},
          {"missing", each.missing},
          {"failure", each.failure},
          {"is_gone", each.is_gone}};
}

Json json_of(const EndMessage& each) { return {{"op", "end"}, {"kept", to_string(each.kept)}}; }

Json json_of(const RemoveMessage& each) { return {{"op", "remove"}, {"job", each.job_id}}; }

Json json_of(const RemovedMessage& each) {
  return {{"op", "removed"}, {"folders", each.folders}, {"left", each.left}};
}

Json json_of(const WaitingMessage& each) { return {{"op", "waiting"}, {"reason", each.reason}}; }

Json json_of(const AllocatedMessage& each) {
  Json json = agent_json("allocated", each.agent);
  json["handle"] = each.handle;
  return json;
}

Json json_of(const EndedMessage& each) {
  Json json = agent_json("ended", each.agent);
  json["why"] = job::to_json(each.why);
  json["out_size"] = each.out_size;
  json["error_size"] = each.error_size;
  if (each.run) json["run"] = job::to_json(*each.run);
  return json;
}

Json json_of(const LogsTakenMessage& each) { return {{"op", "logs_taken"}, {"bytes", each.bytes}}; }

Json json_of(const LogsGoneMessage& each) {
  return {{"op", "logs_gone"}, {"agents", each.agents}, {"is_folder_gone", each.is_folder_gone}};
}

Json json_of(const LeavingMessage& /*each*/) { return {{"op", "leaving"}}; }

Json json_of(const RefusedMessage& each) { return {{"op", "refused"}, {"detail", each.detail}}; }

// What the host can give to tasks.
Result<> read_abilities(const KeeperReader& reader, HelloMessage& hello) {
  GANGRUN_ASSIGN(const Json gpus, reader.part("gpus"));
  GANGRUN_ASSIGN(hello.gpus, job::gpus_from_json(gpus));
  GANGRUN_ASSIGN(const auto containment, reader.get<std::string>("containment"));
  GANGRUN_ASSIGN(hello.containment, job::choice_from<job::Containment>(containment));
  GANGRUN_ASSIGN(hello.containment_lack, reader.get<std::string>("containment_lack"));
  GANGRUN_ASSIGN(hello.engine, reader.get<std::string>("engine"));
  GANGRUN_ASSIGN(hello.engine_lack, reader.get<std::string>("engine_lack"));
  return {};
}

// All jobs of the host's neighbours are told them.
Result<> check_address(const std::string& address) {
  if (net::is_numeric_address(address)) return {};
  return base::invalid_argument(
      base::format("hello: {} is not an address", job::in_quotes(address)));
}

Result<> read_addresses(const KeeperReader& reader, HelloMessage& hello) {
  GANGRUN_ASSIGN(hello.address, reader.get<std::string>("address"));
  GANGRUN_TRY(check_address(hello.address));
  GANGRUN_ASSIGN(hello.address_reason, reader.get<std::string>("address_reason"));
  GANGRUN_ASSIGN(hello.own_addresses, reader.get<std::vector<std::string>>("own_addresses"));
  if (hello.own_addresses.size() > kMaxOwnAddresses) {
    return base::invalid_argument(base::format("hello: {} addresses; allowed: at most {}",
                                               hello.own_addresses.size(), kMaxOwnAddresses));
  }
  for (const std::string& address : hello.own_addresses) {
    GANGRUN_TRY(check_address(address));
  }
  return {};
}

// It stands in sentences of ours, with files of the job below it.
Result<> check_folder(const std::string& folder) {
  const bool is_path = folder.starts_with('/') && folder.size() < PATH_MAX;
  if (is_path && folder == base::harmless_sentence(folder)) return {};
  return base::invalid_argument(
      base::format("hello: folder: {} is no plain absolute path", base::their_words(folder)));
}

Result<KeeperMessage> read_hello(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"version", "network", "address", "address_reason", "own_addresses",
                           "shares_folder", "gpus", "containment", "containment_lack", "engine",
                           "engine_lack", "system", "folder", "free_bytes"}));
  HelloMessage hello;
  GANGRUN_ASSIGN(hello.version, reader.get<std::string>("version"));
  GANGRUN_ASSIGN(hello.network, reader.get<std::string>("network"));
  GANGRUN_TRY(read_addresses(reader, hello));
  GANGRUN_ASSIGN(hello.shares_folder, reader.get<bool>("shares_folder"));
  GANGRUN_TRY(read_abilities(reader, hello));
  GANGRUN_ASSIGN(hello.system, reader.get<std::string>("system"));
  GANGRUN_ASSIGN(hello.folder, reader.get<std::string>("folder"));
  GANGRUN_TRY(check_folder(hello.folder));
  GANGRUN_ASSIGN(hello.free_bytes, reader.get<std::int64_t>("free_bytes"));
  return KeeperMessage(std::move(hello));
}

Result<KeeperMessage> read_begin(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"job", "run_folder", "address", "address_reason", "works_here",
                           "outlives_us", "environment"}));
  BeginMessage begin;
  GANGRUN_ASSIGN(begin.job_id, reader.get<std::string>("job"));
  GANGRUN_ASSIGN(begin.run_folder, reader.get<std::string>("run_folder"));
  GANGRUN_ASSIGN(begin.address, reader.get<std::string>("address"));
  GANGRUN_ASSIGN(begin.address_reason, reader.get<std::string>("address_reason"));
  GANGRUN_ASSIGN(begin.works_here, reader.get<bool>("works_here"));
  GANGRUN_ASSIGN(begin.outlives_us, reader.get<bool>("outlives_us"));
  GANGRUN_ASSIGN(const Json environment, reader.part("environment"));
  for (const auto& [name, value] : environment.items()) {
    if (!value.is_string()) return base::invalid_argument("begin: a variable is no text");
    begin.environment[name] = value.get<std::string>();
  }
  return KeeperMessage(std::move(begin));
}

Result<KeeperMessage> read_file_message(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"name", "size", "is_executable", "is_folder"}));
  FileMessage file;
  GANGRUN_ASSIGN(file.name, reader.get<std::string>("name"));
  GANGRUN_ASSIGN(file.size, reader.get<std::uint64_t>("size"));
  GANGRUN_ASSIGN(file.is_executable, reader.get<bool>("is_executable"));
  GANGRUN_ASSIGN(file.is_folder, reader.get<bool>("is_folder"));
  return KeeperMessage(std::move(file));
}

Result<KeeperMessage> read_start(const KeeperReader& reader, const Json& json) {
  GANGRUN_TRY(reader.only(
      {"agent", "task", "attempt", "gpus", "wanted_port", "containers", "agent_config"}));
  StartMessage start;
  GANGRUN_ASSIGN(start.agent, reader.get<std::uint32_t>("agent"));
  GANGRUN_ASSIGN(start.task, reader.task());
  GANGRUN_ASSIGN(start.attempt, reader.get<int>("attempt"));
  GANGRUN_ASSIGN(start.gpus, reader.get<int>("gpus"));
  if (json.contains("wanted_port")) {
    GANGRUN_ASSIGN(start.wanted_port, reader.get<std::uint16_t>("wanted_port"));
  }
  GANGRUN_ASSIGN(start.containers, reader.get<std::vector<std::string>>("containers"));
  GANGRUN_ASSIGN(start.agent_config, reader.part("agent_config"));
  return KeeperMessage(std::move(start));
}

Result<KeeperMessage> read_adopt(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"agent", "task", "attempt", "handle", "out_offset", "error_offset"}));
  AdoptMessage adopt;
  GANGRUN_ASSIGN(adopt.agent, reader.get<std::uint32_t>("agent"));
  GANGRUN_ASSIGN(adopt.task, reader.task());
  GANGRUN_ASSIGN(adopt.attempt, reader.get<int>("attempt"));
  GANGRUN_ASSIGN(adopt.handle, reader.part("handle"));
  GANGRUN_ASSIGN(adopt.out_offset, reader.get<std::uint64_t>("out_offset"));
  GANGRUN_ASSIGN(adopt.error_offset, reader.get<std::uint64_t>("error_offset"));
  return KeeperMessage(std::move(adopt));
}

Result<KeeperMessage> read_stop(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"agent", "grace_ms"}));
  StopMessage stop;
  GANGRUN_ASSIGN(stop.agent, reader.get<std::uint32_t>("agent"));
  GANGRUN_ASSIGN(const auto grace, reader.get<std::int64_t>("grace_ms"));
  stop.grace = std::chrono::milliseconds(grace);
  return KeeperMessage(stop);
}

Result<KeeperMessage> read_allocated(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"agent", "handle"}));
  AllocatedMessage allocated;
  GANGRUN_ASSIGN(allocated.agent, reader.get<std::uint32_t>("agent"));
  GANGRUN_ASSIGN(allocated.handle, reader.part("handle"));
  return KeeperMessage(std::move(allocated));
}

Result<KeeperMessage> read_ended(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"agent", "why", "out_size", "error_size", "run"}));
  EndedMessage ended;
  GANGRUN_ASSIGN(ended.agent, reader.get<std::uint32_t>("agent"));
  GANGRUN_ASSIGN(const base::Json why, reader.part("why"));
  GANGRUN_ASSIGN(ended.why, job::why_from_json(why));
  GANGRUN_ASSIGN(ended.out_size, reader.get<std::uint64_t>("out_size"));
  GANGRUN_ASSIGN(ended.error_size, reader.get<std::uint64_t>("error_size"));
  if (const auto run = reader.part("run"); run.ok()) {
    GANGRUN_ASSIGN(ended.run, job::run_end_from_json(*run));
  }
  return KeeperMessage(std::move(ended));
}

Result<KeeperMessage> read_logs_taken(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"bytes"}));
  LogsTakenMessage taken;
  GANGRUN_ASSIGN(taken.bytes, reader.get<std::uint64_t>("bytes"));
  return KeeperMessage(taken);
}

Result<KeeperMessage> read_bring(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"names", "new_too", "limit", "run_folder", "only_rest"}));
  BringMessage bring;
  GANGRUN_ASSIGN(bring.names, reader.get<std::vector<std::string>>("names"));
  GANGRUN_ASSIGN(bring.new_too, reader.get<bool>("new_too"));
  GANGRUN_ASSIGN(bring.limit, reader.get<std::uint64_t>("limit"));
  GANGRUN_ASSIGN(bring.run_folder, reader.get<std::string>("run_folder"));
  GANGRUN_ASSIGN(bring.only_rest, reader.get<bool>("only_rest"));
  return KeeperMessage(std::move(bring));
}

Result<KeeperMessage> read_output(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"name", "size", "is_executable", "target", "is_folder"}));
  OutputMessage output;
  GANGRUN_ASSIGN(output.name, reader.get<std::string>("name"));
  GANGRUN_ASSIGN(output.size, reader.get<std::uint64_t>("size"));
  GANGRUN_ASSIGN(output.is_executable, reader.get<bool>("is_executable"));
  GANGRUN_ASSIGN(output.target, reader.get<std::string>("target"));
  GANGRUN_ASSIGN(output.is_folder, reader.get<bool>("is_folder"));
  return KeeperMessage(std::move(output));
}

Result<KeeperMessage> read_brought(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only(
      {"left", "left_files", "left_bytes", "odd", "odd_files", "missing", "failure", "is_gone"}));
  BroughtMessage brought;
  GANGRUN_ASSIGN(brought.left, reader.get<std::vector<std::string>>("left"));
  GANGRUN_ASSIGN(brought.left_files, reader.get<std::uint64_t>("left_files"));
  GANGRUN_ASSIGN(brought.left_bytes, reader.get<std::uint64_t>("left_bytes"));
  GANGRUN_ASSIGN(auto odd, reader.get<std::vector<std::vector<std::string>>>("odd"));
  for (std::vector<std::string>& one : odd) {
    if (one.size() != 2) return base::invalid_argument("'odd' has no pairs of name and reason");
    brought.odd.push_back({std::move(one.front()), std::move(one.back())});
  }
  GANGRUN_ASSIGN(brought.odd_files, reader.get<std::uint64_t>("odd_files"));
  GANGRUN_ASSIGN(brought.missing, reader.get<std::vector<std::string>>("missing"));
  GANGRUN_ASSIGN(brought.failure, reader.get<std::string>("failure"));
  GANGRUN_ASSIGN(brought.is_gone, reader.get<bool>("is_gone"));
  return KeeperMessage(std::move(brought));
}

Result<KeeperMessage> read_logs_gone(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"agents", "is_folder_gone"}));
  LogsGoneMessage gone;
  GANGRUN_ASSIGN(gone.agents, reader.get<std::vector<std::uint32_t>>("agents"));
  GANGRUN_ASSIGN(gone.is_folder_gone, reader.get<bool>("is_folder_gone"));
  return KeeperMessage(std::move(gone));
}

Result<KeeperMessage> read_end(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"kept"}));
  GANGRUN_ASSIGN(const auto kept, reader.get<std::string>("kept"));
  GANGRUN_ASSIGN(const Kept read, job::choice_from<Kept>(kept));
  return KeeperMessage(EndMessage{read});
}

Result<KeeperMessage> read_removed(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({"folders", "left"}));
  RemovedMessage removed;
  GANGRUN_ASSIGN(removed.folders, reader.get<std::uint64_t>("folders"));
  GANGRUN_ASSIGN(removed.left, reader.get<std::string>("left"));
  return KeeperMessage(std::move(removed));
}

template <typename Message>
Result<KeeperMessage> read_empty(const KeeperReader& reader) {
  GANGRUN_TRY(reader.only({}));
  return KeeperMessage(Message{});
}

template <typename Message>
Result<KeeperMessage> read_text(const KeeperReader& reader, std::string_view key,
                                std::string Message::*member) {
  GANGRUN_TRY(reader.only({key}));
  Message message;
  GANGRUN_ASSIGN(message.*member, reader.get<std::string>(key));
  return KeeperMessage(std::move(message));
}

}  // namespace

BringMessage bring_message(const std::vector<std::optional<std::vector<std::string>>>& outputs,
                           std::uint64_t limit) {
  BringMessage bring;
  bring.limit = limit;
  for (const auto& names : outputs) {
    if (!names) {
      bring.new_too = true;
    } else {
      bring.names.insert(bring.names.end(), names->begin(), names->end());
    }
  }
  std::sort(bring.names.begin(), bring.names.end());
  bring.names.erase(std::unique(bring.names.begin(), bring.names.end()), bring.names.end());
  return bring;
}

std::string_view to_string(Kept kept) {
  switch (kept) {
    case Kept::kNothing: return "nothing";
    case Kept::kWritten: return "written";
    case Kept::kFolder: return "folder";
  }
  return "nothing";
}

Json to_json(const KeeperMessage& message) {
  return std::visit([](const auto& each) { return json_of(each); }, message);
}

bool is_of_a_job(const KeeperMessage& message) {
  return std::visit(
      base::Overloaded{
          [](const base::OneOf<FileMessage, StartMessage, AdoptMessage, ReleaseOthersMessage,
                               StopMessage, LogsTakenMessage, EndMessage> auto&) { return true; },
          [](const BringMessage& bring) { return bring.run_folder.empty(); },
          [](const base::OneOf<BeginMessage, PingMessage, RemoveMessage> auto&) { return false; },
          [](const MessageOfAHost auto& /*each*/) { return false; },
      },
      message);
}

Result<KeeperMessage> keeper_message_from_json(const Json& json) {
  GANGRUN_ASSIGN(const auto op, base::json_member<std::string>(json, "op"));
  const KeeperReader reader(json, op);
  if (op == "hello") return read_hello(reader);
  if (op == "begin") return read_begin(reader);
  if (op == "begun") return read_text(reader, "run_folder", &BegunMessage::run_folder);
  if (op == "file") return read_file_message(reader);
  if (op == "start") return read_start(reader, json);
  if (op == "adopt") return read_adopt(reader);
  if (op == "release_others") return read_empty<ReleaseOthersMessage>(reader);
  if (op == "stop") return read_stop(reader);
  if (op == "ping") return read_empty<PingMessage>(reader);
  if (op == "pong") return read_empty<PongMessage>(reader);
  if (op == "bring") return read_bring(reader);
  if (op == "end") return read_end(reader);
  if (op == "remove") return read_text(reader, "job", &RemoveMessage::job_id);
  if (op == "output") return read_output(reader);
  if (op == "brought") return read_brought(reader);
  if (op == "removed") return read_removed(reader);
  if (op == "waiting") return read_text(reader, "reason", &WaitingMessage::reason);
  if (op == "allocated") return read_allocated(reader);
  if (op == "ended") return read_ended(reader);
  if (op == "logs_taken") return read_logs_taken(reader);
  if (op == "logs_gone") return read_logs_gone(reader);
  if (op == "leaving") return read_empty<LeavingMessage>(reader);
  if (op == "refused") return read_text(reader, "detail", &RefusedMessage::detail);
  return base::invalid_argument(
      base::format("no message is called \"{}\"", base::shorten(op, kMaxShownOp)));
}

}  // namespace gangrun::cluster
