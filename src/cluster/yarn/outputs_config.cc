#include "cluster/yarn/outputs_config.h"

namespace gangrun::cluster {

base::Json to_json(const OutputsConfig& config) {
  base::Json json = {{"folder", config.folder},
                     {"user", config.user},
                     {"hadoop", config.hadoop},
                     {"token_service", config.token_service}};
  if (config.limit_bytes) json["limit_bytes"] = *config.limit_bytes;
  return json;
}

base::Result<OutputsConfig> outputs_config_from_json(const base::Json& json) {
  OutputsConfig config;
  GANGRUN_ASSIGN(config.folder, base::json_member<std::string>(json, "folder"));
  GANGRUN_ASSIGN(config.user, base::json_member<std::string>(json, "user"));
  GANGRUN_ASSIGN(config.token_service, base::json_member<std::string>(json, "token_service"));
  const auto hadoop = json.find("hadoop");
  if (hadoop == json.end() || !hadoop->is_object()) {
    return base::invalid_argument("\"hadoop\" must be an object");
  }
  for (const auto& [name, value] : hadoop->items()) {
    if (!value.is_string()) return base::invalid_argument("\"hadoop\" has a value that is no text");
    config.hadoop[name] = value.get<std::string>();
  }
  if (json.contains("limit_bytes")) {
    GANGRUN_ASSIGN(config.limit_bytes, base::json_member<std::uint64_t>(json, "limit_bytes"));
  }
  return config;
}

}  // namespace gangrun::cluster
