#include "kubernetes/kubeconfig.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "kubernetes/proxy.h"
#include "net/url.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kMaxNamesBytes = 1000;

// The entries of one list of one file, "clusters" with a "cluster" each.
base::Result<> add_sections(const Section& root, const std::string& kind,
                            std::map<std::string, Section>& sections) {
  const std::string key = kind + "s";
  std::set<std::string> names;
  GANGRUN_ASSIGN(const auto entries, root.sections(key));
  for (const Section& entry : entries) {
    GANGRUN_ASSIGN(const std::string name, entry.text("name"));
    if (name.empty()) return entry.error("name", "is missing");
    const std::string place = base::format("{} {}", kind, shown(name));
    if (!names.insert(name).second) return root.error(place, "is given twice");
    GANGRUN_ASSIGN(Section section, Section::make(root.file(), place, entry.json(kind)));
    sections.emplace(name, std::move(section));
  }
  return {};
}

base::Result<> add_file(const std::string& file, const std::string& text,
                        const Surroundings& surroundings, Kubeconfig& config) {
  auto fields = surroundings.parse_yaml(text);
  if (!fields.ok()) {
    return base::invalid_argument(base::format("{}: {}", file, fields.error().message));
  }
  GANGRUN_ASSIGN(const Section root, Section::make(file, "", *std::move(fields)));
  config.files.push_back(file);
  GANGRUN_ASSIGN(const std::string current, root.text("current-context"));
  if (config.current_context.empty()) config.current_context = current;
  GANGRUN_TRY(add_sections(root, "context", config.contexts));
  GANGRUN_TRY(add_sections(root, "cluster", config.clusters));
  return add_sections(root, "user", config.users);
}

constexpr std::string_view kPluginExtension = "client.authentication.k8s.io/exec";
constexpr std::string_view kAuthorities = "certificate-authority";
constexpr std::string_view kInsecure = "insecure-skip-tls-verify";

base::Result<std::string> read_server(const Section& cluster) {
  GANGRUN_ASSIGN(std::string server, cluster.text("server"));
  if (server.empty()) {
    return cluster.error("server", "is missing; allowed is a URL like https://10.0.0.1:6443");
  }
  // Not shown: there may be a password before the "@".
  if (server.find('@') != std::string::npos) {
    return cluster.error("server", "must not have a user's name (\"@\"); logins stand under users");
  }
  const auto url = net::parse_url(server);
  if (!url.ok())
    return cluster.error("server", base::format("must be a URL: {}", url.error().message));
  if (server.find('?') != std::string::npos) return cluster.error("server", "must have no \"?\"");
  return server;
}

base::Result<bool> read_insecure(const Section& cluster, bool is_allowed) {
  GANGRUN_ASSIGN(const bool is_insecure, cluster.flag(kInsecure));
  if (!is_insecure) return false;
  if (!is_allowed) {
    return cluster.error(kInsecure,
                         "is true: anybody on the way could be the server. Give "
                         "certificate-authority, or allow it with \"insecure: true\" of the job");
  }
  if (cluster.has(kAuthorities) || cluster.has(std::string(kAuthorities) + "-data")) {
    return cluster.error(kInsecure, "and certificate-authority exclude each other");
  }
  return true;
}

constexpr std::array<std::string_view, 2> kApiVersions{"client.authentication.k8s.io/v1",
                                                       "client.authentication.k8s.io/v1beta1"};

base::Result<> check_mode(const Section& exec) {
  GANGRUN_ASSIGN(const std::string mode, exec.text("interactiveMode"));
  if (mode == "Always") {
    return exec.error("interactiveMode",
                      "is Always, but the plugin gets no terminal; allowed are Never and "
                      "IfAvailable");
  }
  if (mode.empty() || mode == "Never" || mode == "IfAvailable") return {};
  return exec.error("interactiveMode",
                    base::format("is {}; allowed are Never and IfAvailable", shown(mode)));
}

base::Result<Plugin> read_plugin(const Section& exec) {
  Plugin plugin;
  GANGRUN_ASSIGN(plugin.api_version, exec.text("apiVersion"));
  if (std::ranges::find(kApiVersions, plugin.api_version) == kApiVersions.end()) {
    return exec.error("apiVersion", base::format("is {}; allowed are {}", shown(plugin.api_version),
                                                 base::join(kApiVersions, " and ")));
  }
  GANGRUN_ASSIGN(const std::string command, exec.text("command"));
  if (command.empty()) return exec.error("command", "is missing");
  // A name alone is looked for in PATH.
  const bool is_path = command.find('/') != std::string::npos;
  plugin.command.push_back(is_path ? exec.resolve(command) : command);
  GANGRUN_ASSIGN(const std::vector<std::string> arguments, exec.texts("args"));
  plugin.command.insert(plugin.command.end(), arguments.begin(), arguments.end());
  GANGRUN_ASSIGN(const auto variables, exec.sections("env"));
  for (const Section& variable : variables) {
    GANGRUN_ASSIGN(const std::string name, variable.line("name"));
    if (name.empty() || name.find('=') != std::string::npos) {
      return variable.error("name", "must be the name of a variable");
    }
    GANGRUN_ASSIGN(plugin.environment[name], variable.text("value"));
  }
  GANGRUN_ASSIGN(plugin.install_hint, exec.text("installHint"));
  GANGRUN_ASSIGN(plugin.provides_cluster_info, exec.flag("provideClusterInfo"));
  GANGRUN_TRY(check_mode(exec));
  return plugin;
}

