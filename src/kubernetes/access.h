#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/call.h"

namespace gangrun::kubernetes {

// A program that says who we are: client-go's "exec" credential plugins
// (client.authentication.k8s.io/v1 and v1beta1).
struct Plugin {
  std::vector<std::string> command;  // a name without "/" is looked for in PATH
  std::map<std::string, std::string> environment;
  std::string api_version;
  std::string install_hint;
  bool provides_cluster_info = false;
  base::Json cluster_config;  // what the kubeconfig has for it beside the cluster; null: nothing

  friend bool operator==(const Plugin&, const Plugin&) = default;
};

// A file that is read again when it is a minute old, as the kubelet renews it.
struct TokenFile {
  std::string path;
};

struct BasicLogin {
  std::string user;
  base::Secret password;
};

// How the server is told who we are; a client certificate, in Access::remote, does that too.
using Login = std::variant<std::monostate, base::Secret, TokenFile, BasicLogin, Plugin>;

// All that is needed to reach a cluster as somebody.
struct Access {
  net::RemoteOptions remote;
  Login login;
  std::string impersonated_user;
  std::vector<std::string> impersonated_groups;
  std::string name_space = "default";
  std::string context;  // the kubeconfig's; empty: none was used
  std::string
      source;  // where this was found, for people: the file's path, "the pod's service account"
};

// The user's settings for the way to the cluster.
struct AccessOptions {
  std::string kubeconfig;  // the path; empty: $KUBECONFIG (several, merged), else ~/.kube/config,
                           // else the pod's service account
  std::string context;     // empty: the file's current one
  bool allows_insecure = false;  // whether insecure-skip-tls-verify of the file is followed
};

// The things of the machine on which the way to the cluster depends; tests give others.
struct Surroundings {
  std::map<std::string, std::string>
      environment;  // KUBECONFIG, HOME, KUBERNETES_SERVICE_*, proxies
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  // A file's whole text.
  std::function<base::Result<std::string>(const std::string& path)> read;
  // YAML as kubectl takes it. Its errors show no values.
  std::function<base::Result<base::Json>(std::string_view text)> parse_yaml;
};

// kInvalidArgument: what is wrong with which field of which file, and what is allowed; kNotFound:
// no cluster is configured here, with where was looked. The context's namespace stands in
// `name_space`.
base::Result<Access> find_access(const AccessOptions& options, const Surroundings& surroundings);

// The credentials that a plugin or a token file gave.
struct Credentials {
  base::Secret token;
  std::string certificate_pem;
  base::Secret key_pem;
  std::optional<std::chrono::system_clock::time_point> expires_at;
};

// KUBERNETES_EXEC_INFO for a plugin.
std::string plugin_input(const Plugin& plugin, const Access& access);
// Reads an ExecCredential from a plugin's output. kUnauthenticated with what is wrong with it.
base::Result<Credentials> read_plugin_output(const Plugin& plugin, std::string_view output);

}  // namespace gangrun::kubernetes
