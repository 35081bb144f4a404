#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cluster/site.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace gangrun::cli {

// What the command line asks for: set by the command that was named.
struct Request {
  const Places& places;
  Action action{};
  std::vector<std::string> command{};  // the words after "--"
};

// Each adds one command, whose flags are read into memory that the command owns.
void add_run(CLI::App& app, Request& request);
void add_ps(CLI::App& app, Request& request);
void add_status(CLI::App& app, Request& request);
void add_logs(CLI::App& app, Request& request);
void add_result(CLI::App& app, Request& request);
void add_fetch(CLI::App& app, Request& request);
void add_kill(CLI::App& app, Request& request);
void add_wait(CLI::App& app, Request& request);
void add_attach(CLI::App& app, Request& request);
void add_open(CLI::App& app, Request& request);
void add_why(CLI::App& app, Request& request);
void add_explain(CLI::App& app, Request& request);
void add_history(CLI::App& app, Request& request);
void add_doctor(CLI::App& app, Request& request);
void add_check_hadoop_env(CLI::App& app, Request& request);
void add_completion(CLI::App& app, Request& request);
void add_ytf_submit(CLI::App& app, Request& request);
void add_tf_spawner(CLI::App& app, Request& request);
void add_version(CLI::App& app, Request& request);

// The hidden command by which a job's master gets tokens: see cluster::TokenErrand.
ExitStatus run_token_errand(const std::string& file, Context& context);

// Where the jobs of this machine are kept, and where the job of this name is.
base::Result<std::string> home_of(const Context& context);
base::Result<std::unique_ptr<cluster::Site>> site_of(const Context& context,
                                                     const std::string& job);
// The jobs of a place; none is named: those of this machine.
base::Result<std::unique_ptr<cluster::Site>> site_at(const Context& context,
                                                     const std::optional<std::string>& place);
// The jobs that are kept on this machine, wherever their tasks run.
base::Result<std::unique_ptr<cluster::Site>> home_site(const Context& context);
// "local|yarn": what `--on` of `ps` and the like may name.
std::string places_with_jobs(const Places& places);

// Tells the error and gives the status for it.
ExitStatus fail(Context& context, const base::Error& error);
ExitStatus fail(Context& context, const base::Error& error, ExitStatus status);

}  // namespace gangrun::cli
