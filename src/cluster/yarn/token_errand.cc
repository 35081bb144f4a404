#include "cluster/yarn/token_errand.h"

#include <string_view>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

using base::Json;
using base::json_member;
using base::Result;

constexpr std::string_view kAnswer = "tokens are good until ";
constexpr std::size_t kShownBytes = 500;

Result<Json> errand_part(const Json& json, const char* name, bool is_array) {
  const auto found = json.find(name);
  if (found == json.end() || (is_array ? !found->is_array() : !found->is_object())) {
    return base::invalid_argument(base::format("\"{}\" is missing or of another type", name));
  }
  return *found;
}

}  // namespace

Json to_json(const TokenErrand& errand) {
  return {{"hadoop", errand.hadoop},
          {"user", errand.user},
          {"principal", errand.principal},
          {"keytab", errand.keytab},
          {"krb5_config", errand.krb5_config},
          {"file_systems", errand.file_systems},
          {"output", errand.output}};
}

Result<TokenErrand> token_errand_from_json(const Json& json) {
  TokenErrand errand;
  GANGRUN_ASSIGN(const Json hadoop, errand_part(json, "hadoop", false));
  for (const auto& [name, value] : hadoop.items()) {
    GANGRUN_ASSIGN(errand.hadoop[name], json_member<std::string>(hadoop, name));
  }
  GANGRUN_ASSIGN(errand.user, json_member<std::string>(json, "user"));
  GANGRUN_ASSIGN(errand.principal, json_member<std::string>(json, "principal"));
  GANGRUN_ASSIGN(errand.keytab, json_member<std::string>(json, "keytab"));
  GANGRUN_ASSIGN(errand.krb5_config, json_member<std::string>(json, "krb5_config"));
  GANGRUN_ASSIGN(const Json urls, errand_part(json, "file_systems", true));
  for (const Json& url : urls) {
    if (!url.is_string())
      return base::invalid_argument("\"file_systems\" has an entry that is not a text");
    errand.file_systems.push_back(url.get<std::string>());
  }
  GANGRUN_ASSIGN(errand.output, json_member<std::string>(json, "output"));
  return errand;
}

std::string token_answer(base::WallTime ends) {
  return base::format("{}{}", kAnswer, base::to_iso8601(ends));
}

Result<base::WallTime> token_answer_from(const std::string& output) {
  std::string last;
  for (const std::string& line : base::split(output, '\n')) {
    if (line.starts_with(kAnswer)) return base::parse_iso8601(line.substr(kAnswer.size()));
    if (!base::trim(line).empty()) last = base::trim(line);
  }
  return base::internal(last.empty() ? "gangrun printed nothing"
                                     : base::shorten(last, kShownBytes));
}

}  // namespace gangrun::cluster
