#include "agent/agent_run.h"

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "net/hosts.h"
#include "process/core_files.h"
#include "process/open_files.h"
#include "process/signals.h"

namespace gangrun::agent {
namespace {

// In `file` for whoever comes later; empty: nobody does.
void leave_words(AgentStart& start, const job::LastWords& words, const std::string& file,
                 base::Logger& logger) {
  logger.error("{}", words.why);
  if (!file.empty()) {
    const auto left = base::write_file_atomically(file, job::to_text(words), 0600);
    if (!left.ok()) logger.error("{}", left.error().message);
  }
  start.leave_words(words);
}

// An error is why no agent came to be.
base::Result<int> run_contained(AgentStart& start, base::Logger& logger) {
  GANGRUN_ASSIGN(const auto containment, start.contain());
  process::leave_no_core_file();
  GANGRUN_ASSIGN(auto config, start.read_config(logger));
  net::use_static_name_service();
  net::EventLoop loop;
  const std::unique_ptr<BesideAgent> beside = start.beside_agent(loop, logger, config);
  const std::string words_file = config.words_file;
  Agent agent(loop, logger, containment, std::move(config), beside->outputs());
  GANGRUN_ASSIGN(const auto endings,
                 loop.watch_signals(process::ending_signals(),
                                    [&agent](int number) { agent.end_by_signal(number); }));
  GANGRUN_ASSIGN(const auto notices, loop.watch_signals(process::notice_signals(), [&agent](int) {
    agent.on_notice(std::nullopt);
  }));
  GANGRUN_ASSIGN(const auto children,
                 loop.watch_signals({SIGCHLD}, [&agent](int) { agent.reap_orphans(); }));
  GANGRUN_TRY(agent.start());
  GANGRUN_TRY(beside->start(agent));
  loop.run();
  start.ended(containment);
  if (!agent.last_words()) return agent.exit_status();
  leave_words(start, *agent.last_words(), words_file, logger);
  return 1;
}

}  // namespace

int run_agent(AgentStart& start, base::Logger& logger) {
  process::raise_open_file_limit();
  const auto status = run_contained(start, logger);
  if (status.ok()) return *status;
  leave_words(start, {.why = status.error().message, .run = std::nullopt}, "", logger);
  return 1;
}

}  // namespace gangrun::agent
