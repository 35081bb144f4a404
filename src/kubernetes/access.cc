#include "kubernetes/access.h"

#include <set>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/api_url.h"
#include "kubernetes/kubeconfig.h"
#include "kubernetes/proxy.h"
#include "net/hosts.h"
#include "net/url.h"

namespace gangrun::kubernetes {

namespace {

std::string variable(const Surroundings& surroundings, const std::string& name) {
  const auto found = surroundings.environment.find(name);
  return found == surroundings.environment.end() ? "" : found->second;
}

// The files of KUBECONFIG, each once.
std::vector<std::string> listed_files(const std::string& list) {
  std::vector<std::string> files;
  std::set<std::string> known;
  for (std::string& file : base::split(list, ':')) {
    if (!file.empty() && known.insert(file).second) files.push_back(std::move(file));
  }
  return files;
}

base::Result<Access> access_of(const Kubeconfig& config, const AccessOptions& options,
                               const Surroundings& surroundings) {
  Access access;
  access.context = options.context.empty() ? config.current_context : options.context;
  GANGRUN_ASSIGN(const Section context,
                 find_section(config, config.contexts, "context", access.context,
                              options.context.empty() ? "current-context" : "the context"));
  access.source = context.file();
  GANGRUN_ASSIGN(const std::string name_space, context.text("namespace"));
  if (!name_space.empty()) access.name_space = name_space;
  if (!is_dns_label(access.name_space)) {
    return context.error("namespace", base::format("is {}; allowed are up to {} of a-z, 0-9 and -",
                                                   shown(name_space), kMaxLabelBytes));
  }
  const std::string of_context = base::format("context {}: ", shown(access.context));
  GANGRUN_ASSIGN(const std::string cluster_name, context.text("cluster"));
  GANGRUN_ASSIGN(const Section cluster, find_section(config, config.clusters, "cluster",
                                                     cluster_name, of_context + "cluster"));
  GANGRUN_ASSIGN(access.remote, read_cluster(cluster, options.allows_insecure, surroundings));
  GANGRUN_ASSIGN(const std::string user_name, context.text("user"));
  if (user_name.empty()) return access;
  GANGRUN_ASSIGN(const Section user,
                 find_section(config, config.users, "user", user_name, of_context + "user"));
  GANGRUN_TRY(read_user(user, surroundings, access));
  if (auto* plugin = std::get_if<Plugin>(&access.login); plugin && plugin->provides_cluster_info) {
    GANGRUN_ASSIGN(plugin->cluster_config, read_plugin_config(cluster));
  }
  return access;
}

// By the files and variables of a container with a service account; kNotFound elsewhere.
base::Result<Access> service_account(const Surroundings& surroundings) {
  const std::string host = variable(surroundings, "KUBERNETES_SERVICE_HOST");
  const std::string port = variable(surroundings, "KUBERNETES_SERVICE_PORT");
  const std::string folder = surroundings.service_account_folder + "/";
  const auto token = surroundings.read(folder + "token");
  if (host.empty() || port.empty() || !token.ok()) return base::not_found("no pod");
  const auto number = base::parse_integer(port);
  constexpr int kMaxPort = 65535;
  if (!number || *number < 1 || *number > kMaxPort) {
    return base::invalid_argument(
        base::format("KUBERNETES_SERVICE_PORT is {}; allowed is a port", shown(port)));
  }
  Access access;
  access.source = "the pod's service account";
  access.remote.url = "https://" + net::host_port(host, static_cast<int>(*number));
  if (const auto url = net::parse_url(access.remote.url); !url.ok()) {
    return url.error().context("KUBERNETES_SERVICE_HOST");
  }
  access.login = TokenFile{folder + "token"};
  // Both may be absent: then the system's authorities vouch, and the namespace is the usual one.
  if (auto authorities = surroundings.read(folder + "ca.crt"); authorities.ok()) {
    access.remote.authorities_pem = *std::move(authorities);
  }
  const auto name_space = surroundings.read(folder + "namespace");
  if (name_space.ok() && is_dns_label(base::trim(*name_space))) {
    access.name_space = base::trim(*name_space);
  }
  return access;
}

base::Result<Access> choose(const AccessOptions& options, const Surroundings& surroundings) {
  if (!options.kubeconfig.empty()) {
    GANGRUN_ASSIGN(const auto config, read_kubeconfig({options.kubeconfig}, false, surroundings));
    return access_of(config, options, surroundings);
  }
  const std::string list = variable(surroundings, "KUBECONFIG");
  if (const auto files = listed_files(list); !files.empty()) {
    GANGRUN_ASSIGN(const auto config, read_kubeconfig(files, files.size() > 1, surroundings));
    if (!config.files.empty()) return access_of(config, options, surroundings);
    return base::not_found(
        base::format("no cluster is configured: of KUBECONFIG={} no file exists", list));
  }
  const std::string own = variable(surroundings, "HOME") + "/.kube/config";
  GANGRUN_ASSIGN(const auto config, read_kubeconfig({own}, true, surroundings));
  if (!config.files.empty()) return access_of(config, options, surroundings);
  if (options.context.empty()) {
    auto access = service_account(surroundings);
    if (access.ok() || access.error().code != base::Code::kNotFound) return access;
  }
  return base::not_found(base::format(
      "no cluster is configured: KUBECONFIG is not set, there is no {}, and {}", own,
      options.context.empty()
          ? "this is not a pod with a service account"
          : base::format("only a kubeconfig has a context {}", shown(options.context))));
}

// Others can read what goes over the network without TLS.
base::Result<> check_plain(const Access& access, const net::Url& url) {
  if (url.tls) return {};
  const bool is_local = url.host == "localhost" || net::is_loopback_address(url.host);
  if (is_local && std::holds_alternative<std::monostate>(access.login)) return {};
  return base::invalid_argument(
      base::format("{}: server {} has no TLS; allowed is https://, or http:// to this machine "
                   "(127.0.0.1) with a user who has no token, password or plugin",
                   access.source, shown(net::origin_of(url))));
}

}  // namespace

base::Result<Access> find_access(const AccessOptions& options, const Surroundings& surroundings) {
  GANGRUN_ASSIGN(Access access, choose(options, surroundings));
  GANGRUN_ASSIGN(const net::Url url, net::parse_url(access.remote.url));
  GANGRUN_TRY(check_plain(access, url));
  if (access.remote.proxy.empty()) {
    GANGRUN_ASSIGN(access.remote.proxy, proxy_for(url, surroundings.environment));
  }
  return access;
}

}  // namespace gangrun::kubernetes
