#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command_builder.h"
#include "client/context.h"
#include "client/fail.h"
#include "client/sites.h"

namespace gangrun::cli {

// The action of the command line: set by the command that was named.
struct Request {
  const client::Places& places;
  client::Action action{};
  std::vector<std::string> command{};  // the words after "--"
  // Each of these finds the jobs that the words of a command mean, before its action: see
  // add_job().
  std::map<const CLI::App*, std::function<void(const client::Context&)>> find_jobs{};
};

// The command does this with options that it owns; an error is told, and is its end.
template <typename Options>
void acts(CLI::App& command, Request& request, std::shared_ptr<Options> options,
          base::Result<client::ExitStatus> (*act)(const Options&, client::Context&)) {
  on_chosen(command, [&request, options = std::move(options), act] {
    request.action = [options, act](client::Context& context) {
      const auto status = act(*options, context);
      return status.ok() ? *status : client::fail(context, status.error());
    };
  });
}

// JOB of a command: an id, the unambiguous beginning of one, or `last`, which is the id of the job
// that it means once the command acts, and is meant where none is `required` and none is given.
void add_job(CLI::App& command, Request& request, std::string& job, bool required);
// The same, and one task of it. A task alone is one of the last job.
void add_job_and_task(CLI::App& command, Request& request, std::string& job, std::string& task);
// Any number of tasks.
void add_job_and_tasks(CLI::App& command, Request& request, std::string& job,
                       std::vector<std::string>& tasks);
// At least one of them.
void add_jobs(CLI::App& command, Request& request, std::vector<std::string>& jobs);

// Each adds one command, whose flags are read into memory that the command owns.
void add_run(CLI::App& app, Request& request);
void add_rerun(CLI::App& app, Request& request);
void add_ps(CLI::App& app, Request& request);
void add_status(CLI::App& app, Request& request);
void add_logs(CLI::App& app, Request& request);
void add_result(CLI::App& app, Request& request);
void add_fetch(CLI::App& app, Request& request);
void add_kill(CLI::App& app, Request& request);
void add_rm(CLI::App& app, Request& request);
void add_wait(CLI::App& app, Request& request);
void add_attach(CLI::App& app, Request& request);
void add_open(CLI::App& app, Request& request);
void add_exec(CLI::App& app, Request& request);
void add_stacks(CLI::App& app, Request& request);
void add_kv(CLI::App& app, Request& request);
void add_barrier(CLI::App& app, Request& request);
void add_why(CLI::App& app, Request& request);
void add_explain(CLI::App& app, Request& request);
void add_history(CLI::App& app, Request& request);
void add_doctor(CLI::App& app, Request& request);
void add_completion(CLI::App& app, Request& request);
void add_version(CLI::App& app, Request& request);

// The hidden command by which a job's master logs in somewhere by Kerberos: see
// mirror::LoginErrand.
client::ExitStatus run_login_errand(client::Context& context);

}  // namespace gangrun::cli