base::Result<Login> read_login(const Section& user) {
  GANGRUN_ASSIGN(const std::string token, user.line("token"));
  GANGRUN_ASSIGN(const std::string token_file, user.text("tokenFile"));
  GANGRUN_ASSIGN(const std::string name, user.line("username"));
  GANGRUN_ASSIGN(const std::string password, user.text("password"));
  const bool has_token = !token.empty() || !token_file.empty();
  if (has_token && !(name.empty() && password.empty())) {
    return user.error("token", "and username exclude each other");
  }
  if (!token_file.empty()) return TokenFile{user.resolve(token_file)};
  if (!token.empty()) return base::Secret(token);
  if (!name.empty()) return BasicLogin{name, base::Secret(password)};
  if (!password.empty()) return user.error("username", "is missing beside password");
  if (!user.has("exec")) return std::monostate();
  GANGRUN_ASSIGN(const Section exec, user.section("exec"));
  return read_plugin(exec);
}

base::Result<> read_impersonation(const Section& user, Access& access) {
  for (const char* key : {"as-uid", "as-user-extra"}) {
    if (user.has(key)) return user.error(key, "is not taken; allowed are as and as-groups");
  }
  GANGRUN_ASSIGN(access.impersonated_user, user.line("as"));
  GANGRUN_ASSIGN(access.impersonated_groups, user.texts("as-groups"));
  if (!access.impersonated_groups.empty() && access.impersonated_user.empty()) {
    return user.error("as", "is missing beside as-groups");
  }
  return {};
}

}  // namespace

base::Result<Kubeconfig> read_kubeconfig(const std::vector<std::string>& files, bool passes_over,
                                         const Surroundings& surroundings) {
  Kubeconfig config;
  for (const std::string& file : files) {
    const auto text = surroundings.read(file);
    if (!text.ok()) {
      if (passes_over && text.error().code == base::Code::kNotFound) continue;
      return text.error().context("while reading the kubeconfig");
    }
    GANGRUN_TRY(add_file(file, *text, surroundings, config));
  }
  return config;
}

base::Result<Section> find_section(const Kubeconfig& config,
                                   const std::map<std::string, Section>& sections,
                                   const std::string& kind, const std::string& name,
                                   const std::string& wanted_by) {
  const auto found = sections.find(name);
  if (found != sections.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(sections.size());
  for (const auto& [other, section] : sections) names.push_back(shown(other));
  const std::string known =
      base::shorten(base::format("{}", base::join(names, ", ")), kMaxNamesBytes);
  return base::invalid_argument(base::format(
      "{}: {} {}; {}", base::join(config.files, ":"), wanted_by,
      name.empty() ? "is missing" : shown(name) + " does not exist",
      names.empty() ? base::format("there is no {} at all", kind) : "there are: " + known));
}

base::Result<net::RemoteOptions> read_cluster(const Section& cluster, bool allows_insecure,
                                              const Surroundings& surroundings) {
  net::RemoteOptions remote;
  GANGRUN_ASSIGN(remote.url, read_server(cluster));
  GANGRUN_ASSIGN(const bool is_insecure, read_insecure(cluster, allows_insecure));
  remote.verifies_server = !is_insecure;
  GANGRUN_ASSIGN(remote.authorities_pem, cluster.bytes(kAuthorities, surroundings));
  GANGRUN_ASSIGN(remote.server_name, cluster.line("tls-server-name"));
  GANGRUN_ASSIGN(const std::string proxy, cluster.text("proxy-url"));
  if (!proxy.empty()) {
    auto parsed = parse_proxy(proxy);
    if (!parsed.ok())
      return cluster.error("proxy-url", base::format("cannot be used: {}", parsed.error().message));
    remote.proxy = *std::move(parsed);
  }
  return remote;
}

base::Result<base::Json> read_plugin_config(const Section& cluster) {
  GANGRUN_ASSIGN(const auto extensions, cluster.sections("extensions"));
  for (const Section& extension : extensions) {
    if (extension.json("name") == kPluginExtension) return extension.json("extension");
  }
  return base::Json();
}

base::Result<> read_user(const Section& user, const Surroundings& surroundings, Access& access) {
  if (user.has("auth-provider")) {
    return user.error("auth-provider",
                      "is of the past: credential plugins (exec) have taken its place, for example "
                      "gke-gcloud-auth-plugin or kubelogin");
  }
  GANGRUN_ASSIGN(access.remote.certificate_pem, user.bytes("client-certificate", surroundings));
  GANGRUN_ASSIGN(std::string key, user.bytes("client-key", surroundings));
  if (access.remote.certificate_pem.empty() != key.empty()) {
    return user.error(key.empty() ? "client-key" : "client-certificate",
                      "is missing: a certificate and its key are given together");
  }
  access.remote.key_pem = base::Secret(std::move(key));
  GANGRUN_ASSIGN(access.login, read_login(user));
  return read_impersonation(user, access);
}

}  // namespace gangrun::kubernetes
