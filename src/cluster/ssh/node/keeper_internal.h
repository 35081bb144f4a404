#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "cluster/local/local_cluster.h"
#include "cluster/ssh/frames.h"
#include "cluster/ssh/keeper_messages.h"
#include "cluster/ssh/link_window.h"
#include "cluster/ssh/node/caretaker.h"
#include "cluster/ssh/node/keeper.h"
#include "cluster/ssh/node/log_follower.h"
#include "cluster/ssh/node/output_sender.h"
#include "cluster/ssh/node/run_folder.h"
#include "cluster/ssh/node/work_folder.h"
#include "cluster/ssh/relay.h"
#include "net/event_loop.h"

// For keeper.cc and keeper_ends.cc only.
namespace gangrun::node {

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

  void send(const cluster::Frame& frame);
  void tell(const cluster::KeeperMessage& message) {
    send(cluster::MessageFrame{cluster::to_json(message)});
  }
  void write();
  void on_input();
  void hear();
  void doubt();
  base::Result<> on_frames();
  base::Result<> on(const cluster::MessageFrame& frame);
  base::Result<> begin(const cluster::BeginMessage& message);
  base::Result<> make_cluster(const cluster::BeginMessage& message);
  base::Result<> start_agent(const cluster::StartMessage& message);
  void adopt(const cluster::AdoptMessage& message);
  void stop(std::uint32_t agent, std::chrono::milliseconds grace);
  void on_event(const cluster::Event& event);
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
  base::Result<> remove(const cluster::RemoveMessage& message);
  base::Result<> bring(const cluster::BringMessage& message);
  base::Result<> open_kept(const std::string& run_folder);
  std::string end(cluster::Kept kept);
  void say_last(const cluster::KeeperMessage& message);
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
  cluster::FrameReader frames_;
  std::string out_;
  std::optional<cluster::HelloMessage> hello_;
  std::optional<cluster::BeginMessage> job_;
  std::optional<RunFolder> folder_;
  Caretakers caretakers_;  // of the folder, if we are killed
  std::unique_ptr<cluster::LocalCluster> cluster_;
  std::unique_ptr<cluster::Relay> relay_;
  LogFollower logs_{[this](const cluster::LogFrame& frame) {
    window_.sent(frame.content.size(), clock_.now());
    send(frame);
  }};
  cluster::LinkWindow window_;
  std::map<std::uint32_t, Agent> agents_;
  std::optional<WorkFolder> work_;
  std::optional<OutputSender> outputs_;
  bool is_of_the_past_ = false;  // the folder: its job is over, and it was kept
  bool is_folder_gone_ = false;  // was removed by somebody else, and that was told
  bool has_client_ = true;
  bool is_refused_ = false;
  int status_ = 0;
};

}  // namespace gangrun::node
