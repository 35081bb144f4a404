#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "mirror/login_errand.h"
#include "sasl/gssapi.h"
#include "sasl/gssapi_mechanism.h"

namespace gangrun::cli {

namespace {

base::Result<std::string> next_line() {
  std::string line;
  for (char letter = 0; std::cin.get(letter) && letter != '\n';) {
    if (line.size() >= mirror::kMaxLoginLineBytes) {
      return base::invalid_argument("a line of a login is too long");
    }
    line += letter;
  }
  if (!std::cin) return base::Error{base::Code::kCancelled, "nobody asks any more"};
  return line;
}

// The login, and who has to live as long as it.
struct Begun {
  std::unique_ptr<sasl::Identity> identity;
  std::unique_ptr<sasl::Gssapi> mechanism;
};

base::Result<Begun> begin(const client::Context& context) {
  GANGRUN_ASSIGN(const std::string line, next_line());
  GANGRUN_ASSIGN(const mirror::LoginErrand errand, mirror::login_errand_from(line));
  const bool has_config =
      !errand.krb5_config.empty() && ::access(errand.krb5_config.c_str(), R_OK) == 0;
  if (has_config && context.variable("KRB5_CONFIG").empty()) {
    // Before there is a thread: the library reads it from there only.
    ::setenv("KRB5_CONFIG", errand.krb5_config.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  GANGRUN_ASSIGN(const sasl::Principal server, sasl::parse_principal(errand.server));
  Begun begun;
  GANGRUN_ASSIGN(begun.identity,
                 sasl::open_identity({.principal = errand.principal, .keytab = errand.keytab}));
  GANGRUN_ASSIGN(auto security, begun.identity->open(server, sasl::GssMechanism::kKerberos));
  // The connection after the login is not guarded: whoever wants that has TLS.
  begun.mechanism = std::make_unique<sasl::Gssapi>(
      std::move(security), std::vector<sasl::Protection>{sasl::Protection::kAuthentication},
      "gangrun");
  return begun;
}

base::Result<mirror::LoginAnswer> answer_to(const std::string& line, sasl::Mechanism& mechanism) {
  GANGRUN_ASSIGN(const std::string challenge, mirror::challenge_from(line));
  mirror::LoginAnswer answer;
  GANGRUN_ASSIGN(answer.token, mechanism.respond(challenge));
  answer.is_last = mechanism.has_answered();
  return answer;
}

}  // namespace

client::ExitStatus run_login_errand(client::Context& context) {
  const auto begun = begin(context);
  if (!begun.ok()) {
    context.console.out(to_line(base::Result<mirror::LoginAnswer>(begun.error())));
    return client::ExitStatus::kCouldNotStart;
  }
  while (true) {
    const auto line = next_line();
    if (!line.ok()) return client::ExitStatus::kSuccess;
    const auto answer = answer_to(*line, *begun->mechanism);
    context.console.out(to_line(answer));
    if (!answer.ok()) return client::ExitStatus::kCouldNotStart;
  }
}

}  // namespace gangrun::cli
