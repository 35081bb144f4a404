#include <memory>

#include "cli/commands.h"
#include "client/task_keys.h"

namespace gangrun::cli {

client::Command kv_command() {
  const auto options = std::make_shared<client::KvOptions>();
  return {.name = "kv",
          .summary = "Inside a task: put a value for the job's tasks, or get one.",
          .words = {{"put|get|wait|delete|list", &options->action, true},
                    {"KEY", &options->key},
                    {"VALUE", &options->value}},
          .rest = &options->words,
          .rest_name = "[KEY] [VALUE]",
          .flags = {{"--timeout", &options->timeout, "TIME",
                     "kv wait: give up after this time, with status 124 (default: 10m)"},
                    {"--json", &options->json, "", "kv list: print one JSON object"}},
          .footer =
              "Actions:\n"
              "  put KEY [VALUE]   set a key; without VALUE, to what standard input has\n"
              "  get KEY           print the value; status 1: there is no such key\n"
              "  wait KEY          the same, once there is one\n"
              "  delete KEY        remove a key; status 1: there is no such key\n"
              "  list [PREFIX]     print the keys, or those that begin so\n\n"
              "After -- a KEY or VALUE may begin with a dash. A VALUE may be empty.\n"
              "A key has at most 200 printable characters, a value at most 256 KiB, a job at most\n"
              "10,000 keys and 64 MiB. Keys last as long as the job.\n\n"
              "Example:\n  gangrun kv put address \"$HOSTNAME:8080\"\n"
              "  gangrun kv wait address --timeout 1m\n",
          .action = acts(options, client::use_keys)};
}

client::Command barrier_command() {
  const auto options = std::make_shared<client::BarrierOptions>();
  return {
      .name = "barrier",
      .summary = "Inside a task: wait until the other tasks have come too.",
      .words = {{"NAME", &options->name, true}},
      .flags =
          {{"--tasks", &options->tasks, "N",
            "Go on when so many tasks wait (default: all that are tracked)"},
           {"--timeout", &options->timeout, "TIME",
            "Give up after this time, with status 124, and say who has not come (default: 10m)"}},
      .footer =
          "A task has come when all of its processes have. A barrier may be used again, and "
          "belongs\nto one start of the gang. A process that has ended does not wait any "
          "more.\nStatus 1: a task that is waited for has ended, so it cannot come.\n\n"
          "Example:\n  gangrun barrier data-is-there --timeout 5m\n",
      .action = acts(options, client::wait_at_barrier)};
}

}  // namespace gangrun::cli
