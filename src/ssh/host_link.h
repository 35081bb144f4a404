#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "process/child.h"
#include "ssh/frames.h"
#include "ssh/keeper_messages.h"
#include "ssh/ssh_command.h"

namespace gangrun::ssh {

// The most that may wait for a host to take it, beside the agent's program.
inline constexpr std::size_t kMaxUnsentBytes = std::size_t{64} << 20U;

// The program that travels.
struct AgentFile {
  std::string hash;  // SHA-256, in hexadecimal digits
  std::string content;
};
base::Result<AgentFile> read_agent_file(const std::string& path);

// The settings that are the same for all hosts of a job.
struct LinkOptions {
  SshCall ssh;
  LoginInput login;  // without marker, host, agent and folder_mark
  AgentFile agent;
};

// One connection to a host by ssh, until its keeper has said hello, and from then on. It can be
// opened again once it is down.
class HostLink {
 public:
  struct Callbacks {
    std::function<void()> on_up;
    std::function<void(const Frame&)> on_frame;
    // `can_pass`: trying again may help. Once for each open().
    std::function<void(const base::Error& why, bool can_pass)> on_down;
    std::function<void()> on_drained;  // nothing waits to be sent any more
  };

  HostLink(net::EventLoop& loop, std::string host, const LinkOptions& options);
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;
  // Ends ssh at once. What the host has of the job goes on until its lease is over.
  ~HostLink();

  void set_callbacks(Callbacks callbacks) { callbacks_ = std::move(callbacks); }
  [[nodiscard]] const std::string& host() const { return host_; }
  // Callbacks come from the loop, and may destroy no link. `folder_mark` is the name of the file
  // that marks the working folder until the link is up or down.
  void open(const std::string& folder_mark);
  [[nodiscard]] bool is_up() const { return state_ == State::kUp; }
  // The keeper's last words; of use while the link is up.
  [[nodiscard]] const HelloMessage& hello() const { return hello_; }

  // When something last came from its keeper; before the first one, as long ago as can be.
  [[nodiscard]] base::Instant heard_at() const { return heard_at_; }

  // Nothing happens where the link is not up. A host that lets kMaxUnsentBytes wait is given up.
  void send(const Frame& frame);
  void send(const KeeperMessage& message) { send(MessageFrame{to_json(message)}); }
  // Ends a link that is up, as the host does what no host of ours does: "sends …".
  void give_up(std::string sentence) { fail(std::move(sentence)); }
  // Likewise, as its keeper is gone ("has lost …"). Another one may come.
  void lose_keeper(std::string sentence);
  [[nodiscard]] std::size_t unsent_bytes() const { return out_.size() - out_begin_; }

  // Without the loop: sends what waits and ends the keeper's input, and then waits until the keeper
  // says that it has ended the job, or ssh ends. Then there is no ssh any more. An error: it has
  // not said so, or what is still there.
  void finish(base::Instant deadline);
  base::Result<> wait_for_end(base::Instant deadline);

 private:
  enum class State { kDown, kShell, kHello, kUp };

  base::Result<> start_ssh();
  void queue(std::string_view bytes);
  void write();
  void on_output();
  void on_errors();
  void await_copy();
  void on_script(const ScriptLine& line);
  void read_frames();
  void on_hello(const Frame& frame);
  void on_first_message(const base::Json& json);
  void on_process_end();
  [[nodiscard]] std::string end_sentence(const base::Result<std::optional<process::Exit>>& exit);
  void down(std::string sentence, bool can_pass);
  void fail(std::string sentence);
  void prints_without_end();
  // The last word of a keeper: that it has done all, or what it has not; none: not said yet.
  std::optional<base::Result<>> last_word();

  net::EventLoop& loop_;
  const std::string host_;
  const LinkOptions& options_;
  SshCall ssh_call_;
  std::string folder_mark_;
  Callbacks callbacks_;
  State state_ = State::kDown;
  bool is_copying_ = false;  // the agent, to the host
  HelloMessage hello_;
  base::Instant heard_at_ = base::Instant::min();
  std::optional<process::Child> ssh_;
  base::UniqueFd input_;
  base::UniqueFd output_;
  base::UniqueFd errors_;
  base::UniqueFd alive_end_;    // closes when we die
  std::string said_;            // on standard error, its end
  std::size_t said_bytes_ = 0;  // there, in all
  std::string failure_;         // why we ended the connection ourselves
  bool has_lost_keeper_ = false;
  std::optional<ScriptReader> script_;
  FrameReader frames_;
  std::string out_;  // to be sent, from out_begin_ on
  std::size_t out_begin_ = 0;
  net::Timer limit_;
  net::Watch writable_;
  net::Watch readable_;
  net::Watch errors_readable_;
  net::Watch ended_;
};

}  // namespace gangrun::ssh
