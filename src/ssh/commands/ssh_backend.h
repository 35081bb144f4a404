#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/backend.h"
#include "job/spec.h"
#include "ssh/host_links.h"
#include "ssh/ssh_launcher.h"

namespace gangrun::ssh::commands {

// For the hosts of a job to log in to, each within its own limits, and many beside each other.
inline constexpr std::chrono::minutes kLoginLimit(30);

// The links to the hosts of the job; none is opened yet. `working_folder`: where gangrun was
// called.
base::Result<std::unique_ptr<ssh::HostLinks>> make_links(net::EventLoop& loop,
                                                         const job::JobSpec& spec,
                                                         const std::string& agent_program,
                                                         const std::string& working_folder);

// The tasks run on hosts that ssh reaches.
class SshBackend final : public host::Backend {
 public:
  // With an agent's program and the folder where gangrun was called, reach() logs in to all hosts;
  // without, they are logged in to when there is a cluster, and a host that refuses ends the job.
  SshBackend() = default;
  SshBackend(std::string agent_program, std::string working_folder)
      : agent_program_(std::move(agent_program)), working_folder_(std::move(working_folder)) {}

  base::Result<> reach(net::EventLoop& loop, const base::Clock& clock, const job::JobSpec& spec,
                       const std::function<bool()>& is_cancelled) override;
  [[nodiscard]] std::chrono::milliseconds master_lost(const job::JobSpec& spec,
                                                      bool tasks_outlive_us) const override;
  base::Result<host::MadeTasks> make_tasks(const host::BackendInput& input) override;
  base::Result<> clear(net::EventLoop& loop, const std::function<void(const std::string&)>& tell,
                       const std::function<bool()>& is_left) override;

 private:
  std::string agent_program_;
  std::string working_folder_;
  std::unique_ptr<ssh::HostLinks> links_;
  ssh::SshLauncher* launcher_ = nullptr;  // the master's, which outlives every call of clear()
};

// The files and folders that a host without the working folder is to have, with all that is in
// them. A name that no host could have is an error.
base::Result<std::vector<ssh::HostFile>> host_files(const job::JobSpec& spec,
                                                    const std::string& folder);

}  // namespace gangrun::ssh::commands
