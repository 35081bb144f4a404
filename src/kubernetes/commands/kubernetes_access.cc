#include "kubernetes/commands/kubernetes_access.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "client/prepare.h"
#include "jobfile/yaml_json.h"
#include "process/engine.h"

namespace gangrun::kubernetes::commands {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20U;

}  // namespace

base::Result<kubernetes::Access> kubernetes_access(const client::Context& context,
                                                   const pods::KubernetesOptions& options) {
  kubernetes::Surroundings surroundings;
  surroundings.environment = context.environment;
  surroundings.read = [](const std::string& path) { return base::read_input(path, kMaxFileBytes); };
  surroundings.parse_yaml = jobfile::yaml_to_json;
  const kubernetes::AccessOptions wanted{
      .kubeconfig =
          options.kubeconfig.empty() ? "" : client::in_folder(context.folder, options.kubeconfig),
      .context = options.context,
      .allows_insecure = options.insecure};
  GANGRUN_ASSIGN(auto access, kubernetes::find_access(wanted, surroundings));
  if (!options.name_space.empty()) access.name_space = options.name_space;
  return access;
}

kubernetes::PluginRunner plugin_runner() {
  return [](const kubernetes::Plugin& plugin, const std::string& exec_info, base::Instant deadline,
            const std::function<bool()>& is_unwanted) -> base::Result<std::string> {
    process::EngineQuestion question{.argv = plugin.command, .shows_errors = true};
    question.environment.push_back("KUBERNETES_EXEC_INFO=" + exec_info);
    for (const auto& [name, value] : plugin.environment) {
      question.environment.push_back(base::format("{}={}", name, value));
    }
    auto answer = process::ask(question, deadline, is_unwanted);
    const std::string hint = plugin.install_hint.empty() ? "" : "; " + plugin.install_hint;
    const auto failed = [&](const std::string& why) {
      return base::Error{base::Code::kUnauthenticated,
                         base::format("the kubeconfig's credential plugin {}: {}{}",
                                      plugin.command.front(), why, hint)};
    };
    if (!answer.ok()) return failed(answer.error().message);
    if (answer->status != 0) return failed(base::format("ended with status {}", answer->status));
    return std::move(answer->output);
  };
}

base::Result<std::unique_ptr<kubernetes::Client>> kubernetes_client(
    net::EventLoop& loop, base::Logger& logger, const client::Context& context,
    const pods::KubernetesOptions& options) {
  GANGRUN_ASSIGN(auto access, kubernetes_access(context, options));
  return kubernetes::Client::make(loop, logger, std::move(access), plugin_runner());
}

}  // namespace gangrun::kubernetes::commands
