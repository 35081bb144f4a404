#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/desk.h"
#include "agents/kept_outputs.h"
#include "agents/line_store.h"
#include "agents/starts.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "cluster/question.h"
#include "job/cluster_spec.h"
#include "job/status.h"
#include "job/task_id.h"
#include "net/certificate.h"
#include "net/channel.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/server.h"
#include "wire/answers.h"
#include "wire/join.h"

namespace gangrun::agents {

// The requests of commands to the master, on the loop's thread. All without a default must be set.
struct ServerCallbacks {
  std::function<job::JobStatus()> status;
  std::function<void(bool at_once, std::string by)> stop;
  // `on_answer` is called once, here or later.
  std::function<void(const cluster::Question&, cluster::OnAnswer on_answer)> ask{};
  // Why no task is awaited any more, as a sentence; none: the job goes on.
  std::function<std::optional<std::string>()> over{};
  // Files that commands on other machines fetch; null: there are none for them. Outlives the
  // server.
  KeptOutputs* outputs = nullptr;
};

// How many frames, of how many bytes, an agent may send that is not let in yet. It reports, and
// waits for the answer.
inline constexpr std::size_t kMaxHeldFrames = 16;
inline constexpr std::size_t kMaxHeldBytes = std::size_t{64} << 10U;

// Takes the reports of agents and publishes the cluster spec: the desk behind a server of net/.
// Nobody gets anything without the job's secret; on the Unix socket the other side must also be of
// this user, or root.
class Server final : private DeskOutput {
 public:
  Server(net::EventLoop& loop, base::Secret secret, DeskOptions options, ServerCallbacks callbacks,
         base::Logger& logger);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() override;

  // Events of agents go to `on_event`. Without it, no agent is to be expected.
  void serve_agents(std::function<void(DeskEvent)> on_event) { on_agent_ = std::move(on_event); }
  // Agents that connect from now on wait without an answer, as if the master were not there, until
  // they are let in. Commands are served meanwhile.
  void hold_agents() { held_.emplace(); }
  void let_agents_in();
  // For tasks that connect by themselves.
  void serve_joins(std::function<wire::JoinAnswer(const wire::JoinRequest&)> join) {
    join_ = std::move(join);
  }

  base::Result<> listen_unix(const std::string& path);
  base::Result<std::uint16_t> listen_tls(const std::string& address, std::uint16_t port,
                                         const net::JobCertificate& certificate);
  // At all addresses of the host: IPv4's and IPv6's; where the kernel has no IPv6, IPv4's.
  base::Result<std::uint16_t> listen_tls_everywhere(std::uint16_t port,
                                                    const net::JobCertificate& certificate);

  // The port that serves TLS; 0: none.
  [[nodiscard]] std::uint16_t tls_port() const { return tls_port_; }

  // See Desk.
  void expect(const job::TaskId& task, int attempt) { desk_.expect(task, attempt); }
  void set_attempt(const job::TaskId& task, int current) { desk_.set_attempt(task, current); }
  // Makes `spec` the one that starts carry and that everyone who waits for it gets. With
  // `outline_above` as for Starts.
  void publish(const job::ClusterSpec& spec, std::size_t outline_above = kNoOutline);
  // With the published spec.
  bool send_start(const job::TaskId& task, int attempt, int restarts);
  bool send_stop(const job::TaskId& task, std::chrono::milliseconds grace);
  bool send_end(const job::TaskId& task, std::chrono::milliseconds grace);
  bool send_ask(const job::TaskId& task, wire::AskMessage question) {
    return desk_.send_ask(task, std::move(question));
  }
  void send_answer(const job::TaskId& task, wire::AnswerMessage answer) {
    desk_.send_answer(task, std::move(answer));
  }

  // Keeps a line of a task's output for who asks for it by REST.
  void add_line(const job::TaskId& task, bool is_error, std::string_view text,
                std::optional<base::WallTime> time = {});
  // Whether who asked last for lines has been given all; true where nobody has asked.
  [[nodiscard]] bool lines_are_told() const {
    return !lines_given_ || *lines_given_ >= lines_.next();
  }

  // Whether the task's agent has a session now.
  [[nodiscard]] bool is_connected(const job::TaskId& task) const {
    const auto place = desk_.place(task);
    return place && place->connected;
  }
  [[nodiscard]] std::size_t session_count() const { return desk_.session_count(); }

 private:
  struct Waiter {
    int generation = 0;
    net::Responder responder;
    net::Timer limit;
  };

  // Frames of an agent that is not let in yet.
  struct Held {
    std::vector<std::string> frames;
    std::size_t bytes = 0;
  };

  struct LinesWaiter {
    std::int64_t from = 0;
    net::Responder responder;
    net::Timer limit;
  };

  void send(wire::SessionId session, wire::Frame frame) override;
  void close(wire::SessionId session, std::string_view reason) override;
  void event(DeskEvent event) override;

  void on_request(const net::HttpRequest& request, net::Responder responder);
  void on_channel(std::unique_ptr<net::Channel> channel);
  void on_frame(wire::SessionId session, std::string_view frame);
  void on_session_end(wire::SessionId session);
  void wait_for_time();
  void on_cluster_spec(const net::HttpRequest& request, net::Responder responder);
  void on_ask(const std::string& body, net::Responder responder);
  void on_lines(const net::HttpRequest& request, net::Responder responder);
  void answer_lines(std::uint64_t waiter);
  [[nodiscard]] net::HttpResponse lines_response(std::int64_t from);
  [[nodiscard]] net::HttpResponse spec_response() const;
  [[nodiscard]] net::HttpResponse put_task(const job::TaskId& task, const std::string& body);
  [[nodiscard]] net::HttpResponse get_task(const job::TaskId& task) const;
  [[nodiscard]] net::HttpResponse on_task(const net::HttpRequest& request);
  [[nodiscard]] net::HttpResponse on_outputs(const net::HttpRequest& request);
  [[nodiscard]] net::HttpResponse read_output(const net::HttpRequest& request,
                                              std::string_view place) const;
  [[nodiscard]] net::HttpResponse remove_outputs(std::string_view task);
  [[nodiscard]] net::HttpResponse on_stop(const std::string& body);
  [[nodiscard]] net::HttpResponse on_notice(const std::string& body);
  [[nodiscard]] net::HttpResponse on_join(const std::string& body);
  [[nodiscard]] net::HttpResponse on_rendezvous(const net::HttpRequest& request);

  net::EventLoop& loop_;
  const ServerCallbacks callbacks_;
  std::function<void(DeskEvent)> on_agent_;
  std::function<wire::JoinAnswer(const wire::JoinRequest&)> join_;
  std::uint16_t tls_port_ = 0;
  wire::Gatekeeper gatekeeper_;
  Desk desk_;
  [[nodiscard]] int generation() const { return starts_ ? starts_->generation() : 0; }

  std::optional<Starts> starts_;  // of the published generation
  wire::SessionId next_session_ = 1;
  std::uint64_t next_waiter_ = 1;
  std::map<wire::SessionId, std::unique_ptr<net::Channel>> channels_;
  std::optional<std::map<wire::SessionId, Held>> held_;  // none: all are let in
  net::Timer let_in_timer_;
  std::map<std::uint64_t, Waiter> waiters_;
  LineStore lines_;
  std::optional<std::int64_t> lines_given_;  // up to this number, to who asked last
  std::map<std::uint64_t, LinesWaiter> lines_waiters_;
  net::Timer lines_timer_;
  net::Timer timer_;
  std::optional<base::Instant> timer_at_;
  net::Server server_;  // last: its callbacks use the others
};

}  // namespace gangrun::agents
