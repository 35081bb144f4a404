// A kubeconfig whose certificates and tokens are itself, and itself as a plugin's output.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "jobfile/yaml_json.h"
#include "kubernetes/access.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  kubernetes::Surroundings surroundings;
  surroundings.environment = {{"KUBECONFIG", "/k"}, {"https_proxy", "p:1"}, {"no_proxy", text}};
  surroundings.parse_yaml = jobfile::yaml_to_json;
  surroundings.read = [&](const std::string& path) {
    if (path == "/none") return base::Result<std::string>(base::not_found(path));
    return base::Result<std::string>(text);
  };
  kubernetes::Plugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  const auto access = kubernetes::find_access(
      {.kubeconfig = {}, .context = {}, .allows_insecure = true}, surroundings);
  if (!access.ok()) {
    const std::string& message = access.error().message;
    GANGRUN_CHECK(message.find('\n') == std::string::npos, message);
  } else if (const auto* used = std::get_if<kubernetes::Plugin>(&access->login)) {
    plugin = *used;
  }
  if (access.ok()) (void)kubernetes::plugin_input(plugin, *access);
  (void)kubernetes::read_plugin_output(plugin, text);
  surroundings.environment = {{"https_proxy", text}};
  surroundings.read = [&](const std::string& path) {
    if (!path.starts_with("/var/")) return base::Result<std::string>(base::not_found(path));
    return base::Result<std::string>(text);
  };
  surroundings.environment["KUBERNETES_SERVICE_HOST"] = text.substr(0, 10);
  surroundings.environment["KUBERNETES_SERVICE_PORT"] = "443";
  (void)kubernetes::find_access({}, surroundings);
  return 0;
}
