#include "frameworks/environment.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "frameworks/places.h"
#include "frameworks/variables_of.h"

namespace gangrun::frameworks {

namespace {

constexpr std::string_view kReservedPrefix = "GANGRUN_";

bool is_named(const job::JobSpec& job, job::Framework framework) {
  return job.frameworks && std::find(job.frameworks->begin(), job.frameworks->end(), framework) !=
                               job.frameworks->end();
}

// A job that names no framework gets the variables of all but Horovod: none of them is read by
// another. Where HOROVOD_RANK is set, PyTorch Lightning takes Horovod for the launcher.
bool is_wanted(const job::JobSpec& job, job::Framework framework) {
  if (framework == job::Framework::kHorovod) return is_named(job, framework);
  return !job.frameworks || is_named(job, framework);
}

// Null where the task has none: it is not in the cluster spec, and no sidecar with an own address.
const job::Address* address_of(const Inputs& inputs, const job::TaskSpec& spec,
                               const job::TaskId& task) {
  if (const job::Address* published = inputs.cluster.find(task)) return published;
  const bool may_be_absent = spec.policy == job::Policy::kSidecar && task.index >= 0 &&
                             task.index < spec.instances && inputs.own_address;
  return may_be_absent ? &*inputs.own_address : nullptr;
}

base::Result<ProcessInGang> process_in_gang(const Inputs& inputs, const job::TaskId& task,
                                            int process) {
  const job::TaskSpec* spec = inputs.job.find(task.type);
  const job::Address* address = spec == nullptr ? nullptr : address_of(inputs, *spec, task);
  if (address == nullptr) {
    return base::invalid_argument(
        base::format("{} has no place in generation {} of the cluster spec", job::to_string(task),
                     inputs.cluster.generation));
  }
  if (process < 0 || process >= spec->processes) {
    return base::invalid_argument(base::format("{} has {} processes, none with the number {}",
                                               job::to_string(task), spec->processes, process));
  }
  GANGRUN_ASSIGN(const std::vector<Group> groups, groups_of(inputs.job, inputs.cluster));
  const int index = inputs.cluster.place_of(task).value_or(task.index);
  const job::TaskId placed{task.type, index};
  const auto ranks = ranks_of(placed, process, groups);
  return ProcessInGang{.inputs = inputs,
                       .task = placed,
                       .spec = *spec,
                       .address = *address,
                       .policy = job::effective_policy(inputs.job, *spec),
                       .process = process,
                       .gpus = spec->resources_of(task.index).gpus,
                       .visible = visible_to(placed, groups),
                       .ranks = ranks,
                       .groups = groups};
}

void add_ports(const ProcessInGang& own, Variables& variables) {
  std::vector<std::uint16_t> ports{own.address.port};
  ports.insert(ports.end(), own.inputs.more_ports.begin(), own.inputs.more_ports.end());
  variables["GANGRUN_PORTS"] = base::format("{}", base::join(ports, ","));
  const std::vector<std::string>& names = own.spec.ports.names;
  for (std::size_t i = 0; i < std::min(names.size(), ports.size()); ++i) {
    variables[job::port_variable(names[i])] = base::format("{}", ports[i]);
  }
}

base::Result<Environment> own_variables(const ProcessInGang& own) {
  const Inputs& inputs = own.inputs;
  const auto number = [](auto value) { return base::format("{}", value); };
  Environment environment;
  if (own.ranks) environment.rank = own.ranks->rank;
  environment.variables = {
      {kJobIdVariable, inputs.job_id},
      {"GANGRUN_TASK_TYPE", own.task.type},
      {"GANGRUN_TASK_INDEX", number(own.task.index)},
      {"GANGRUN_GENERATION", number(inputs.cluster.generation)},
      {"GANGRUN_HOST", own.address.host},
      {"GANGRUN_PORT", number(own.address.port)},
      {"GANGRUN_PROCESS", number(own.process)},
      {"GANGRUN_PROCESSES", number(own.spec.processes)},
      {"GANGRUN_RESTARTS", number(inputs.restarts)},
  };
  // Into a pipe, Python writes when its buffer is full: a task would look dead for minutes.
  if (!inputs.inherits_python_unbuffered) environment.variables["PYTHONUNBUFFERED"] = "1";
  add_ports(own, environment.variables);
  for (const auto& [name, value] : {std::pair("GANGRUN_NOTICE_FILE", &inputs.notice_file),
                                    std::pair("GANGRUN_RESULT_FILE", &inputs.result_file),
                                    std::pair("GANGRUN_FIGURES_FILE", &inputs.figures_file),
                                    std::pair(kKeysVariable, &inputs.keys_address)}) {
    if (!value->empty()) environment.variables[name] = *value;
  }
  if (inputs.rendezvous_port && inputs.tells_rendezvous) {
    environment.variables["GANGRUN_RENDEZVOUS"] =
        base::format("127.0.0.1:{}", *inputs.rendezvous_port);
  }
  // Its text would be the addresses that are not there.
  if (inputs.cluster.is_outline) return environment;
  std::string cluster_spec = json_of(own.visible);
  if (cluster_spec.size() <= kMaxClusterSpecInEnvironment) {
    environment.variables["GANGRUN_CLUSTER_SPEC"] = std::move(cluster_spec);
    return environment;
  }
  if (inputs.cluster_spec_file.empty()) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("the cluster spec has {} bytes, more than the {} of a "
                                    "variable, and there is no file to put it in",
                                    cluster_spec.size(), kMaxClusterSpecInEnvironment)};
  }
  environment.variables["GANGRUN_CLUSTER_SPEC_FILE"] = inputs.cluster_spec_file;
  environment.cluster_spec_file_content = std::move(cluster_spec);
  return environment;
}

