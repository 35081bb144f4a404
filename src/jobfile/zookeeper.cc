#include "jobfile/zookeeper.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/choice.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/checks.h"
#include "jobfile/field_values.h"
#include "jobfile/job_fields.h"
#include "jobfile/job_values.h"

namespace gangrun::jobfile {

namespace {

constexpr std::size_t kMaxHostBytes = 255;
constexpr std::size_t kMaxRootBytes = 1024;
constexpr std::size_t kMaxPrincipalBytes = 1024;

// "host", "host:2181", "[fd00::5]:2181".
bool is_host(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view name = text;
  if (text.starts_with('[') ? colon != std::string_view::npos && text[colon - 1] == ']'
                            : colon != std::string_view::npos) {
    name = text.substr(0, colon);
    if (!job::parse_count(text.substr(colon + 1), 1, 65535).ok()) return false;
  }
  const bool in_brackets = name.starts_with('[') && name.ends_with(']');
  if (in_brackets) name = name.substr(1, name.size() - 2);
  return !name.empty() && name.size() <= kMaxHostBytes &&
         base::is_of_letters_digits_and(name, in_brackets ? ".-_:" : ".-_");
}

// ZooKeeper's own rules for paths, and ASCII.
bool is_root(std::string_view text) {
  if (!text.starts_with('/') || text.size() > kMaxRootBytes) return false;
  if (text == "/") return true;
  const auto parts = base::split(text.substr(1), '/');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  });
}

// Numbers and dots, or what stands in brackets: Kerberos knows servers by their names.
bool is_address(std::string_view host) {
  if (host.starts_with('[')) return true;
  const std::string_view name = host.substr(0, host.rfind(':'));
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c == '.' || base::is_digit(c); });
}

