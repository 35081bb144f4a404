#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/command.h"
#include "client/run_options.h"
#include "jobfile/place_rules.h"

// The command line of `ytf-submit`, as the design "TensorFlow on YARN" has it, as options of
// `gangrun run` (docs/from-ytf-submit.md).
namespace gangrun::yarn::commands {

inline constexpr std::string_view kYtfSubmit = "ytf-submit";

// How a job comes to a secured cluster: fields of a job file.
inline constexpr std::string_view kLoginFields[] = {"yarn.file_systems", "yarn.principal",
                                                    "yarn.keytab", "yarn.as"};

// The flags that were typed. Lists have an element for each time that the flag was given.
struct YtfOptions {
  client::RunOptions run;  // as far as a flag means the same there
  std::string command;     // one line for a shell
  std::vector<std::string> vcores;
  std::vector<std::string> memory;  // a bare number is in MB, which is YARN's word for MiB
  std::vector<std::string> env;
  std::vector<std::string> mounts;  // beside input and output
  std::optional<std::string> input;
  std::optional<std::string> output;
  std::optional<std::string> script;
  std::optional<std::string> docker_image;
  std::optional<std::string> queue;
  std::optional<std::string> name;
  std::optional<std::string> registry;
  std::optional<std::string> on;
  bool tensorboard = false;
  bool expose_tensorboard = false;
  bool unchecked_input = false;
  bool wait = false;
  bool client = false;
  bool client_ends_job = false;
};

// The same job for `gangrun run`, detached where nobody stays for it. It reads only the flags,
// no file and no cluster. `folder` is where the command was called.
base::Result<client::RunOptions> run_options_of(const YtfOptions& options,
                                                const std::string& folder);

client::Command ytf_submit_command(const jobfile::RulesOfPlaces& places);

}  // namespace gangrun::yarn::commands