// Adds what fits. What does not is left out, unless the job asked for that framework by name and
// cannot do without the variable.
base::Result<> add_tensorflow(const ProcessInGang& own, Variables& variables) {
  const job::JobSpec& job = own.inputs.job;
  for (auto& [name, value] : tensorflow_variables(own)) {
    if (fits_in_variable(name, value)) {
      variables[name] = value;
    } else if (is_named(job, job::Framework::kTensorflow)) {
      return base::Error{
          base::Code::kResourceExhausted,
          base::format("framework: tensorflow: {} would have {} bytes for {} tasks, a variable "
                       "can have {}; use fewer tasks",
                       name, value.size(), job.task_count(), kMaxVariableBytes)};
    }
  }
  for (const Variables& shim : {ytf_submit_variables(own), tf_spawner_variables(own)}) {
    for (const auto& [name, value] : shim) {
      if (fits_in_variable(name, value)) variables[name] = value;
    }
  }
  return {};
}

}  // namespace

base::Result<Environment> environment_of(const Inputs& inputs, const job::TaskId& task,
                                         int process) {
  GANGRUN_ASSIGN(const ProcessInGang own, process_in_gang(inputs, task, process));
  GANGRUN_ASSIGN(Environment environment, own_variables(own));
  if (is_wanted(inputs.job, job::Framework::kTensorflow)) {
    GANGRUN_TRY(add_tensorflow(own, environment.variables));
  }
  if (is_wanted(inputs.job, job::Framework::kPytorch)) {
    environment.variables.merge(pytorch_variables(own));
  }
  if (is_wanted(inputs.job, job::Framework::kJax)) {
    environment.variables.merge(jax_variables(own));
  }
  if (is_named(inputs.job, job::Framework::kJax)) {
    environment.variables.merge(jax_detected_variables(own));
  }
  if (is_wanted(inputs.job, job::Framework::kHorovod)) {
    environment.variables.merge(horovod_variables(own));
  }
  return environment;
}

base::Result<> check(const job::JobSpec& job) {
  if (!is_named(job, job::Framework::kTensorflow)) return {};
  for (const job::TaskSpec& task : job.tasks) {
    const job::Policy policy = job::effective_policy(job, task);
    if (policy == job::Policy::kSidecar || task.processes == 1) continue;
    return base::invalid_argument(base::format(
        "tasks.{}.processes: {} cannot be used with framework: tensorflow, which has one process "
        "for each task (processes: 1); use instances: instead",
        task.type, task.processes));
  }
  return {};
}

bool is_content_with_outline(const job::JobSpec& job) {
  if (!job.frameworks || job.frameworks->empty()) return false;
  return std::all_of(job.frameworks->begin(), job.frameworks->end(), [](job::Framework framework) {
    return framework == job::Framework::kPytorch || framework == job::Framework::kJax;
  });
}

bool needs_rendezvous(const job::JobSpec& job, const job::TaskId& task) {
  const job::TaskSpec* spec = job.find(task.type);
  return is_wanted(job, job::Framework::kHorovod) && spec != nullptr &&
         job::effective_policy(job, *spec) == job::Policy::kTracked;
}

bool is_reserved(std::string_view name) {
  return name.starts_with(kReservedPrefix) && name != "GANGRUN_HOME";
}

}  // namespace gangrun::frameworks
