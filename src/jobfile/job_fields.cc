#include "jobfile/job_fields.h"

#include "job/limits.h"
#include "jobfile/field_values.h"
#include "jobfile/job_values.h"
#include "jobfile/ports.h"
#include "jobfile/section.h"

namespace gangrun::jobfile {

namespace {

constexpr FieldRow<job::JobSpec> kRestartsFields[] = {
    field_of<&job::JobSpec::restarts, &job::Restarts::max>({
        .key = "max",
        .about = "Most failures that are answered with a restart",
        .max = job::kMaxRestarts,
        .is_always_written = true,
        .has_own_words = true,
        .reference = "how many failures are answered with a restart, {range}",
    }),
    field_of<&job::JobSpec::restarts, &job::Restarts::scope>({
        .key = "scope",
        .about = "What restarts after a failure",
        .is_always_written = true,
        .has_own_words = true,
        .reference = "`task`: restart the failed task; `gang`: restart all tasks; `none`: restart "
                     "nothing, and `max` is 0",
    }),
    field_of<&job::JobSpec::restarts, &job::Restarts::pause>({
        .key = "pause",
        .about = "Pause before the first restart; it doubles each time",
        .is_always_written = true,
        .reference = "the time between a failure and its restart; it doubles each time: 1 s, 2 s, "
                     "4 s, …; 0 is no pause",
    }),
    field_of<&job::JobSpec::restarts, &job::Restarts::max_pause>({
        .key = "max_pause",
        .about = "Longest pause",
        .is_always_written = true,
        .reference = "the longest pause, at least `pause`",
        .default_words = "`1 min`, or `pause`",
    }),
};

constexpr FieldRow<job::JobSpec> kTimeoutsFields[] = {
    field_of<&job::JobSpec::timeouts, &job::Timeouts::allocation>({
        .key = "allocation",
        .about = "Longest time until every task has been allocated",
        .min = 1,
        .is_always_written = true,
        .has_own_words = true,
        .reference = "the longest time until every task has been allocated; more than 0",
    }),
    field_of<&job::JobSpec::timeouts, &job::Timeouts::hold>({
        .key = "hold",
        .about = "How long a cluster's containers are held while others are missing",
        .min = 1,
        .is_always_written = true,
        .reference = "on a cluster: the longest time that containers are held while others are "
                     "missing, before they are released and requested again; on Kubernetes it "
                     "starts with the last pod that got a node; more than 0",
    }),
    field_of<&job::JobSpec::timeouts, &job::Timeouts::roll_call>({
        .key = "roll_call",
        .about = "Longest time until every task has reported",
        .min = 1,
        .is_always_written = true,
        .has_own_words = true,
        .reference = "the longest time from then until every task has reported; more than 0",
    }),
    field_of<&job::JobSpec::timeouts, &job::Timeouts::job>({
        .key = "job",
        .about = "Longest time of the whole job; 0 means no limit",
        .is_always_written = true,
        .has_own_words = true,
        .reference = "the longest time of the whole job; 0 is no limit",
    }),
    field_of<&job::JobSpec::timeouts, &job::Timeouts::stop>({
        .key = "stop",
        .about = "Time between telling a task to stop and killing it",
        .min = 1,
        .is_always_written = true,
        .has_own_words = true,
        .reference = "the longest time between telling a task to stop and killing it; more than 0",
    }),
    field_of<&job::JobSpec::timeouts, &job::Timeouts::shrink>({
        .key = "shrink",
        .about = "How long a gang that may be smaller waits for its missing tasks",
        .min = 1,
        .is_always_written = true,
        .has_own_words = true,
        .reference = "the longest time that a type with `min_instances` waits for missing tasks, "
                     "or one with spares for a late task; more than 0",
    }),
    field_of<&job::JobSpec::timeouts, &job::Timeouts::master_lost>({
        .key = "master_lost",
        .about = "How long a task goes on without a master",
        .reference = "the longest time that a task goes on without a master; may be 0",
        .default_words = "0 on this machine; `60 s` with `hosts` or `--detach`",
    }),
};

constexpr FieldRow<job::JobSpec> kJobFields[] = {
    field_of<&job::JobSpec::name>({
        .key = "name",
        .about = "Name of the job",
        .allowed = "a name that can be a folder's",
        .is_always_written = true,
        .has_own_words = true,
        .flag = one_value("--name", "NAME", "The job's name"),
        .reference = "a letter or digit, then at most 62 letters, digits, `.`, `_` or `-`",
        .default_words = "the file's name without its ending; without a file, the script's or the "
                         "command's name",
        .no_default = "each job has its own",
        .schema = R"({"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"})",
    }),
    own_field<job::JobSpec>(
        {
            .key = "tasks",
            .about = "Task types of the job, in display order",
            .reference =
                "a map of task types to their keys (below), or to a number, which is "
                "`instances`; 1 to 256 types; at most 10,000 tasks and 100,000 processes in total",
            .default_words = "required",
            .no_default = "each job has its own",
            .schema =
                R"({"type": "object", "minProperties": 1, "maxProperties": 256, "propertyNames": {"pattern": "^[A-Za-z][A-Za-z0-9_-]{0,39}$", "not": {"const": "all"}}, "additionalProperties": {"oneOf": [{"$ref": "#/$defs/task"}, {"type": "integer", "minimum": 1, "maximum": 10000}, {"type": "null"}]}})",
        },
        read_tasks, tasks_json),
    own_field<read_command, command_json, &job::JobSpec::command>({
        .key = "command",
        .about = "What the tasks run",
        .reference = "the command of every task type without its own",
        .default_words = "none",
        .no_default = "each job has its own",
        .schema = R"({"$ref": "#/$defs/command"})",
    }),
    own_field<read_environment, plain_json, &job::JobSpec::environment>({
        .key = "env",
        .about = "Environment variables of all tasks",
        .reference = "a map of variables for every task; values are used as written",
        .default_words = "none",
        .schema = R"({"$ref": "#/$defs/env"})",
    }),
    own_field<read_framework, frameworks_json, &job::JobSpec::frameworks>({
        .key = "framework",
        .about = "Frameworks whose variables the tasks see",
        .reference = "{choices}, a list of these, or `none`: which framework's variables the "
                     "tasks see",
        .default_words = "all but `horovod`",
        .schema =
            R"({"oneOf": [{"$ref": "#/$defs/framework"}, {"const": "none"}, {"type": "array", "items": {"$ref": "#/$defs/framework"}, "minItems": 1, "uniqueItems": true}, {"type": "array", "items": {"const": "none"}, "minItems": 1, "maxItems": 1}]})",
        .choice = {.names = job::choice_names<job::Framework>},
    }),
    field_of<&job::JobSpec::success>({
        .key = "success",
        .about = "Which tasks must succeed for the job to succeed: all tracked tasks, or those of "
                 "one tracked type",
        .allowed = "all, or a task type",
        .is_always_written = true,
        .has_own_words = true,
        .flag = one_value("--success", "all|TYPE", "Whose success is the job's success"),
        .reference = "`all`: the job succeeds when all tracked tasks have succeeded; or a tracked "
                     "task type: when all tasks of this type have succeeded",
        .no_default = "it names a task type of one job",
    }),
    own_field<job::JobSpec>(
        {
            .key = "restarts",
            .about = "How many failures are answered with a restart, and what restarts",
            .reference = "`{max, scope, pause, max_pause}` (below), or a number, which is `max`",
            .default_words = "`{max: 0, scope: task}`",
            .schema =
                R"({"oneOf": [{"$ref": "#/$defs/max_restarts"}, {"$ref": "#/$defs/restarts"}, {"type": "null"}]})",
        },
        read_restarts,
        [](const job::JobSpec& job, job::PlanForm form) {
          return json_of_fields(restarts_fields(), job, form);
        }),
    map_field<job::JobSpec, timeouts_fields>({
        .key = "timeouts",
        .about = "Longest times that things may take",
        .reference = "a map (below)",
        .default_words = "below",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/timeouts"}, {"type": "null"}]})",
    }),
    field_of<&job::JobSpec::files>({
        .key = "files",
        .about = "Files and folders that the tasks need in their working folder",
        .allowed = "paths, a path",
        .has_own_words = true,
        .flag = {.names = "-f,--files",
                 .forms = FlagForms::kEach,
                 .adds = true,
                 .value = "FILE",
                 .help = "A file or folder that the job needs",
                 .reference = "one path; once per path; added to the file's"},
        .reference = "a list of files and folders that the tasks need in their folder, at most "
                     "10,000; see [YARN](#yarn) for what a cluster receives",
        .default_words = "none",
        .no_default = "each job has its own",
        .schema =
            R"({"type": "array", "maxItems": 10000, "items": {"type": "string", "minLength": 1}})",
    }),
    own_field<read_archives, plain_json, &job::JobSpec::archives>({
        .key = "archives",
        .about = "Archives that are unpacked for the tasks, by folder name",
        .reference = "on YARN only: a map from folder names to archives that are unpacked "
                     "there for the tasks, at most 64; see [YARN](#yarn)",
        .default_words = "none",
        .no_default = "each job has its own",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/archives"}, {"type": "null"}]})",
    }),
    field_of<&job::JobSpec::image>({
        .key = "image",
        .about = "Container image that the tasks run in",
        .allowed = "the name of a container image",
        .has_own_words = true,
        .flag = one_value("--image", "IMAGE", "The container image that the tasks run in"),
        .reference = "the [container image](containers.md) that the tasks run in: "
                     "`[HOST[:PORT]/]NAME[:TAG][@DIGEST]`",
        .default_words = "none",
        .schema = R"({"maxLength": 255})",
    }),
    own_field<job::JobSpec>(
        {
            .key = "mounts",
            .about = "Paths of the host that a container sees under the same path: PATH or PATH:ro",
            .flag = {.names = "--mount",
                     .forms = FlagForms::kEach,
                     .value = "PATH[:ro]",
                     .help = "Host path that containers see under the same path",
                     .reference = "`PATH` or `PATH:ro`; once per path; added to the file's"},
            .reference = "a list of `PATH` or `PATH:ro`, at most 64: paths of the host that a "
                         "container sees under the same absolute path",
            .default_words = "none",
            .schema =
                R"({"type": "array", "maxItems": 64, "items": {"type": "string", "pattern": "^/[^:,]*(:ro)?$"}})",
        },
        read_mounts,
        [](const job::JobSpec& job, job::PlanForm /*form*/) { return list_json(job.mounts); },
        take_mount),
    own_field<read_zookeeper, zookeeper_json, &job::JobSpec::zookeeper>({
        .key = "zookeeper",
        .about = "ZooKeeper that mirrors the roll call",
        .reference =
            "a map (below): mirror the roll call in ZooKeeper, as YARN's service registry does",
        .default_words = "not",
        .schema = R"({"oneOf": [{"$ref": "#/$defs/zookeeper"}, {"type": "null"}]})",
    }),
    field_of<&job::JobSpec::on>({
        .key = "on",
        .about = "Backend that runs the tasks",
        .allowed = "the name of a place",
        .is_always_written = true,
        .has_own_words = true,
        .flag = one_value("--on", "PLACE", "Where the tasks run"),
        .reference = "where the tasks run: {places}",
    }),
    field_of<&job::JobSpec::outputs>({
        .key = "outputs",
        .about = "Files and folders to keep when a task has ended, relative to its working folder",
        .allowed = "paths, a path",
        .flag = {.names = "--output",
                 .forms = FlagForms::kEach,
                 .adds = true,
                 .value = "PATH",
                 .help = "Files and folders of the tasks to keep; gangrun fetch copies them",
                 .reference = "one path; once per path; added to the file's"},
        .reference =
            "a list of files and folders, at most 64, relative to the task's working folder and "
            "without `..`: the files to keep, for `gangrun fetch` ([outputs](#outputs)). `[]`: "
            "none",
        .default_words = "of a copied folder, what is new or has changed; else none",
        .no_default = "each job has its own",
        .schema = R"({"$ref": "#/$defs/outputs"})",
    }),
    field_of<&job::JobSpec::outputs_limit_mib>({
        .key = "outputs_limit",
        .about =
            "Most that is kept: of a copied folder on a host where no outputs are named, or of "
            "a task's outputs on YARN and Kubernetes",
        .flag = one_value("--outputs-limit"),
        .reference = "the most that each host of `ssh` brings of a copied folder where no "
                     "`outputs` are named, which keeps the rest for a day, for `gangrun fetch`; on "
                     "YARN and Kubernetes, the most that each task's `outputs` may have: on YARN, "
                     "and with agents on Kubernetes, the rest goes with its container; from a pod "
                     "without an agent that has more, nothing is brought",
        .default_words = "256 MiB on a host, no limit on YARN and Kubernetes",
    }),
    field_of<&job::JobSpec::keep_folders>({
        .key = "keep_folders",
        .about = "Whether copied folders stay on their hosts until gangrun rm",
        .flag = {.names = "--keep-folders",
                 .forms = FlagForms::kSwitch,
                 .help = "Leave copied folders on their hosts until `gangrun rm`"},
        .reference = "`true`: folders that were copied for the job stay until `gangrun rm`",
        .default_words = "`false`",
    }),
    field_of<&job::JobSpec::log_limit_mib>({
        .key = "log_limit",
        .about = "Most of a task's log on disk; what it writes beyond that is dropped and counted",
        .min = 1,
        .flag = one_value("--log-limit"),
        .reference =
            "the most that the log of each task may have on disk, with standard output "
            "and standard error together and all its runs; at least 1 MiB. What a task "
            "writes beyond that is dropped and counted, but for its last lines; `run` and `attach` "
            "do not show it, and the job goes on ([logs](commands.md#a-limit-for-logs))",
        .default_words = "no limit",
    }),
    own_field<read_hosts, list_json<job::Host>, &job::JobSpec::hosts>({
        .key = "hosts",
        .about = "Hosts that run the tasks: NAME or NAME:SLOTS; with `on: local` these are "
                 "network namespaces of this machine",
        .reference =
            "a list of `NAME` or `NAME:SLOTS`, for an IPv6 address `[fd00::5]:8`: the hosts "
            "that run the tasks, and the most tasks on each (1 to 10,000; no limit without a "
            "number). At most 1,000 hosts, each named once. There must be a slot for every "
            "task and spare; a job of one type "
            "needs slots only for its `min_instances` or `instances`. See [hosts](#hosts)",
        .default_words = "none",
        .no_default = "they are for the tasks of one job",
        .schema =
            R"({"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string", "pattern": "^([A-Za-z0-9][A-Za-z0-9._-]{0,252}(:[0-9]{1,5})?|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*|\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?)$"}})",
    }),
    field_of<&job::JobSpec::interface>({
        .key = "interface",
        .about =
            "Interface or network of the tasks' published addresses: eth0, 10.0.0.0/8, fd00::/8",
        .allowed = "the name of an interface, or a network as 10.0.0.0/8",
        .parse = parse_interface,
        .has_own_words = true,
        .flag = one_value("--interface", "NAME",
                          "The interface (eth0) or network (10.0.0.0/8, fd00::/8) of the tasks' "
                          "addresses"),
        .reference =
            "the interface (`eth0`) or the network (`10.0.0.0/8`, `fd00::/8`, or one address) from "
            "which the tasks' published addresses are taken; see [ports](#ports-and-addresses)",
        .default_words = "depends on `on`",
        .schema = R"({"minLength": 1, "maxLength": 64})",
    }),
    field_of<&job::JobSpec::containment>({
        .key = "containment",
        .about = "How everything that a task started is killed with it",
        .is_always_written = true,
        .has_own_words = true,
        .flag = one_value("--containment", "",
                          "How a task's processes are contained, so that none outlives it"),
        .reference = "`auto`, `pid_namespace`, `cgroup` or `subreaper`: how everything that a task "
                     "started is killed with it; `auto` is the strongest that [changes nothing for "
                     "programs](#what-programs-notice) but which processes they see",
    }),
    field_of<&job::JobSpec::stop_signal>({
        .key = "stop_signal",
        .about = "Signal that tells a task to stop, with or without SIG",
        .is_always_written = true,
        .flag = one_value("--stop-signal", "SIGNAL", "Signal that asks tasks to stop: {choices}"),
        .reference = "{choices} (or `SIGTERM` and so on): the signal that tells a task [to "
                     "stop](#how-a-task-is-stopped)",
    }),
    field_of<&job::JobSpec::stop_signal_to>({
        .key = "stop_signal_to",
        .about = "Which processes get the stop signal: only the command, or everything that it "
                 "started too",
        .is_always_written = true,
        .flag = one_value("--stop-signal-to", "",
                          "Who gets that signal: the command, or everything that it started too"),
        .reference = "`process`: only the command gets it; `group`: everything that the command "
                     "started gets it too",
    }),
    field_of<&job::JobSpec::notice_signal>({
        .key = "notice_signal",
        .about = "Signal that tells a command that it may soon be taken away, with or without SIG",
        .is_always_written = true,
        .reference = "{choices}: the signal that tells a command about an expected loss "
                     "([notices](#notices))",
        .default_words = "`USR1`; `USR2` if `USR1` is the `stop_signal`",
    }),
};

}  // namespace

FieldRows<job::JobSpec> job_fields() { return kJobFields; }
FieldRows<job::JobSpec> restarts_fields() { return kRestartsFields; }
FieldRows<job::JobSpec> timeouts_fields() { return kTimeoutsFields; }

const std::vector<JobField>& plain_job_fields() {
  static const std::vector<JobField> kFields = [] {
    std::vector<JobField> fields;
    add_plain_fields(job_fields(), "", fields);
    add_plain_fields(restarts_fields(), "restarts.", fields);
    add_plain_fields(timeouts_fields(), "timeouts.", fields);
    return fields;
  }();
  return kFields;
}

Found check_job_fields(const job::JobSpec& job) {
  std::vector<JobField> fields = plain_job_fields();
  for (const auto& [key, options] : job.sections.held()) {
    add_section_fields(options->section(), fields);
  }
  for (const JobField& field : fields) {
    if (field.row->get == nullptr) continue;
    if (auto found = check_value(field.row->info, field.row->get(job), field.path)) return found;
  }
  return std::nullopt;
}

}  // namespace gangrun::jobfile
