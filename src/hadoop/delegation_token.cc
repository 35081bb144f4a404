#include "hadoop/delegation_token.h"

#include <proto/hadoop/yarn_records.pb.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "hadoop/configuration.h"
#include "hadoop/rpc_round.h"
#include "net/hosts.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kView = "viewfs://";
constexpr std::string_view kMountTables = "fs.viewfs.mounttable.";
constexpr int kDefaultRpcPort = 8020;
// A view of views of views is a mistake.
constexpr int kMaxViews = 8;
constexpr std::int64_t kLatest = std::int64_t{1} << 42U;  // in the year 2109

// Times far off are those of tokens without an end.
std::optional<TokenLife> life_from(std::int64_t issued_ms, std::int64_t ends_ms) {
  if (issued_ms < 0 || ends_ms <= issued_ms || ends_ms > kLatest) return std::nullopt;
  return TokenLife{wall_time_of(issued_ms), wall_time_of(ends_ms)};
}

bool skip_text(std::string_view& bytes) {
  const std::optional<std::int64_t> size = take_variable_integer(bytes);
  if (!size || *size < 0 || *size > std::ssize(bytes)) return false;
  bytes.remove_prefix(static_cast<std::size_t>(*size));
  return true;
}

// AbstractDelegationTokenIdentifier: a version, owner, renewer, real user, two times, two numbers.
std::optional<TokenLife> life_of_hdfs(std::string_view identifier) {
  if (identifier.empty() || identifier.front() != 0) return std::nullopt;
  identifier.remove_prefix(1);
  for (int i = 0; i < 3; ++i) {
    if (!skip_text(identifier)) return std::nullopt;
  }
  const auto issued = take_variable_integer(identifier);
  const auto ends = take_variable_integer(identifier);
  return issued && ends ? life_from(*issued, *ends) : std::nullopt;
}

// SecurityUtil.buildTokenService(): the address as Java resolves it, IPv4 before IPv6.
base::Result<std::string> service_of(const Configuration& configuration, const std::string& host,
                                     int port, const Addresses& addresses) {
  GANGRUN_ASSIGN(const bool use_ip,
                 configuration.boolean("hadoop.security.token.service.use_ip", true));
  if (!use_ip) return net::host_port(base::in_small_letters(host), port);
  const std::vector<std::string> found = addresses(host);
  if (found.empty()) {
    return base::unavailable(base::format("nobody knows the address of {}", host));
  }
  const auto number = std::ranges::find_if(
      found, [](const std::string& one) { return one.find(':') == std::string::npos; });
  return base::format("{}:{}", number == found.end() ? found.front() : *number, port);
}

// The addresses to which the links of a view's table lead.
std::vector<std::string> targets_of(const Configuration& configuration, const std::string& url) {
  std::string table = url.substr(kView.size());
  table = table.substr(0, table.find('/'));
  if (table.empty()) {
    table = configuration.get_or(base::format("{}default.name.key", kMountTables), "default");
  }
  const std::string prefix = base::format("{}{}.link", kMountTables, table);
  std::vector<std::string> targets;
  for (const std::string& name : configuration.names()) {
    if (!name.starts_with(prefix)) continue;
    for (std::string& target : configuration.list(name)) targets.push_back(std::move(target));
  }
  return targets;
}

// `url` and what it leads to, at the end of `found`.
base::Result<> collect(const Configuration& configuration, const std::string& url, int depth,
                       std::vector<FileSystem>& found) {
  if (url.starts_with(kView)) {
    const std::vector<std::string> targets = targets_of(configuration, url);
    if (targets.empty() || depth == kMaxViews) {
      return base::invalid_argument(base::format(
          "{} leads nowhere: the configuration has no {}….link… for it", url, kMountTables));
    }
    for (const std::string& target : targets) {
      GANGRUN_TRY(collect(configuration, target, depth + 1, found));
    }
    return {};
  }
  const bool is_hdfs = url.empty() || url.starts_with("hdfs://");
  if (!is_hdfs) return {};
  GANGRUN_ASSIGN(FileSystem one, find_file_system(configuration, url));
  const auto is_same = [&one](const FileSystem& other) {
    return to_string(one) == to_string(other);
  };
  if (std::ranges::none_of(found, is_same)) found.push_back(std::move(one));
  return {};
}

}  // namespace

base::WallTime wall_time_of(std::int64_t milliseconds) {
  return base::WallTime(base::milliseconds(std::clamp<std::int64_t>(milliseconds, 0, kLatest)));
}

std::optional<TokenLife> life_of(const Token& token) {
  if (token.kind == kHdfsTokenKind) return life_of_hdfs(token.identifier);
  if (token.kind != kManagerTokenKind) return std::nullopt;
  ::hadoop::yarn::YARNDelegationTokenIdentifierProto identifier;
  if (!identifier.ParseFromString(token.identifier)) return std::nullopt;
  return life_from(identifier.issuedate(), identifier.maxdate());
}

std::optional<TokenLife> life_of(const Credentials& credentials) {
  std::optional<TokenLife> life;
  for (const auto& [alias, token] : credentials.tokens) {
    const std::optional<TokenLife> one = life_of(token);
    if (!one) continue;
    if (!life) life = one;
    life->issued = std::max(life->issued, one->issued);
    life->ends = std::min(life->ends, one->ends);
  }
  return life;
}

base::Result<std::string> token_service(const Configuration& configuration,
                                        const FileSystem& file_system, const Addresses& addresses) {
  if (!configuration.list("dfs.ha.namenodes." + file_system.host).empty()) {
    return "ha-hdfs:" + file_system.host;
  }
  const int port = file_system.port < 0 ? kDefaultRpcPort : file_system.port;
  return service_of(configuration, file_system.host, port, addresses);
}

base::Result<std::string> manager_token_service(const Configuration& configuration,
                                                const Addresses& addresses) {
  GANGRUN_ASSIGN(const auto servers, resource_manager_addresses(configuration));
  std::vector<std::string> services;
  for (const ServerAddress& server : servers) {
    GANGRUN_ASSIGN(std::string service,
                   service_of(configuration, server.host, server.port, addresses));
    services.push_back(std::move(service));
  }
  return base::format("{}", base::join(services, ","));
}

base::Result<std::string> token_renewer(const Configuration& configuration) {
  const std::string text = configuration.get_or(kManagerPrincipal, "");
  if (text.empty()) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} is not set, so nobody can be named who renews the job's "
                                    "tokens: take the cluster's own configuration",
                                    kManagerPrincipal)};
  }
  const auto principal = sasl::parse_principal(text);
  if (!principal.ok()) return configuration.error(kManagerPrincipal, "expected name/_HOST@REALM");
  GANGRUN_ASSIGN(const auto servers, resource_manager_addresses(configuration));
  // The cluster's rules make the same name of the principals of all.
  return to_string(with_host(*principal, servers.front().host));
}

base::Result<std::vector<FileSystem>> token_file_systems(const Configuration& configuration,
                                                         const std::vector<std::string>& urls) {
  std::vector<FileSystem> found;
  GANGRUN_TRY(collect(configuration, configuration.get_or("fs.defaultFS", ""), 0, found));
  for (const std::string& url : urls) {
    GANGRUN_TRY(collect(configuration, url, 0, found).context("file_systems"));
  }
  return found;
}

}  // namespace gangrun::hadoop
