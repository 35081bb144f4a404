#include "yarn/commands/ytf_submit.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "client/command.h"
#include "client/fail.h"
#include "client/prepare.h"
#include "client/sites.h"
#include "client/start_job.h"
#include "hadoop/file_system.h"
#include "hadoop/web_hdfs.h"
#include "job/choice.h"
#include "job/units.h"
#include "jobfile/container.h"
#include "jobfile/shipped_files.h"
#include "yarn/commands/client_task.h"
#include "yarn/commands/hadoop_access.h"
#include "yarn/yarn_options.h"

namespace gangrun::yarn::commands {

namespace {

using base::Result;

constexpr std::string_view kInputFlag = "-i";
constexpr std::chrono::seconds kQuestionTimeout(20);

std::string script_here(const YtfOptions& options, const client::Context& context) {
  return options.script ? client::in_folder(context.folder, *options.script) : std::string();
}

// Reading one byte, or the names in a folder, needs the right to read.
base::Result<> read_from_cluster(const std::string& url, const client::Context& context) {
  GANGRUN_ASSIGN(const auto access, hadoop_access(context));
  GANGRUN_ASSIGN(hadoop::FileSystem system, hadoop::find_file_system(access->configuration, url));
  hadoop::WebHdfs files(std::move(system), hadoop::web_hdfs_options(access->account));
  const std::string path = hadoop::path_of(url);
  const base::Instant deadline = context.clock.now() + kQuestionTimeout;
  GANGRUN_ASSIGN(const hadoop::FileStatus status, files.status(path, deadline));
  if (status.is_folder) {
    GANGRUN_TRY(files.list(path, deadline));
  } else if (status.length > 0) {
    GANGRUN_TRY(files.read_range(path, 0, 1, deadline));
  }
  return {};
}

// Whether this user can read the input. URLs of other systems than the cluster's are taken as they
// are.
base::Result<> check_input(const std::string& input, const client::Context& context) {
  if (jobfile::is_cluster_url(input)) {
    const auto read = read_from_cluster(input, context);
    return read.ok() ? read : client::refused_path(kInputFlag, input, read.error().message);
  }
  return jobfile::has_scheme(input) ? base::Result<>()
                                    : client::check_local_input(kInputFlag, input, context.folder);
}

base::Result<> check_paths(const YtfOptions& options, client::Context& context) {
  if (options.script) {
    const std::string path = script_here(options, context);
    GANGRUN_TRY(client::check_local_file("-s", *options.script, path));
  }
  if (!options.input || options.unchecked_input) return {};
  return check_input(*options.input, context);
}

client::ExitStatus run_client(const YtfOptions& options, const std::string& id,
                              const job::JobSpec& spec, client::Context& context) {
  const ClientTask task{.job = id,
                        .spec = spec,
                        .script = script_here(options, context),
                        .ends_job = options.client_ends_job};
  return run_client_task(
      task, [&context, &id] { return client::find_job(context, id); }, context);
}

client::ExitStatus submit(const YtfOptions& options, client::Context& context) {
  auto run_options = run_options_of(options, context.folder);
  if (!run_options.ok()) return client::fail(context, run_options.error());
  const auto good = check_paths(options, context);
  if (!good.ok()) return client::fail(context, good.error(), client::ExitStatus::kBadInput);
  if (options.client) {
    run_options->when_submitted = [&](const std::string& id, const job::JobSpec& spec) {
      return run_client(options, id, spec, context);
    };
  }
  return client::start_job(*run_options, context);
}

// As the design has them.
std::vector<client::Flag> design_flags(YtfOptions& options) {
  return {{"-r,--cluster_requirement", &options.run.flags.roles, "JOB:N,...",
           "The jobs of the cluster and how many tasks each has: \"ps:2,worker:4\""},
          {"-c,--task_vcores", &options.vcores, "[JOB:]N",
           "Cores of each task (1), of those of a job (ps:2), or of one task (worker[0]:4)"},
          {"-m,--task_memory", &options.memory, "[JOB:]MB",
           "Memory of each task in MB (8192), in the same three forms"},
          {"-i,--input", &options.input, "PATH", "DTF_INPUT_PATH of the tasks"},
          {"-o,--output", &options.output, "PATH",
           "DTF_OUTPUT_PATH of the tasks; what TensorBoard shows"},
          {"-s,--script", &options.script, "FILE",
           "A file that is copied to the tasks; DTF_TASK_SCRIPT has its name"},
          {"-t,--tensorboard", &options.tensorboard, "",
           "Start TensorBoard on the output path, in a container of its own"},
          {"--docker_image", &options.docker_image, "IMAGE",
           "Run the tasks in containers of this image"},
          {"-q,--queue", &options.queue, "NAME", "The queue on YARN (default)"},
          {"-n,--name", &options.name, "NAME", "The application's name (TensorFlow)"},
          {"--client", &options.client, "",
           "Start a task client:0 on this terminal too, outside of the cluster"}};
}

std::vector<client::Flag> own_flags(YtfOptions& options) {
  return {
      {"--client_ends_job", &options.client_ends_job, "", "The end of client:0 ends the job"},
      {"--wait", &options.wait, "", "Show the job and wait for its end"},
      {"--file", &options.run.flags.job_lists["files"], "FILE",
       "A file or folder that the tasks need"},
      {"-e,--env", &options.env, "[JOB:]NAME=VALUE",
       "Environment variable of all tasks, or of one job's tasks"},
      {"--mount", &options.mounts, "PATH[:ro]",
       "Host paths that containers see besides input and output"},
      {"--gpus", &options.run.flags.fields["gpus"], "[JOB:]N", "GPUs, in the three forms of -c"},
      {"--label", &options.run.flags.fields["label"], "[JOB:]LABEL", "Node label to run on"},
      {"--restarts", &options.run.flags.restarts, "N[:SCOPE]",
       "Restarts after failures; scope task or gang"},
      {"--registry", &options.registry, "rest|zookeeper",
       "Where the cluster spec is published: by the master, or in ZooKeeper too"},
      {"--expose_tensorboard", &options.expose_tensorboard, "",
       "Let everyone who can reach its node reach TensorBoard"},
      {"--unchecked_input", &options.unchecked_input, "",
       "Do not check whether the input path can be read from here"}};
}

std::vector<client::Flag> last_flags(YtfOptions& options) {
  return {{"--on", &options.on, "local|yarn", "Where the tasks run (yarn)"},
          {"--dry-run", &options.run.dry_run, "", "Print the complete plan and start nothing"},
          {"--json", &options.run.display.json, "", "Print JSON"}};
}

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

client::Command ytf_submit_command(const jobfile::RulesOfPlaces& places) {
  const auto options = std::make_shared<YtfOptions>();
  std::vector<client::Flag> flags = design_flags(*options);
  for (const auto& more :
       {own_flags(*options), client::flags_of(kLoginFields, options->run.flags, places),
        last_flags(*options)}) {
    flags.insert(flags.end(), more.begin(), more.end());
  }
  return {
      .name = std::string(kYtfSubmit),
      .summary = "Submit a TensorFlow session to YARN, as ytf-submit does.",
      .words = {{"TASK_COMMAND", &options->command, true}},
      .flags = std::move(flags),
      .footer =
          "TASK_COMMAND is one word, a line for the shell of each task. The tasks find their\n"
          "place in DTF_TASK_JOB_NAME, DTF_TASK_INDEX and, for each job, DTF_{JOB}_HOSTS.\n"
          "The id of the job is printed; it runs on without this terminal.\n\n"
          "Examples:\n"
          "  ytf-submit -r \"ps:1,worker:4\" 'python3 train.py --task_index ${DTF_TASK_INDEX}'\n"
          "  ytf-submit -t -i hdfs://nn/in -o hdfs://nn/out -r ps:1,worker:2 -s train.py \\\n"
          "    'python ${DTF_TASK_SCRIPT} --data_dir ${DTF_INPUT_PATH}'\n"
          "  ytf-submit --client -r ps:1,worker:2 -s train.py 'python ${DTF_TASK_SCRIPT}'\n",
      .action = [options](client::Context& context) { return submit(*options, context); }};
}

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
