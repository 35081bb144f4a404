#include "hadoop/token_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/format.h"
#include "hadoop/configuration.h"
#include "hadoop/resource_manager.h"
#include "hadoop/web_hdfs.h"
#include "net/hosts.h"

namespace gangrun::hadoop {

namespace {

constexpr base::Duration kResolveLimit = base::seconds(10);

base::Result<> add_file_system(const Configuration& configuration, const Account& account,
                               const FileSystem& file_system, const std::string& renewer,
                               base::Instant deadline, Credentials& out) {
  GANGRUN_ASSIGN(const std::string service,
                 token_service(configuration, file_system, addresses_of));
  WebHdfs files(file_system, web_hdfs_options(account));
  GANGRUN_ASSIGN(const std::optional<base::Secret> text,
                 files.get_delegation_token(renewer, service, deadline)
                     .context(base::format("a token for {}", to_string(file_system))));
  if (!text) return {};
  GANGRUN_ASSIGN(Token token, token_from_url_text(text->reveal()));
  // Releases that do not know the parameters leave these as they please.
  token.kind = kHdfsTokenKind;
  token.service = service;
  out.tokens[service] = std::move(token);
  return {};
}

base::Result<> add_manager(const Configuration& configuration, const Account& account,
                           const std::string& renewer, base::Instant deadline, Credentials& out) {
  GANGRUN_ASSIGN(const std::string service, manager_token_service(configuration, addresses_of));
  ResourceManagerClient manager(configuration, account);
  GANGRUN_ASSIGN(
      Token token,
      manager.delegation_token(renewer, deadline).context("a token for the ResourceManager"));
  token.service = service;
  out.tokens[service] = std::move(token);
  return {};
}

}  // namespace

std::vector<std::string> addresses_of(const std::string& host) {
  auto found = net::resolve(host, base::SystemClock().now() + kResolveLimit);
  return found.ok() ? *std::move(found) : std::vector<std::string>();
}

base::Result<Credentials> fetch_tokens(const Configuration& configuration, const Account& account,
                                       const TokensWanted& wanted, base::Instant deadline) {
  Credentials out;
  if (account.identity == nullptr) return out;
  std::string renewer = wanted.renewer;
  if (renewer.empty()) {
    GANGRUN_ASSIGN(renewer, token_renewer(configuration));
  }
  GANGRUN_ASSIGN(const auto file_systems, token_file_systems(configuration, wanted.file_systems));
  for (const FileSystem& one : file_systems) {
    GANGRUN_TRY(add_file_system(configuration, account, one, renewer, deadline, out));
  }
  GANGRUN_TRY(add_manager(configuration, account, renewer, deadline, out));
  return out;
}

base::Result<FreshTokens> fetch_own_tokens(const Configuration& configuration,
                                           const Account& account,
                                           const std::vector<std::string>& file_systems,
                                           base::Instant deadline) {
  if (account.identity == nullptr) return base::internal("tokens without anybody who gets them");
  const TokensWanted wanted{.file_systems = file_systems,
                            .renewer = to_string(account.identity->principal())};
  FreshTokens fresh;
  GANGRUN_ASSIGN(fresh.credentials, fetch_tokens(configuration, account, wanted, deadline));
  fresh.ends = base::WallTime::max();
  GANGRUN_ASSIGN(const auto systems, token_file_systems(configuration, file_systems));
  for (const FileSystem& one : systems) {
    GANGRUN_ASSIGN(const std::string service, token_service(configuration, one, addresses_of));
    const auto token = fresh.credentials.tokens.find(service);
    if (token == fresh.credentials.tokens.end()) continue;
    WebHdfs files(one, web_hdfs_options(account));
    GANGRUN_ASSIGN(const base::WallTime ends,
                   files.renew_delegation_token(to_url_text(token->second), deadline));
    fresh.ends = std::min(fresh.ends, ends);
  }
  ResourceManagerClient manager(configuration, account);
  for (const auto& [service, token] : fresh.credentials.tokens) {
    if (token.kind != kManagerTokenKind) continue;
    GANGRUN_ASSIGN(const base::WallTime ends, manager.renew(token, deadline));
    fresh.ends = std::min(fresh.ends, ends);
  }
  return fresh;
}

base::Secret web_hdfs_token(const Credentials& credentials, const std::string& service) {
  const auto found = std::ranges::find_if(credentials.tokens, [&service](const auto& entry) {
    return entry.second.kind == kHdfsTokenKind && entry.second.service == service;
  });
  return found == credentials.tokens.end() ? base::Secret() : to_url_text(found->second);
}

}  // namespace gangrun::hadoop
