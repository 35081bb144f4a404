#include "hadoop/file_system.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "base/strings.h"
#include "hadoop/configuration.h"
#include "net/hosts.h"
#include "net/url.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kNameNodeHttpPort = "9870";
constexpr std::string_view kNameNodeHttpsPort = "9871";
constexpr int kRpcPort = 8020;
constexpr std::string_view kEveryInterface = "0.0.0.0";

struct Authority {
  std::string scheme;
  std::string host;
  std::int32_t port = -1;
};

// "scheme://host:port/…" of any scheme: net::parse_url() knows two.
base::Result<Authority> authority_of(const std::string& url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string::npos) {
    return base::invalid_argument(base::format("\"{}\" names no file system", url));
  }
  Authority out;
  out.scheme = url.substr(0, colon);
  const std::string rest = url.substr(colon + 3);
  const std::string named = rest.substr(0, rest.find('/'));
  if (named.empty()) return out;
  GANGRUN_ASSIGN(const net::Url parsed, net::parse_url("http://" + named));
  out.host = parsed.host;
  // net::parse_url() gives HTTP's port where none stands there.
  const std::size_t last = named.find_last_of(":]");
  if (last != std::string::npos && named[last] == ':') out.port = parsed.port;
  return out;
}

// Two names of one NameNode.
bool is_same(const Authority& one, const Authority& other) {
  const auto port = [](const Authority& of) { return of.port < 0 ? kRpcPort : of.port; };
  return one.host == other.host && port(one) == port(other);
}

struct Web {
  std::string_view scheme;
  std::string_view key;
  std::string_view port;
};

// How the NameNodes are spoken to: HTTPS only where nothing else is served.
Web web_of(const Configuration& configuration) {
  if (configuration.get_or("dfs.http.policy", "HTTP_ONLY") == "HTTPS_ONLY") {
    return {"https", "dfs.namenode.https-address", kNameNodeHttpsPort};
  }
  return {"http", "dfs.namenode.http-address", kNameNodeHttpPort};
}

// The address of one NameNode from its key, "host:port"; `host` where it listens everywhere.
std::optional<std::string> address_of(const Configuration& configuration, const Web& web,
                                      const std::string& key, const std::string& host) {
  const std::string value = configuration.get_or(key, "");
  if (value.empty()) return std::nullopt;
  const std::size_t colon = value.rfind(':');
  std::string name = value.substr(0, colon);
  if (name == kEveryInterface || name.empty()) name = host;
  if (name.empty()) return std::nullopt;
  const std::string port =
      colon == std::string::npos ? std::string(web.port) : value.substr(colon + 1);
  return base::format("{}://{}:{}", web.scheme, name, port);
}

std::string default_address(const Web& web, const std::string& host) {
  const bool bare = host.find(':') != std::string::npos && !host.starts_with('[');
  return base::format("{}://{}:{}", web.scheme, bare ? "[" + host + "]" : host, web.port);
}

// The NameNodes of a name service. Each key may carry the service's name and the NameNode's.
base::Result<std::vector<std::string>> addresses_of_service(const Configuration& configuration,
                                                            const std::string& service) {
  const Web web = web_of(configuration);
  std::vector<std::string> out;
  const std::string list = "dfs.ha.namenodes." + service;
  const std::vector<std::string> nodes = configuration.list(list);
  const auto add = [&](const std::string& suffix) {
    // The name of a NameNode that listens everywhere stands in its RPC address.
    const std::string rpc = configuration.get_or("dfs.namenode.rpc-address" + suffix, "");
    const std::string host = rpc.substr(0, rpc.rfind(':'));
    auto found = address_of(configuration, web, std::string(web.key) + suffix, host);
    if (!found && !host.empty()) found = default_address(web, host);
    if (found) out.push_back(std::move(*found));
  };
  for (const std::string& node : nodes) add(base::format(".{}.{}", service, node));
  if (nodes.empty()) add("." + service);
  if (nodes.empty() && out.empty()) add("");
  if (out.empty()) {
    return base::invalid_argument(
        base::format("the configuration does not tell where the NameNodes of \"{0}\" are: {1} and "
                     "{2}.{0}.… are missing",
                     service, list, web.key));
  }
  return out;
}

bool is_service(const Configuration& configuration, const std::string& host) {
  for (const std::string_view key : {"dfs.nameservices", "dfs.internal.nameservices"}) {
    const auto names = configuration.list(key);
    if (std::find(names.begin(), names.end(), host) != names.end()) return true;
  }
  return !configuration.list("dfs.ha.namenodes." + host).empty();
}

