#include "registry/agent_config.h"

#include "base/files.h"
#include "job/plan_json.h"

namespace gangrun::registry {

base::Json to_json(const AgentConfig& config) {
  base::Json json{{"job_id", config.job_id},
                  {"spec", job::to_json(config.spec, job::PlanForm::kForPrograms)},
                  {"task", job::to_string(config.task)},
                  {"attempt", config.attempt},
                  {"secret", config.secret.reveal()},
                  {"host", config.host},
                  {"host_reason", config.host_reason},
                  {"working_folder", config.working_folder},
                  {"log_prefix", config.log_prefix}};
  if (!config.socket_path.empty()) {
    json["socket_path"] = config.socket_path;
  } else {
    json["master_host"] = config.master_host;
    json["master_port"] = config.master_port;
    json["fingerprint"] = config.fingerprint;
  }
  if (!config.words_file.empty()) json["words_file"] = config.words_file;
  if (config.wanted_port) json["wanted_port"] = *config.wanted_port;
  if (config.place_tells_end) json["place_tells_end"] = true;
  if (config.is_fed) json["is_fed"] = true;
  if (config.serves_tunnels) json["serves_tunnels"] = true;
  if (config.sends_last_line_only) json["sends_last_line_only"] = true;
  if (config.gpus) json["gpus"] = job::to_json(*config.gpus);
  return json;
}

namespace {

// Where the master is: a socket's file, or an address and who answers there.
base::Result<> read_master(const base::Json& json, AgentConfig& config) {
  using base::json_member;
  using base::json_member_or;
  GANGRUN_ASSIGN(config.socket_path, json_member_or<std::string>(json, "socket_path", ""));
  if (config.socket_path.empty()) {
    GANGRUN_ASSIGN(config.master_host, json_member<std::string>(json, "master_host"));
    GANGRUN_ASSIGN(config.master_port, json_member<std::uint16_t>(json, "master_port"));
    GANGRUN_ASSIGN(config.fingerprint, json_member<std::string>(json, "fingerprint"));
  }
  return {};
}

// What is left out where it is not so.
base::Result<> read_optional(const base::Json& json, AgentConfig& config) {
  if (json.contains("wanted_port")) {
    GANGRUN_ASSIGN(config.wanted_port, base::json_member<std::uint16_t>(json, "wanted_port"));
  }
  GANGRUN_ASSIGN(config.words_file, base::json_member_or<std::string>(json, "words_file", ""));
  if (json.contains("place_tells_end")) {
    GANGRUN_ASSIGN(config.place_tells_end, base::json_member<bool>(json, "place_tells_end"));
  }
  if (json.contains("serves_tunnels")) {
    GANGRUN_ASSIGN(config.serves_tunnels, base::json_member<bool>(json, "serves_tunnels"));
  }
  if (json.contains("sends_last_line_only")) {
    GANGRUN_ASSIGN(config.sends_last_line_only,
                   base::json_member<bool>(json, "sends_last_line_only"));
  }
  if (json.contains("is_fed")) {
    GANGRUN_ASSIGN(config.is_fed, base::json_member<bool>(json, "is_fed"));
  }
  if (json.contains("gpus")) {
    GANGRUN_ASSIGN(config.gpus, job::gpus_from_json(json["gpus"]).context("\"gpus\""));
  }
  return {};
}

}  // namespace

base::Result<AgentConfig> agent_config_from_json(const base::Json& json) {
  using base::json_member;
  AgentConfig config;
  GANGRUN_ASSIGN(config.job_id, json_member<std::string>(json, "job_id"));
  const auto spec = json.find("spec");
  if (spec == json.end()) return base::invalid_argument("\"spec\" is missing");
  GANGRUN_ASSIGN(config.spec, job::job_spec_from_json(*spec));
  GANGRUN_ASSIGN(const std::string task, json_member<std::string>(json, "task"));
  GANGRUN_ASSIGN(config.task, job::parse_task_id(task));
  const job::TaskSpec* task_spec = config.spec.find(config.task.type);
  if (task_spec == nullptr || config.task.index >= task_spec->slots()) {
    return base::invalid_argument(base::format("the job has no task {}", task));
  }
  GANGRUN_ASSIGN(config.attempt, json_member<int>(json, "attempt"));
  GANGRUN_ASSIGN(std::string secret, json_member<std::string>(json, "secret"));
  config.secret = base::Secret(std::move(secret));
  GANGRUN_ASSIGN(config.host, json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(config.host_reason, json_member<std::string>(json, "host_reason"));
  GANGRUN_ASSIGN(config.working_folder, json_member<std::string>(json, "working_folder"));
  GANGRUN_ASSIGN(config.log_prefix, json_member<std::string>(json, "log_prefix"));
  GANGRUN_TRY(read_master(json, config));
  GANGRUN_TRY(read_optional(json, config));
  return config;
}

base::Result<AgentConfig> read_agent_config(const std::string& path) {
  GANGRUN_ASSIGN(const std::string text, base::read_input(path, kMaxAgentConfigBytes));
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxAgentConfigBytes));
  return agent_config_from_json(json).context("in the agent's configuration");
}

}  // namespace gangrun::registry
