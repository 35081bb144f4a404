#include "yarn/commands/ytf_submit.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/strings.h"
#include "client/prepare.h"
#include "job/choice.h"
#include "job/units.h"
#include "jobfile/container.h"
#include "jobfile/shipped_files.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

// The design's defaults, of each task.
constexpr std::string_view kDefaultVcores = "1";
constexpr std::string_view kDefaultMemory = "8192";
constexpr std::string_view kDefaultName = "TensorFlow";
constexpr std::string_view kDefaultQueue = "default";

base::Error refused(std::string_view flag, std::string_view text) {
  return base::invalid_argument(base::format("{}: {}", flag, text));
}

std::vector<std::string> after(std::string_view general, const std::vector<std::string>& given) {
  std::vector<std::string> values{std::string(general)};
  values.insert(values.end(), given.begin(), given.end());
  return values;
}

// The design's other use of a type's name: in its requirement "client" is no task of the cluster.
Result<> check_requirement(const YtfOptions& options) {
  const std::string all = base::format("{}", base::join(options.run.flags.roles, ","));
  if (base::trim(all).empty()) {
    return refused("-r",
                   "the cluster requirement is empty; allowed: <job>:<tasks>, with commas between, "
                   "for example \"ps:2,worker:4\"");
  }
  for (const std::string& item : base::split(all, ',')) {
    const std::string_view text = base::trim(item);
    if (text.find(':') == std::string_view::npos) {
      return refused("-r", base::format("{} does not say how many; allowed: <job>:<tasks>, for "
                                        "example worker:4",
                                        job::in_quotes(text)));
    }
    if (options.client && text.substr(0, text.find(':')) == "client") {
      return refused("-r", base::format("{}: with --client the job client is the task on this "
                                        "terminal; call the others otherwise",
                                        job::in_quotes(text)));
    }
  }
  return {};
}

Result<> add_tensorboard(const YtfOptions& options, jobfile::Flags& flags) {
  const bool has_task = std::ranges::any_of(flags.roles, [](const std::string& text) {
    return text.starts_with("tensorboard:") || text.find(",tensorboard:") != std::string::npos;
  });
  if (!options.tensorboard && !has_task) {
    if (!options.expose_tensorboard) return {};
    return refused("--expose_tensorboard", "there is no TensorBoard; it is started by -t");
  }
  if (!options.output || options.output->empty()) {
    return refused("-t", "TensorBoard shows the output path; name it with -o");
  }
  flags.tensorboard = *options.output;
  if (options.expose_tensorboard) flags.fields["expose"] = {"tensorboard:host"};
  return {};
}

// The design mounts what is no HDFS path.
Result<> add_mount(std::string_view flag, const std::optional<std::string>& path, bool read_only,
                   jobfile::Flags& flags) {
  if (!path || path->empty() || jobfile::has_scheme(*path)) return {};
  if (!path->starts_with('/')) {
    return refused(flag, base::format("{} is not an absolute path, which a container needs",
                                      job::in_quotes(*path)));
  }
  std::vector<std::string>& mounts = flags.job_lists["mounts"];
  std::erase(mounts, *path + ":ro");
  mounts.push_back(read_only ? *path + ":ro" : *path);
  return {};
}

Result<> add_image(const YtfOptions& options, jobfile::Flags& flags) {
  if (!options.docker_image) {
    if (options.mounts.empty()) return {};
    return refused("--mount", "there is no container; its image is named by --docker_image");
  }
  if (options.docker_image->empty()) return refused("--docker_image", "the image has no name");
  if (const auto problem = jobfile::check_image(*options.docker_image, "")) {
    return refused("--docker_image", problem->text);
  }
  flags.job_fields["image"] = options.docker_image;
  flags.job_lists["mounts"] = options.mounts;
  GANGRUN_TRY(add_mount("-i", options.input, true, flags));
  return add_mount("-o", options.output, false, flags);
}

// The variables that the design's task starter hands on, and those that it gets itself.
void add_variables(const YtfOptions& options, bool is_local, const std::string& folder,
                   jobfile::Flags& flags) {
  const auto add = [&flags](std::string_view name, const std::string& value) {
    flags.env.push_back(base::format("{}={}", name, value));
  };
  add("DTF_TASK_PROGRAM", options.command);
  if (options.docker_image) add("DTF_DOCKER_IMAGE", *options.docker_image);
  if (options.input) add("DTF_INPUT_PATH", *options.input);
  if (options.output) add("DTF_OUTPUT_PATH", *options.output);
  if (options.script) {
    // On a cluster it lies in the task's own folder.
    add("DTF_TASK_SCRIPT", is_local ? client::in_folder(folder, *options.script)
                                    : std::filesystem::path(*options.script).filename().string());
  }
  flags.env.insert(flags.env.end(), options.env.begin(), options.env.end());
}

Result<> check_client(const YtfOptions& options) {
  if (options.client_ends_job && !options.client) {
    return refused("--client_ends_job", "there is no client task; it is started by --client");
  }
  if (options.client && options.run.display.json) {
    return refused("--json", "with --client standard output is the client task's");
  }
  return {};
}

}  // namespace

Result<client::RunOptions> run_options_of(const YtfOptions& options, const std::string& folder) {
  if (base::trim(options.command).empty()) {
    return base::invalid_argument("the task command is empty; it is the last word, in quotes");
  }
  GANGRUN_TRY(check_requirement(options));
  GANGRUN_TRY(check_client(options));
  client::RunOptions run = options.run;
  jobfile::Flags& flags = run.flags;
  flags.job_fields["on"] = options.on.value_or(std::string(yarn::kYarn));
  const bool is_local = *flags.job_fields["on"] == job::kDefaultPlace;
  flags.command_line = options.command;
  // The resources of one machine are known: the design's sizes for nodes of a cluster mean nothing
  // there.
  flags.fields["vcores"] = is_local ? options.vcores : after(kDefaultVcores, options.vcores);
  flags.fields["memory"] = is_local ? options.memory : after(kDefaultMemory, options.memory);
  flags.job_fields["name"] = options.name.value_or(std::string(kDefaultName));
  if (options.queue || !is_local) flags.queue = options.queue.value_or(std::string(kDefaultQueue));
  if (options.script) flags.job_lists["files"].push_back(*options.script);
  GANGRUN_TRY(add_tensorboard(options, flags));
  GANGRUN_TRY(add_image(options, flags));
  add_variables(options, is_local, folder, flags);
  if (options.registry) {
    if (*options.registry != "rest" && *options.registry != "zookeeper") {
      return refused(
          "--registry",
          job::not_one_of(*options.registry, "a registry", {"rest", "zookeeper"}).message);
    }
    flags.mirrors_in_zookeeper = *options.registry == "zookeeper";
  }
  run.detach = options.client || !options.wait;
  return run;
}

}  // namespace gangrun::yarn::commands
