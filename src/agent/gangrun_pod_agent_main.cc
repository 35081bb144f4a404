// The program that travels to pods: the agent of a task, the relay, or a detached job's master.
#include <memory>
#include <optional>
#include <string>

#include "agent/agent.h"
#include "agent/agent_run.h"
#include "agent/copy_to.h"
#include "agent/pod.h"
#include "agent/program.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "job/cluster_spec.h"
#include "kubernetes/joined_files.h"
#include "kubernetes/node/hint_door.h"
#include "kubernetes/node/pod_master.h"
#include "kubernetes/node/relay_program.h"
#include "net/event_loop.h"
#include "process/containment.h"
#include "process/core_files.h"
#include "process/open_files.h"
#include "wire/agent_config.h"

namespace gangrun {
namespace {

constexpr const char* kUsage =
    "usage: gangrun-pod-agent pod --task TASK --attempt N --config FILE --folder FOLDER\n"
    "                         --hint-port N,... [--master HOST:PORT] [--host HOST --port N]\n"
    "       gangrun-pod-agent copy-to FOLDER VERSION\n"
    "       gangrun-pod-agent pod-master --config FOLDER --run FOLDER\n"
    "       gangrun-pod-agent relay --port N --client-port N --token-file FILE\n"
    "       gangrun-pod-agent files --to PATH --mode MODE PART... [--to ...]\n"
    "       gangrun-pod-agent look LIMIT_MS ASKED_MS one|all PID...\n"
    "       gangrun-pod-agent beside agent|inside\n"
    "       gangrun-pod-agent --version\n"
    "Started by gangrun in pods of Kubernetes: in that of a task as the first process of its\n"
    "container, into which it is copied, and before that what puts large files together; in that\n"
    "of a detached job's master; in the relay between agents and a master that is a client; for\n"
    "gangrun stacks what looks at the processes of a task, for gangrun exec what runs a command\n"
    "beside it.\n";

class BesidePod final : public agent::BesideAgent {
 public:
  BesidePod(net::EventLoop& loop, base::Logger& logger, const agent::PodWords& words,
            const base::Secret& secret)
      : loop_(loop), logger_(logger), words_(words), secret_(secret) {}

  base::Result<> start(agent::Agent& agent) override {
    hints_.emplace(loop_, logger_, secret_,
                   [&agent](const job::Address& master) { agent.set_master(master); });
    GANGRUN_TRY(hints_->listen(words_.hint_ports));
    return {};
  }

 private:
  net::EventLoop& loop_;
  base::Logger& logger_;
  const agent::PodWords& words_;
  const base::Secret secret_;
  std::optional<kubernetes::node::HintDoor> hints_;
};

class PodStart final : public agent::AgentStart {
 public:
  explicit PodStart(const agent::PodWords& words) : words_(words) {}

  base::Result<process::Containment> contain() override {
    return process::contain_as_first_process();
  }
  base::Result<wire::AgentConfig> read_config(base::Logger&) override {
    return agent::agent_config_of(words_);
  }
  std::unique_ptr<agent::BesideAgent> beside_agent(net::EventLoop& loop, base::Logger& logger,
                                                   const wire::AgentConfig& config) override {
    return std::make_unique<BesidePod>(loop, logger, words_, config.secret);
  }

 private:
  const agent::PodWords& words_;
};

std::optional<int> run_pod(int count, char** words) {
  const auto parsed = agent::pod_words_from({words, words + count});
  if (!parsed) return std::nullopt;
  PodStart start(*parsed);
  // The log of a pod is its task's.
  return agent::run_agent(
      start, *agent::logger_of(job::to_string(parsed->task), base::LogLevel::kWarning));
}

std::optional<int> run_relay(int count, char** words) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const auto logger = agent::logger_of("relay");
  const auto options = kubernetes::node::relay_options_from(count, words);
  if (options.ok()) return kubernetes::node::run_relay(*options, *logger);
  logger->error("{}", options.error().message);
  return 2;
}

std::optional<int> run_master(int count, char** words) {
  process::leave_no_core_file();
  process::raise_open_file_limit();
  const base::SystemClock clock;
  const auto logger = agent::logger_of("pod-master");
  const auto options = kubernetes::node::pod_master_options_from(count, words);
  if (options.ok()) return kubernetes::node::run_pod_master(*options, clock, *logger);
  logger->error("{}", options.error().message);
  return 2;
}

std::optional<int> run_copy(int, char** words) {
  return agent::status_of(agent::copy_agent("/proc/self/exe", words[0], words[1]),
                          *agent::logger_of("copy-to"));
}

// In a container of its own, before the task's.
std::optional<int> run_files(int count, char** words) {
  const auto files = kubernetes::joined_files_from({words, words + count});
  if (!files) return std::nullopt;
  const auto logger = agent::logger_of(kubernetes::kFilesCommand);
  for (const kubernetes::JoinedFile& file : *files) {
    const auto done = kubernetes::put_together(file);
    if (!done.ok()) return agent::status_of(done, *logger);
  }
  return 0;
}

using agent::kAnyWords;
constexpr agent::Command kCommands[] = {{"pod", 1, kAnyWords, &run_pod},
                                        {"relay", 1, kAnyWords, &run_relay},
                                        {"pod-master", 1, kAnyWords, &run_master},
                                        {"copy-to", 2, 2, &run_copy},
                                        {kubernetes::kFilesCommand, 1, kAnyWords, &run_files}};

}  // namespace
}  // namespace gangrun

int main(int argc, char** argv) {
  return gangrun::agent::run_program({"gangrun-pod-agent", gangrun::kUsage, gangrun::kCommands},
                                     argc, argv);
}