// The web address of the NameNode whose RPC address is this one, wherever it stands in the
// configuration: with federation and with others' clusters the keys carry a service's name.
std::optional<std::string> address_by_rpc(const Configuration& configuration, const Web& web,
                                          const Authority& authority) {
  constexpr std::string_view kRpcAddress = "dfs.namenode.rpc-address";
  for (const std::string& name : configuration.names()) {
    if (!name.starts_with(kRpcAddress)) continue;
    const std::string value = configuration.get_or(name, "");
    const auto rpc = authority_of("hdfs://" + value);
    if (!rpc.ok() || !is_same(*rpc, authority)) continue;
    const std::string key = std::string(web.key) + name.substr(kRpcAddress.size());
    if (auto found = address_of(configuration, web, key, authority.host)) return found;
  }
  return std::nullopt;
}

// The only web address on this host that stands anywhere in the configuration.
std::optional<std::string> address_on_host(const Configuration& configuration, const Web& web,
                                           const std::string& host) {
  std::optional<std::string> only;
  for (const std::string& name : configuration.names()) {
    if (name != web.key && !name.starts_with(std::string(web.key) + ".")) continue;
    const auto there = authority_of("http://" + configuration.get_or(name, ""));
    if (!there.ok() || there->host != host) continue;
    auto found = address_of(configuration, web, name, host);
    if (only && only != found) return std::nullopt;
    only = std::move(found);
  }
  return only;
}

}  // namespace

std::string to_string(const FileSystem& file_system) {
  return base::format(
      "{}://{}", file_system.scheme,
      file_system.port < 0 ? file_system.host : net::host_port(file_system.host, file_system.port));
}

std::string path_of(const std::string& url) {
  const std::size_t authority = url.find("://");
  const std::size_t slash = authority == std::string::npos ? 0 : url.find('/', authority + 3);
  return slash == std::string::npos ? std::string("/") : url.substr(slash);
}

base::Result<FileSystem> find_file_system(const Configuration& configuration,
                                          const std::string& url) {
  // A URL without an authority is the default one's: "hdfs:///data".
  const bool is_default = url.empty() || url.starts_with("hdfs:///");
  const std::string named = is_default ? configuration.get_or("fs.defaultFS", "file:///") : url;
  auto authority = authority_of(named);
  if (!authority.ok()) return std::move(authority).error().context("fs.defaultFS");
  FileSystem out;
  out.host = authority->host;
  out.port = authority->port;
  const std::string& scheme = authority->scheme;
  if (!out.host.empty() && scheme == "hdfs") {
    if (is_service(configuration, out.host)) {
      out.port = -1;
      GANGRUN_ASSIGN(out.addresses, addresses_of_service(configuration, out.host));
      return out;
    }
    const Web web = web_of(configuration);
    if (auto found = address_by_rpc(configuration, web, *authority)) {
      out.addresses = {*std::move(found)};
      return out;
    }
    const auto own = authority_of(configuration.get_or("fs.defaultFS", ""));
    const bool is_configured = is_default || (own.ok() && is_same(*own, *authority));
    const std::string key = is_configured ? std::string(web.key) : std::string();
    auto known = address_of(configuration, web, key, out.host);
    if (!known) known = address_on_host(configuration, web, out.host);
    out.is_assumed = !known;
    out.addresses = {std::move(known).value_or(default_address(web, out.host))};
    return out;
  }
  const bool tls = scheme == "swebhdfs" || scheme == "https";
  if (!out.host.empty() && (tls || scheme == "webhdfs" || scheme == "http")) {
    const Web web = tls ? Web{"https", {}, kNameNodeHttpsPort} : Web{"http", {}, kNameNodeHttpPort};
    out.scheme = tls ? "swebhdfs" : "webhdfs";
    if (out.port < 0) out.port = static_cast<std::int32_t>(*base::parse_integer(web.port));
    out.addresses = {base::format("{}://{}", web.scheme, net::host_port(out.host, out.port))};
    return out;
  }
  return base::invalid_argument(base::format(
      "{} is \"{}\": files can be handed to YARN only through an HDFS (hdfs://…, webhdfs://…)",
      is_default ? "fs.defaultFS" : "the file system", named));
}

}  // namespace gangrun::hadoop
