#include "cluster/yarn/node_trial.h"

#include <utility>

#include "base/format.h"
#include "cluster/yarn/cluster_checks.h"
#include "cluster/yarn/job_access.h"
#include "hadoop/web_hdfs.h"

namespace gangrun::cluster {

namespace {

using base::Result;

// All questions about one file together.
constexpr std::chrono::seconds kFileTimeout{20};
constexpr std::string_view kContent = "hello from gangrun\n";

Result<> write_and_read(hadoop::WebHdfs& files, const std::string& path, base::Instant deadline) {
  GANGRUN_TRY(files.create(path, kContent, {.permission = kOwnFile}, deadline));
  GANGRUN_ASSIGN(const std::string back, files.read(path, kContent.size() + 1, deadline));
  if (back != kContent) {
    return base::Error{base::Code::kDataLoss,
                       base::format("the bytes read from {} differ from those written", path)};
  }
  GANGRUN_ASSIGN(const bool removed, files.remove(path, false, deadline));
  if (removed) return {};
  return base::Error{base::Code::kDataLoss, base::format("{} was gone by itself", path)};
}

base::Json place_json(const TrialPlace& place) {
  return {{"scheme", place.file_system.scheme},
          {"host", place.file_system.host},
          {"port", place.file_system.port},
          {"addresses", place.file_system.addresses},
          {"folder", place.folder},
          {"token_service", place.token_service}};
}

Result<TrialPlace> place_from(const base::Json& json) {
  TrialPlace place;
  GANGRUN_ASSIGN(place.file_system.scheme, base::json_member<std::string>(json, "scheme"));
  GANGRUN_ASSIGN(place.file_system.host, base::json_member<std::string>(json, "host"));
  GANGRUN_ASSIGN(place.file_system.port, base::json_member<std::int32_t>(json, "port"));
  GANGRUN_ASSIGN(place.file_system.addresses,
                 base::json_member<std::vector<std::string>>(json, "addresses"));
  GANGRUN_ASSIGN(place.folder, base::json_member<std::string>(json, "folder"));
  GANGRUN_ASSIGN(place.token_service, base::json_member<std::string>(json, "token_service"));
  return place;
}

}  // namespace

std::string url_of(const TrialPlace& place, const std::string& file) {
  return base::format("{}{}/{}", hadoop::to_string(place.file_system), place.folder, file);
}

base::Json to_json(const NodeTrial& trial) {
  base::Json places = base::Json::array();
  for (const TrialPlace& place : trial.places) places.push_back(place_json(place));
  return {{"places", std::move(places)},
          {"user", trial.user},
          {"python", trial.python},
          {"python_is_named", trial.python_is_named}};
}

Result<NodeTrial> node_trial_from_json(const base::Json& json) {
  NodeTrial trial;
  GANGRUN_ASSIGN(trial.user, base::json_member<std::string>(json, "user"));
  GANGRUN_ASSIGN(trial.python, base::json_member<std::string>(json, "python"));
  GANGRUN_ASSIGN(trial.python_is_named, base::json_member<bool>(json, "python_is_named"));
  const auto places = json.find("places");
  if (places == json.end() || !places->is_array()) {
    return base::invalid_argument("\"places\" must be a list");
  }
  for (const base::Json& place : *places) {
    GANGRUN_ASSIGN(trial.places.emplace_back(), place_from(place));
  }
  return trial;
}

Check try_file(const TrialPlace& place, const hadoop::WebHdfsOptions& access,
               const std::string& file, const std::string& where, const base::Clock& clock) {
  const std::string name = hadoop::to_string(place.file_system) + where;
  hadoop::WebHdfs files(place.file_system, access);
  const auto done = write_and_read(files, place.folder + "/" + file, clock.now() + kFileTimeout);
  if (!done.ok()) {
    return {name, Verdict::kFailed, done.error().message,
            to_do_about_hdfs(done.error(), access.user)};
  }
  return {name, Verdict::kOk,
          base::format("a file was written, read and removed below {}", place.folder)};
}

}  // namespace gangrun::cluster
