#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "local/local_launcher.h"
#include "net/event_loop.h"
#include "net/link_window.h"
#include "net/relay.h"
#include "net/socket_listener.h"
#include "ssh/frames.h"
#include "ssh/keeper_messages.h"
#include "ssh/node/caretaker.h"
#include "ssh/node/keeper.h"
#include "ssh/node/log_follower.h"
#include "ssh/node/output_sender.h"
#include "ssh/node/run_folder.h"
#include "ssh/node/work_folder.h"

// For keeper.cc and keeper_ends.cc only.
namespace gangrun::ssh::node {

// While so much waits for the client, no more of the logs and files is read.
inline constexpr std::size_t kMaxWaiting = std::size_t{256} << 10U;

class Keeper {
 public:
  Keeper(const KeeperOptions& options, const base::Clock& clock)
      : options_(options), clock_(clock) {}

  base::Result<> start();
  int run();

 private:
  struct Agent {
    job::TaskId task;
    int attempt = 0;
    bool is_allocated = false;
    bool has_ended = false;      // told; its logs are not all
    bool are_logs_gone = false;  // and that was told
  };

  void send(const ssh::Frame& frame);
  void tell(const ssh::KeeperMessage& message) { send(ssh::MessageFrame{ssh::to_json(message)}); }
  void write();
  void on_input();
  void hear();
  void doubt();
  base::Result<> on_frames();
  base::Result<> on(const ssh::MessageFrame& frame);
  base::Result<> begin(const ssh::BeginMessage& message);
  base::Result<> make_launcher(const ssh::BeginMessage& message);
  base::Result<> start_agent(const ssh::StartMessage& message);
  void adopt(const ssh::AdoptMessage& message);
  void stop(std::uint32_t agent, std::chrono::milliseconds grace);
  void on_event(const cluster::LaunchEvent& event);
  std::optional<std::uint32_t> number_of(const job::TaskId& task, int attempt) const;
  [[nodiscard]] std::vector<std::uint32_t> agent_numbers() const;
  void tell_logs();
  void tell_logs_soon();
  [[nodiscard]] bool may_tell_logs() const;
  [[nodiscard]] std::size_t bytes_of_logs(std::size_t most) const;
  void tell_some_logs(std::size_t bytes);
  void tell_lines_first();
  void look_for_gone_logs(const std::vector<std::uint32_t>& numbers);
  void forget_told();
  void refuse(std::string detail);
  base::Result<> remove(const ssh::RemoveMessage& message);
  base::Result<> bring(const ssh::BringMessage& message);
  base::Result<> open_kept(const std::string& run_folder);
  std::string end(ssh::Kept kept);
  void say_last(const ssh::KeeperMessage& message);
  void lose_client(bool is_link_whole);
  void let_go();
  void leave_if_done();

  const KeeperOptions& options_;
  const base::Clock& clock_;
  net::EventLoop loop_;
  net::Watch signals_;
  net::Watch readable_;
  net::Watch writable_;
  net::Timer log_timer_;
  base::Instant next_look_ = base::Instant::min();  // at all logs, for what agents say
  net::Timer silence_;
  std::optional<base::Instant> silent_until_;      // once the client is silent for too long
  std::optional<base::Instant> lines_kept_until_;  // once the link is cut
  ssh::FrameReader frames_;
  std::string out_;
  std::optional<ssh::HelloMessage> hello_;
  std::optional<ssh::BeginMessage> job_;
  std::optional<RunFolder> folder_;
  Caretakers caretakers_;  // of the folder, if we are killed
  std::unique_ptr<local::LocalLauncher> launcher_;
  std::unique_ptr<net::Relay> relay_;
  std::unique_ptr<net::SocketListener> relay_entrance_;
  LogFollower logs_{[this](const ssh::LogFrame& frame) {
    window_.sent(frame.content.size(), clock_.now());
    send(frame);
  }};
  net::LinkWindow window_;
  std::map<std::uint32_t, Agent> agents_;
  std::optional<WorkFolder> work_;
  std::optional<OutputSender> outputs_;
  bool is_of_the_past_ = false;  // the folder: its job is over, and it was kept
  bool is_folder_gone_ = false;  // was removed by somebody else, and that was told
  bool has_client_ = true;
  bool is_refused_ = false;
  int status_ = 0;
};

}  // namespace gangrun::ssh::node
