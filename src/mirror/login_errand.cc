#include "mirror/login_errand.h"

#include <optional>
#include <utility>

#include "net/digests.h"

namespace gangrun::mirror {

namespace {

using base::Result;

std::string whole_line(const base::Json& json) { return base::dump_json(json) + "\n"; }

Result<std::string> bytes_of(const std::string& text) {
  std::optional<std::string> bytes = net::from_base64(text);
  if (!bytes) return base::internal("a token of a login is not in base64");
  return *std::move(bytes);
}

}  // namespace

std::string to_line(const LoginErrand& errand) {
  return whole_line({{"server", errand.server},
                     {"principal", errand.principal},
                     {"keytab", errand.keytab},
                     {"krb5_config", errand.krb5_config}});
}

Result<LoginErrand> login_errand_from(std::string_view line) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(line, kMaxLoginLineBytes));
  LoginErrand errand;
  GANGRUN_ASSIGN(errand.server, base::json_member<std::string>(json, "server"));
  GANGRUN_ASSIGN(errand.principal, base::json_member<std::string>(json, "principal"));
  GANGRUN_ASSIGN(errand.keytab, base::json_member<std::string>(json, "keytab"));
  GANGRUN_ASSIGN(errand.krb5_config, base::json_member<std::string>(json, "krb5_config"));
  return errand;
}

std::string challenge_line(std::string_view challenge) {
  return whole_line({{"challenge", net::to_base64(challenge)}});
}

Result<std::string> challenge_from(std::string_view line) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(line, kMaxLoginLineBytes));
  GANGRUN_ASSIGN(const std::string text, base::json_member<std::string>(json, "challenge"));
  return bytes_of(text);
}

std::string to_line(const Result<LoginAnswer>& answer) {
  if (!answer.ok()) return whole_line({{"error", answer.error().message}});
  return whole_line({{"token", net::to_base64(answer->token)}, {"is_last", answer->is_last}});
}

Result<LoginAnswer> login_answer_from(std::string_view line) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(line, kMaxLoginLineBytes));
  GANGRUN_ASSIGN(std::string error,
                 base::json_member_or<std::string>(json, "error", std::string()));
  if (!error.empty()) return base::Error{base::Code::kUnauthenticated, std::move(error)};
  GANGRUN_ASSIGN(const std::string text, base::json_member<std::string>(json, "token"));
  LoginAnswer answer;
  GANGRUN_ASSIGN(answer.token, bytes_of(text));
  GANGRUN_ASSIGN(answer.is_last, base::json_member<bool>(json, "is_last"));
  return answer;
}

}  // namespace gangrun::mirror
