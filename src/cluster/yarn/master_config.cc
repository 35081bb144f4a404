#include "cluster/yarn/master_config.h"

#include "cluster/yarn/yarn_options.h"
#include "job/plan_json.h"

namespace gangrun::cluster {

namespace {

using base::Json;
using base::json_member;
using base::Result;

Json json_of(const hadoop::LocalResource& file) {
  return {{"scheme", file.scheme},
          {"host", file.host},
          {"port", file.port},
          {"path", file.path},
          {"size", file.size},
          {"timestamp", file.timestamp},
          {"type", static_cast<int>(file.type)},
          {"visibility", static_cast<int>(file.visibility)}};
}

Result<hadoop::LocalResource> file_from(const Json& json) {
  hadoop::LocalResource file;
  GANGRUN_ASSIGN(file.scheme, json_member<std::string>(json, "scheme"));
  GANGRUN_ASSIGN(file.host, json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(file.port, json_member<std::int32_t>(json, "port"));
  GANGRUN_ASSIGN(file.path, json_member<std::string>(json, "path"));
  GANGRUN_ASSIGN(file.size, json_member<std::int64_t>(json, "size"));
  GANGRUN_ASSIGN(file.timestamp, json_member<std::int64_t>(json, "timestamp"));
  GANGRUN_ASSIGN(const int type, json_member<int>(json, "type"));
  file.type = static_cast<hadoop::LocalResourceType>(type);
  GANGRUN_ASSIGN(const int visibility, json_member<int>(json, "visibility"));
  file.visibility = static_cast<hadoop::Visibility>(visibility);
  return file;
}

Result<hadoop::NodeReport> node_from(const Json& json) {
  hadoop::NodeReport node;
  GANGRUN_ASSIGN(node.id.host, json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(node.rack, json_member<std::string>(json, "rack"));
  return node;
}

Result<Json> part(const Json& json, const char* name, bool is_array) {
  const auto found = json.find(name);
  if (found == json.end() || (is_array ? !found->is_array() : !found->is_object())) {
    return base::invalid_argument(std::string("\"") + name + "\" is missing or of another type");
  }
  return *found;
}

}  // namespace

Json to_json(const YarnMasterConfig& config) {
  Json nodes = Json::array();
  for (const hadoop::NodeReport& node : config.nodes) {
    nodes.push_back({{"host", node.id.host}, {"rack", node.rack}});
  }
  Json files = Json::object();
  for (const auto& [link, file] : config.files) files[link] = json_of(file);
  Json archives = Json::object();
  for (const auto& [type, of_type] : config.archives) {
    for (const auto& [link, archive] : of_type) archives[type][link] = json_of(archive);
  }
  return {{"spec", job::to_json(config.spec, job::PlanForm::kForPrograms)},
          {"secret", config.secret.reveal()},
          {"zookeeper_files", registry::to_json(config.zookeeper_files)},
          {"certificate", config.certificate.certificate_pem},
          {"key", config.certificate.key_pem.reveal()},
          {"submitted", base::to_iso8601(config.submitted)},
          {"hadoop", config.hadoop},
          {"user", config.user},
          {"token_service", config.token_service},
          {"principal", config.principal},
          {"krb5_config", config.krb5_config},
          {"staging_folder", config.staging_folder},
          {"history_folder", config.history_folder},
          {"nodes", std::move(nodes)},
          {"files", std::move(files)},
          {"archives", std::move(archives)}};
}

namespace {

// Whose job it is, how he is known to the cluster, and where his files are.
Result<> read_user(const Json& json, YarnMasterConfig& config) {
  GANGRUN_ASSIGN(config.user, json_member<std::string>(json, "user"));
  GANGRUN_ASSIGN(config.token_service, json_member<std::string>(json, "token_service"));
  GANGRUN_ASSIGN(config.principal, json_member<std::string>(json, "principal"));
  GANGRUN_ASSIGN(config.krb5_config, json_member<std::string>(json, "krb5_config"));
  GANGRUN_ASSIGN(config.staging_folder, json_member<std::string>(json, "staging_folder"));
  GANGRUN_ASSIGN(config.history_folder, json_member<std::string>(json, "history_folder"));
  return {};
}

// What only members of the job know.
Result<> read_secrets(const Json& json, YarnMasterConfig& config) {
  GANGRUN_ASSIGN(std::string secret, json_member<std::string>(json, "secret"));
  config.secret = base::Secret(std::move(secret));
  GANGRUN_ASSIGN(const Json zookeeper, part(json, "zookeeper_files", false));
  GANGRUN_ASSIGN(config.zookeeper_files, registry::zookeeper_files_from_json(zookeeper));
  net::JobCertificate& certificate = config.certificate;
  GANGRUN_ASSIGN(certificate.certificate_pem, json_member<std::string>(json, "certificate"));
  GANGRUN_ASSIGN(std::string key, json_member<std::string>(json, "key"));
  certificate.key_pem = base::Secret(std::move(key));
  GANGRUN_ASSIGN(certificate.fingerprint, net::fingerprint_of(certificate.certificate_pem));
  return {};
}

// What tasks get, and from where.
Result<> read_files(const Json& json, YarnMasterConfig& config) {
  GANGRUN_ASSIGN(const Json files, part(json, "files", false));
  for (const auto& [link, file] : files.items()) {
    GANGRUN_ASSIGN(config.files[link], file_from(file));
  }
  GANGRUN_ASSIGN(const Json archives, part(json, "archives", false));
  for (const auto& [type, of_type] : archives.items()) {
    for (const auto& [link, archive] : of_type.items()) {
      GANGRUN_ASSIGN(config.archives[type][link], file_from(archive));
    }
  }
  return {};
}

}  // namespace

Result<YarnMasterConfig> yarn_master_config_from_json(const Json& json) {
  YarnMasterConfig config;
  GANGRUN_ASSIGN(const Json spec, part(json, "spec", false));
  GANGRUN_ASSIGN(config.spec, job::job_spec_from_json(spec, {&YarnOptions::section()}));
  GANGRUN_TRY(read_secrets(json, config));
  GANGRUN_ASSIGN(const std::string submitted, json_member<std::string>(json, "submitted"));
  GANGRUN_ASSIGN(config.submitted, base::parse_iso8601(submitted));
  GANGRUN_ASSIGN(const Json hadoop, part(json, "hadoop", false));
  for (const auto& [name, value] : hadoop.items()) {
    GANGRUN_ASSIGN(config.hadoop[name], json_member<std::string>(hadoop, name));
  }
  GANGRUN_TRY(read_user(json, config));
  GANGRUN_ASSIGN(const Json nodes, part(json, "nodes", true));
  for (const Json& node : nodes) {
    GANGRUN_ASSIGN(hadoop::NodeReport report, node_from(node));
    config.nodes.push_back(std::move(report));
  }
  GANGRUN_TRY(read_files(json, config));
  return config;
}

}  // namespace gangrun::cluster
