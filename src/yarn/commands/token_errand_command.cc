#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "client/fail.h"
#include "hadoop/configuration.h"
#include "hadoop/token_source.h"
#include "job/described.h"
#include "sasl/gssapi.h"
#include "yarn/commands/yarn_place.h"
#include "yarn/token_errand.h"

namespace gangrun::yarn::commands {

namespace {

// Less than the master waits for us.
constexpr std::chrono::minutes kLimit{2};

base::Result<base::WallTime> get_tokens(const std::string& file, const client::Context& context) {
  GANGRUN_ASSIGN(const std::string text, base::read_file(file, yarn::kMaxTokenErrandBytes));
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, yarn::kMaxTokenErrandBytes));
  GANGRUN_ASSIGN(const yarn::TokenErrand errand, base::from_json<yarn::TokenErrand>(json));
  const bool has_config =
      !errand.krb5_config.empty() && ::access(errand.krb5_config.c_str(), R_OK) == 0;
  if (has_config && context.variable("KRB5_CONFIG").empty()) {
    // Before there is a thread: the library reads it from there only.
    ::setenv("KRB5_CONFIG", errand.krb5_config.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  hadoop::Configuration configuration;
  for (const auto& [name, value] : errand.hadoop) configuration.set(name, value);
  hadoop::Account account(errand.user);
  GANGRUN_ASSIGN(account.identity,
                 sasl::open_identity({.principal = errand.principal, .keytab = errand.keytab}));
  GANGRUN_ASSIGN(const hadoop::FreshTokens fresh,
                 hadoop::fetch_own_tokens(configuration, account, errand.file_systems,
                                          context.clock.now() + kLimit));
  GANGRUN_TRY(base::write_file_atomically(errand.output,
                                          hadoop::encode_credentials(fresh.credentials), 0600));
  return fresh.ends;
}

}  // namespace

client::ExitStatus run_token_errand(const std::string& file, client::Context& context) {
  const auto ends = get_tokens(file, context);
  if (!ends.ok()) return client::fail(context, ends.error(), client::ExitStatus::kCouldNotStart);
  context.console.out(yarn::token_answer(*ends) + "\n");
  return client::ExitStatus::kSuccess;
}

}  // namespace gangrun::yarn::commands
