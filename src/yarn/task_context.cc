#include "yarn/task_context.h"

#include "base/format.h"
#include "base/strings.h"
#include "cluster/place_part.h"
#include "hadoop/launch_script.h"
#include "job/described.h"
#include "yarn/task_container.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn {

namespace {

base::Json config_on(const hadoop::NodeId& node, const std::string& master_host,
                     const cluster::Launch& launch) {
  cluster::PlacePart part{.host = node.host,
                          .host_reason = "as YARN calls its node",
                          .master_host = master_host,
                          .place_tells_end = true};
  if (launch.wanted) part.wanted_port = launch.wanted->port;
  base::Json config = launch.agent_config;
  cluster::set(part, config);
  return config;
}

}  // namespace

hadoop::LaunchContext task_context(const TaskContents& contents, const job::TaskId& task,
                                   const cluster::Launch& launch, const hadoop::NodeId& node) {
  const base::Json config = config_on(node, contents.host, launch);
  hadoop::LaunchContext context;
  context.local_resources = contents.files;
  const auto archives = contents.archives.find(task.type);
  if (archives != contents.archives.end()) {
    context.local_resources.insert(archives->second.begin(), archives->second.end());
  }
  for (const auto& [name, value] : contents.environment) {
    context.environment[name] = hadoop::quote_for_launch_script(value);
  }
  // Also that of a cgroup, where the node has one for it: without a slash.
  const std::string name = base::format("{}.{}.{}", contents.job_id, task.type, task.index);
  // If YARN itself runs the image, the agent is in it.
  const bool yarn_runs_image =
      yarn_of(contents.spec).container_runtime == ContainerRuntime::kDocker;
  const std::vector<std::string>& containers = launch.containers;
  for (const std::string& word : contents.agent_command) {
    context.command.push_back(word == "{name}" ? name : word);
    if (word != "{name}" || containers.empty() || yarn_runs_image) continue;
    context.command.emplace_back("--containers");
    context.command.push_back(base::format("{}", base::join(containers, ",")));
  }
  if (!containers.empty() && yarn_runs_image) {
    context.environment.merge(
        runtime_variables(contents.spec, contents.spec.image_of(*contents.spec.find(task.type))));
  }
  context.credentials = contents.credentials;
  context.credentials.secrets[kAgentConfigSecret] = base::Secret(base::dump_json(config));
  const auto& outputs = contents.spec.outputs_of(*contents.spec.find(task.type));
  if (outputs && !outputs->empty()) {
    context.credentials.secrets[kOutputsSecret] =
        base::Secret(base::dump_json(base::to_json(contents.outputs)));
  }
  context.view_acl = yarn_of(contents.spec).view_acl;
  context.modify_acl = yarn_of(contents.spec).modify_acl;
  return context;
}

}  // namespace gangrun::yarn
