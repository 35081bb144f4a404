#include "yarn/zookeeper_defaults.h"

#include "base/format.h"
#include "jobfile/zookeeper.h"

namespace gangrun::yarn {

namespace {

constexpr const char* kQuorum = "hadoop.registry.zk.quorum";
constexpr const char* kRoot = "hadoop.registry.zk.root";
// Which Hadoop reads, and which its documents name.
constexpr const char* kAccounts = "hadoop.registry.system.accounts";
constexpr const char* kDocumentedAccounts = "hadoop.registry.system.acls";

}  // namespace

base::Result<job::ZooKeeper> with_defaults_of(const job::ZooKeeper& zookeeper,
                                              const hadoop::Configuration& configuration) {
  job::ZooKeeper full = zookeeper;
  if (full.hosts.empty()) full.hosts = configuration.list(kQuorum);
  if (full.hosts.empty()) {
    return base::invalid_argument(
        base::format("zookeeper.hosts is not given, and Hadoop's configuration does not say {}; "
                     "allowed: a list of HOST or HOST:PORT in either",
                     kQuorum));
  }
  if (full.root.empty()) full.root = configuration.get_or(kRoot, "");
  if (const auto problem = jobfile::check_zookeeper(full)) {
    const bool is_root = problem->path == "zookeeper.root";
    return configuration.error(is_root ? kRoot : kQuorum,
                               is_root ? "expected a path such as /registry" : problem->text);
  }
  return full;
}

std::vector<mirror::Administrator> registry_administrators(
    const hadoop::Configuration& configuration, const RegistryLogin& login) {
  const bool is_secure = configuration.boolean("hadoop.registry.secure", false).value_or(false);
  const std::string realm = configuration.get_or("hadoop.registry.kerberos.realm", login.realm);
  std::vector<std::string> texts = configuration.list(kAccounts);
  if (texts.empty()) texts = configuration.list(kDocumentedAccounts);
  if (texts.empty() && is_secure)
    texts = {"sasl:yarn@", "sasl:mapred@", "sasl:hdfs@", "sasl:hadoop@"};
  std::vector<mirror::Administrator> found;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) continue;
    mirror::Administrator one{text.substr(0, colon), text.substr(colon + 1)};
    const bool is_sasl = one.scheme == "sasl";
    if (is_sasl && one.id.ends_with('@')) {
      if (realm.empty()) continue;
      one.id += realm;
    }
    if ((is_sasl && (is_secure || login.is_there)) || one.scheme == "digest") {
      found.push_back(std::move(one));
    }
  }
  return found;
}

}  // namespace gangrun::yarn
