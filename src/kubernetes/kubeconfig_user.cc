#include "kubernetes/kubeconfig_user.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::array<std::string_view, 2> kApiVersions{"client.authentication.k8s.io/v1",
                                                       "client.authentication.k8s.io/v1beta1"};
constexpr std::array<std::string_view, 3> kModes{"Never", "IfAvailable", "Always"};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& allowed) {
  return std::ranges::find(allowed, text) != allowed.end();
}

base::Result<> check_mode(const Section& exec) {
  GANGRUN_ASSIGN(const std::string mode, exec.text("interactiveMode"));
  if (mode == "Always") {
    return exec.error("interactiveMode",
                      "is Always, but the plugin gets no terminal; allowed are Never and "
                      "IfAvailable");
  }
  if (mode.empty() || is_one_of(mode, kModes)) return {};
  return exec.error("interactiveMode",
                    base::format("is {}; allowed are Never and IfAvailable", shown(mode)));
}

base::Result<Plugin> read_plugin(const Section& exec) {
  Plugin plugin;
  GANGRUN_ASSIGN(plugin.api_version, exec.text("apiVersion"));
  if (!is_one_of(plugin.api_version, kApiVersions)) {
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