bool is_server_principal(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  return text.size() <= kMaxPrincipalBytes && slash != 0 && !rest.empty() &&
         !rest.starts_with('@') && !rest.ends_with('@') &&
         rest.find('/') == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// Members that have no meaning beside the rest, and those that are missing.
Found check_tls(const job::ZooKeeper& zookeeper) {
  const std::pair<const char*, const std::string*> files[] = {
      {"ca", &zookeeper.ca}, {"certificate", &zookeeper.certificate}, {"key", &zookeeper.key}};
  for (const auto& [key, value] : files) {
    if (value->empty()) continue;
    const std::string path = base::format("zookeeper.{}", key);
    if (!zookeeper.tls) return Problem{path, "has no use without `tls: true`"};
    if (auto found = check_bytes(*value, path)) return found;
  }
  if (zookeeper.certificate.empty() == zookeeper.key.empty()) return std::nullopt;
  return zookeeper.key.empty() ? Problem{"zookeeper.key", "is missing beside the certificate"}
                               : Problem{"zookeeper.certificate", "is missing beside the key"};
}

Found check_login(const job::ZooKeeper& zookeeper) {
  const bool is_digest = zookeeper.login == job::ZooKeeperLogin::kDigest;
  const std::pair<const char*, const std::string*> texts[] = {
      {"user", &zookeeper.user}, {"password_file", &zookeeper.password_file}};
  for (const auto& [key, value] : texts) {
    const std::string path = base::format("zookeeper.{}", key);
    if (is_digest && value->empty()) return Problem{path, "is required with `login: digest`"};
    if (!is_digest && !value->empty()) return Problem{path, "has no use without `login: digest`"};
    if (auto found = check_bytes(*value, path)) return found;
  }
  const std::string& principal = zookeeper.principal;
  if (zookeeper.login != job::ZooKeeperLogin::kKerberos) {
    if (principal.empty()) return std::nullopt;
    return Problem{"zookeeper.principal", "has no use without `login: kerberos`"};
  }
  if (!principal.empty() && !is_server_principal(principal)) {
    return Problem{"zookeeper.principal",
                   base::format("{} is not a server's principal; allowed: SERVICE/HOST or "
                                "SERVICE/HOST@REALM, with _HOST for the server's name",
                                job::in_quotes(principal))};
  }
  if (!principal.empty() && principal.find("/_HOST") == std::string::npos) return std::nullopt;
  const auto unnamed = std::find_if(zookeeper.hosts.begin(), zookeeper.hosts.end(), is_address);
  if (unnamed == zookeeper.hosts.end()) return std::nullopt;
  return Problem{"zookeeper.hosts",
                 base::format("{} is an address, and Kerberos knows servers by their names; name "
                              "the host, or its principal in zookeeper.principal",
                              job::in_quotes(*unnamed))};
}

constexpr FieldRow<job::ZooKeeper> kZookeeperFields[] = {
    field_of<&job::ZooKeeper::hosts>({
        .key = "hosts",
        .about = "HOST or HOST:PORT",
        .allowed = "HOST or HOST:PORT, HOST or HOST:PORT",
        .reference = "a list of `HOST` or `HOST:PORT`, at most 32; the default port is 2181",
        .default_words = "Hadoop's `hadoop.registry.zk.quorum`",
        .schema =
            R"({"type": "array", "maxItems": 32, "uniqueItems": true, "items": {"type": "string"}})",
    }),
    field_of<&job::ZooKeeper::root>({
        .key = "root",
        .about = "Path below which the job is mirrored",
        .allowed = "a path, for example /registry",
        .reference = "the path below which the job is mirrored",
        .default_words = "Hadoop's `hadoop.registry.zk.root`, else `/registry`",
        .schema = R"({"pattern": "^/"})",
    }),
    own_field<read_readers, readers_json, &job::ZooKeeper::readable_by_all>({
        .key = "readable_by",
        .about = "Who can read the mirror",
        .reference = "`all`, or `job`: only who knows the job's secret",
        .default_words = "`all`",
        .schema = R"({"enum": ["all", "job"], "default": "all"})",
    }),
    field_of<&job::ZooKeeper::tls>({
        .key = "tls",
        .about = "Whether the servers are reached by TLS",
        .reference = "`true`: the servers are reached by TLS, at their `secureClientPort`",
    }),
    field_of<&job::ZooKeeper::ca>({
        .key = "ca",
        .about = "A file with the certificates of those who vouch for the servers (PEM)",
        .allowed = "a file with certificates",
        .reference = "with `tls`: a file with the certificates of those who vouch for the servers "
                     "(PEM)",
        .default_words = "whom the system trusts",
        .is_path = true,
    }),
    field_of<&job::ZooKeeper::certificate>({
        .key = "certificate",
        .about = "A file with the certificate that is shown to the servers (PEM)",
        .allowed = "a file with a certificate",
        .reference = "with `tls` and `key`: a file with the certificate that is shown to the "
                     "servers (PEM)",
        .default_words = "none",
        .is_path = true,
    }),
    field_of<&job::ZooKeeper::key>({
        .key = "key",
        .about = "A file with the key of the certificate (PEM)",
        .allowed = "a file with a key",
        .reference = "a file with the key of `certificate` (PEM, not encrypted), which nobody else "
                     "may read",
        .default_words = "none",
        .is_path = true,
    }),
    field_of<&job::ZooKeeper::login>({
        .key = "login",
        .about = "How the job logs in by SASL",
        .reference = "how the job logs in by SASL: `digest` (DIGEST-MD5), `kerberos`, or `none`",
    }),
    field_of<&job::ZooKeeper::user>({
        .key = "user",
        .about = "User of the login digest",
        .allowed = "the name of a user",
        .reference = "the user, required with `login: digest`",
        .default_words = "none",
    }),
    field_of<&job::ZooKeeper::password_file>({
        .key = "password_file",
        .about = "A file with the password of the user",
        .allowed = "a file with a password",
        .reference = "a file with the user's password and nothing else, which nobody else may "
                     "read; required with `login: digest`",
        .default_words = "none",
        .is_path = true,
    }),
    field_of<&job::ZooKeeper::principal>({
        .key = "principal",
        .about = "Kerberos principal of the servers",
        .allowed = "a Kerberos principal, SERVICE/HOST or SERVICE/HOST@REALM",
        .reference = "with `login: kerberos`: the servers' principal, `SERVICE/HOST@REALM`; "
                     "`_HOST` stands for the server's name as `hosts` has it",
        .default_words = "`zookeeper/_HOST`",
    }),
    field_of<&job::ZooKeeper::required>({
        .key = "required",
        .about = "Whether the job is refused where ZooKeeper cannot be reached",
        .reference = "`true`: the job is refused before it starts, with exit status 3, where no "
                     "server can be reached or none takes the login",
    }),
};

}  // namespace

FieldRows<job::ZooKeeper> zookeeper_fields() { return kZookeeperFields; }

base::Result<bool> readers_from(std::string_view text) {
  if (text == "all") return true;
  if (text == "job") return false;
  return job::not_one_of(text, "who may read", {"all", "job"});
}

Found check_zookeeper(const job::ZooKeeper& zookeeper) {
  if (auto found =
          check_count(zookeeper.hosts.size(), job::kMaxZooKeeperHosts, "hosts", "zookeeper.hosts"))
    return found;
  std::set<std::string> seen;
  for (const std::string& host : zookeeper.hosts) {
    if (!is_host(host)) {
      return Problem{
          "zookeeper.hosts",
          base::format("{} is not a host; allowed: HOST or HOST:PORT, an IPv6 address in "
                       "brackets",
                       job::in_quotes(host))};
    }
    if (!seen.insert(host).second) {
      return Problem{"zookeeper.hosts", base::format("{} is named twice", job::in_quotes(host))};
    }
  }
  if (auto found = check_tls(zookeeper)) return found;
  if (auto found = check_login(zookeeper)) return found;
  if (zookeeper.root.empty() || is_root(zookeeper.root)) return std::nullopt;
  return Problem{"zookeeper.root",
                 base::format("{} is not a path in ZooKeeper; allowed: /NAME or /NAME/NAME, at "
                              "most {} bytes",
                              job::in_quotes(zookeeper.root), kMaxRootBytes)};
}

}  // namespace gangrun::jobfile
