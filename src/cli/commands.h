#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/command.h"
#include "client/context.h"
#include "client/fail.h"
#include "client/sites.h"

namespace gangrun::cli {

// The work of a command with options that it owns; an error is told, and is its end.
template <typename Options>
client::Action acts(std::shared_ptr<Options> options,
                    base::Result<client::ExitStatus> (*act)(const Options&, client::Context&)) {
  return [options = std::move(options), act](client::Context& context) {
    const auto status = act(*options, context);
    return status.ok() ? *status : client::fail(context, status.error());
  };
}

// JOB of a command: an id, the unambiguous beginning of one, or `last`, which is meant where none
// is given. Once the command acts, it is an id. A task alone, where one may follow, is one of the
// last job.
client::Word job_word(std::string& job);

// The flags of commands that start a job.
std::vector<client::Flag> run_flags(client::RunOptions& options, const client::Places& places);

// The commands, whose flags and words are read into memory that their actions own.
client::Command run_command(const client::Places& places);
client::Command rerun_command(const client::Places& places);
client::Command ps_command(const client::Places& places);
client::Command status_command();
client::Command logs_command();
client::Command result_command();
client::Command fetch_command();
client::Command kill_command();
client::Command rm_command();
client::Command wait_command();
client::Command attach_command();
client::Command open_command();
client::Command exec_command();
client::Command stacks_command();
client::Command kv_command();
client::Command barrier_command();
client::Command why_command();
client::Command explain_command();
client::Command history_command(const client::Places& places);
client::Command doctor_command(const client::Places& places);
client::Command completion_command();
client::Command version_command();

// The program, with all of them.
client::Command program(const client::Places& places);

// The whole command line: `arguments` without the program's name. Output that could not be written
// makes a success kFailed, and is told in one sentence.
client::ExitStatus run_command_line(const std::vector<std::string>& arguments,
                                    client::Context& context);

// The hidden command by which a job's master logs in somewhere by Kerberos: see
// mirror::LoginErrand.
client::ExitStatus run_login_errand(client::Context& context);

}  // namespace gangrun::cli
