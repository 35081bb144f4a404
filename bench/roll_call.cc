// The roll call of one job: the master as it is shipped in one process, all agents' sessions over
// TLS in another. Prints one JSON object:
//
//   roll_call AGENTS FRAMEWORK [AT_ONCE]   (FRAMEWORK: all, or one that a job may name, as pytorch)
//
//   others_attached_ms       from the first agent's first byte until all but the last are attached
//   last_report_to_spec_ms   from the last agent's first byte to the spec being with every agent
//   master_cpu_ms            of the master's process until then, and its memory above that at the
//   start: master_bytes
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/agents.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "host/job_master.h"
#include "job/described.h"
#include "job/spec_names.h"
#include "net/client.h"
#include "played.h"
#include "wire/agent_config.h"
#include "wire/agent_session.h"
#include "wire/messages.h"
#include "wire/paths.h"

namespace {

using namespace gangrun;  // NOLINT(google-build-using-namespace): a program of one file
using played::address_of;
using played::give_up;
using played::Line;
using played::Pipes;

constexpr std::chrono::minutes kLimit{5};
// On a cluster every agent has a processor of its own for its handshake; here they share one, so
// only so many are at it at once.
constexpr int kAtOnce = 64;
constexpr std::chrono::milliseconds kLook{5};
constexpr int kOneRealOf = 50;

class NullLogger final : public base::Logger {
 public:
  void write(base::LogLevel level, std::string_view message) override {
    if (level < base::LogLevel::kWarning) return;
    std::fputs((std::string(message) + "\n").c_str(), stderr);
  }
};

class NullListener final : public master::Listener {
 public:
  void on_changed() override {}
  void on_incomplete_log(const job::TaskId&, std::string_view) override {}
  void on_warning(std::string_view sentence) override {
    std::fputs((std::string(sentence) + "\n").c_str(), stderr);
  }
  void on_remark(std::string_view /*sentence*/) override {}
  void on_finished() override {}
};

// A place whose agents are sessions of the other process.
class Sessions final : public cluster::Launcher {
 public:
  Sessions(net::EventLoop& loop, const Line& line) : loop_(loop), line_(line) {}

  void on_event(std::function<void(cluster::LaunchEvent)> listener) override {
    listener_ = std::move(listener);
  }
  void start(const job::TaskId& task, int attempt, cluster::Launch launch) override {
    // The other process needs the configuration once, and the port that is known by now.
    if (!told_) line_.send(base::dump_json(launch.agent_config));
    told_ = true;
    line_.send(base::format("{}", task.index));
    loop_.post([this, task, attempt] {
      listener_(cluster::AgentAllocated{task, attempt, "127.0.0.1", {}});
    });
  }
  void adopt(const job::TaskId&, int, const base::Json&) override {}
  void release_others() override {}
  void stop(const job::TaskId&, int, std::chrono::milliseconds) override {}
  [[nodiscard]] std::int64_t pid_here(const job::TaskId&, std::int64_t pid) const override {
    return pid;
  }

 private:
  net::EventLoop& loop_;
  const Line& line_;
  std::function<void(cluster::LaunchEvent)> listener_;
  bool told_ = false;
};

// The common part of the two kinds of agents.
class Agent {
 public:
  virtual ~Agent() = default;
  [[nodiscard]] virtual bool is_attached() const = 0;
};

net::Endpoint endpoint_of(const wire::AgentConfig& config) {
  return net::Endpoint::on_tls("127.0.0.1", config.master_port, config.fingerprint);
}

// An agent's session as it is shipped. It reads the whole start.
class RealAgent final : public Agent {
 public:
  RealAgent(net::EventLoop& loop, const wire::AgentConfig& config, int index,
            std::function<void()> on_spec)
      : session_(loop, endpoint_of(config), config.secret,
                 {{"worker", index}, 1, address_of(index), 4100}, callbacks(std::move(on_spec))) {
    session_.open();
  }
  [[nodiscard]] bool is_attached() const override { return session_.is_attached(); }

 private:
  static wire::AgentSessionCallbacks callbacks(std::function<void()> on_spec) {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [on_spec = std::move(on_spec)](const wire::StartMessage&) { on_spec(); };
    callbacks.on_stop = [](std::chrono::milliseconds) {};
    callbacks.on_end = [](std::chrono::milliseconds) {};
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [] { give_up("a start has another address"); };
    callbacks.on_lost = [](const std::string& reason) { give_up("lost: " + reason); };
    callbacks.on_refused = [](const std::string& reason) { give_up("refused: " + reason); };
    return callbacks;
  }

  wire::AgentSession session_;
};

// One that says the same and does not read what it is told: thousands of agents have processors of
// their own for that, here they share one.
class LightAgent final : public Agent {
 public:
  LightAgent(net::EventLoop& loop, const wire::AgentConfig& config, int index,
             std::function<void()> on_spec)
      : loop_(loop), index_(index), on_spec_(std::move(on_spec)) {
    net::Headers headers{{"Authorization", "Bearer " + config.secret.reveal()}};
    connecting_ =
        net::connect_channel(loop, endpoint_of(config), std::string(wire::kAgentPath),
                             std::move(headers), loop.now() + kLimit, [this](auto channel) {
                               if (!channel.ok()) give_up(channel.error().message);
                               on_connected(*std::move(channel));
                             });
  }
  [[nodiscard]] bool is_attached() const override { return attached_; }

 private:
  void on_connected(std::unique_ptr<net::Channel> channel) {
    channel_ = std::move(channel);
    channel_->on_closed([](const base::Error& error) { give_up("closed: " + error.message); });
    channel_->on_message([this](std::string_view frame) { on_message(frame); });
    wire::ReportMessage report;
    report.task = {"worker", index_};
    report.address = address_of(index_);
    report.pid = 4100;
    channel_->send(wire::encode(wire::AgentMessage(report)));
  }

  void on_message(std::string_view frame) {
    if (frame.starts_with(R"({"type":"start")")) return on_spec_();
    if (!frame.starts_with(R"({"type":"welcome")")) return;
    attached_ = true;
    const auto message = wire::decode_master_message(frame);
    heartbeat_ = std::get<wire::WelcomeMessage>(*message).heartbeat;
    wait();
  }

  void wait() {
    timer_ = loop_.after(heartbeat_, [this] {
      channel_->send(wire::encode(wire::AgentMessage(wire::HeartbeatMessage{})));
      wait();
    });
  }

  net::EventLoop& loop_;
  const int index_;
  const std::function<void()> on_spec_;
  bool attached_ = false;
  std::chrono::milliseconds heartbeat_{0};
  net::Call connecting_;
  std::unique_ptr<net::Channel> channel_;
  net::Timer timer_;
};

// All agents of the job. The last one comes when the others have reported.
class Agents {
 public:
  Agents(int count, int at_once, Pipes pipes)
      : count_(count),
        at_once_(at_once),
        line_(
            loop_, pipes, [this](const std::string& line) { on_line(line); },
            [] { give_up("the master has ended"); }) {}

  void run() {
    if (!loop_.run_until([this] { return have_spec_ == count_; }, loop_.now() + kLimit)) {
      give_up(base::format("{} of {} agents had the spec in time", have_spec_, count_));
    }
    const auto taken = std::chrono::duration<double, std::milli>(loop_.now() - last_began_);
    const auto before = std::chrono::duration<double, std::milli>(last_began_ - began_);
    line_.send(base::format("{} {}", taken.count(), before.count()));
  }

 private:
  void on_line(const std::string& line) {
    if (!config_) {
      const auto json = base::parse_json(line, wire::kMaxAgentConfigBytes);
      auto config = base::from_json<wire::AgentConfig>(*json);
      config_ = std::make_unique<wire::AgentConfig>(*std::move(config));
      return;
    }
    waiting_.push_back(static_cast<int>(*base::parse_integer(line)));
    if (std::cmp_equal(waiting_.size(), count_)) open_more();
  }

  void open_more() {
    while (std::cmp_less(attached_, agents_.size()) &&
           agents_[static_cast<std::size_t>(attached_)]->is_attached()) {
      ++attached_;
    }
    if (agents_.empty()) began_ = loop_.now();
    int until = std::min(count_ - 1, attached_ + at_once_);
    if (attached_ == count_ - 1) {
      last_began_ = loop_.now();
      until = count_;
    }
    for (int next = static_cast<int>(agents_.size()); next < until; ++next) open(next);
    if (until < count_) timer_ = loop_.after(kLook, [this] { open_more(); });
  }

  void open(int number) {
    const int index = waiting_[static_cast<std::size_t>(number)];
    const auto on_spec = [this] { ++have_spec_; };
    // Only real ones come again where a server turns them away.
    if (number % kOneRealOf == 0 || at_once_ > kAtOnce) {
      agents_.push_back(std::make_unique<RealAgent>(loop_, *config_, index, on_spec));
    } else {
      agents_.push_back(std::make_unique<LightAgent>(loop_, *config_, index, on_spec));
    }
  }

  const int count_;
  const int at_once_;
  int attached_ = 0;  // of the first agents
  int have_spec_ = 0;
  base::Instant began_;
  base::Instant last_began_;
  net::EventLoop loop_;
  Line line_;
  std::unique_ptr<wire::AgentConfig> config_;
  std::vector<int> waiting_;
  std::vector<std::unique_ptr<Agent>> agents_;
  net::EventLoop::Timer timer_;
};

double cpu_ms() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

// The largest that this process has been.
std::int64_t peak_bytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * std::int64_t{1024};
}

job::JobSpec spec_of(int agents, const std::string& framework) {
  job::JobSpec spec;
  spec.name = "roll-call";
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = agents;
  spec.tasks = {worker};
  spec.command.words = {"true"};
  spec.success = "all";
  spec.timeouts.roll_call = kLimit;
  spec.hosts = {{"127.0.0.1", agents}};
  if (framework != "all") spec.frameworks = {{*job::framework_from(framework)}};
  return spec;
}

base::Result<> serve(int agents, const std::string& framework, Pipes pipes,
                     const std::string& folder) {
  const base::SystemClock clock;
  NullLogger logger;
  NullListener listener;
  net::EventLoop loop;
  double spec_ms = 0;
  double others_ms = 0;
  const Line line(
      loop, pipes,
      [&](const std::string& text) {
        others_ms = std::stod(text.substr(text.find(' ')));
        spec_ms = std::stod(text);
      },
      [&] {
        if (spec_ms == 0) give_up("the agents have ended");
        loop.stop();
      });
  GANGRUN_ASSIGN(const auto certificate, net::make_job_certificate("bench", std::chrono::hours(1)));
  host::JobMasterInput input;
  input.spec = spec_of(agents, framework);
  input.job_id = "bench";
  input.folder = folder;
  input.secret = base::Secret::generate();
  input.commanded_at = clock.now();
  input.master_lost = std::chrono::minutes(1);
  input.listening.socket_path = folder + "/socket";
  input.listening.certificate = certificate;
  input.listening.port_file = folder + "/tls.port";
  input.records = {.journal_folder = folder, .log_folder = folder};
  input.make_tasks = [&, secret = input.secret](const host::Ground& ground) {
    agents::AgentsOptions options;
    options.launch.spec = spec_of(agents, framework);
    options.launch.job_id = "bench";
    options.launch.secret = secret;
    options.launch.host = "127.0.0.1";
    options.launch.fingerprint = certificate.fingerprint;
    options.launch.working_folder = options.launch.log_folder = folder;
    return host::MadeTasks{.tasks = std::make_unique<agents::Agents>(
                               ground.loop, ground.clock, ground.logger, ground.server,
                               std::make_unique<Sessions>(loop, line), std::move(options)),
                           .come_by_tls = true};
  };
  const double cpu_before = cpu_ms();
  const std::int64_t bytes_before = peak_bytes();
  GANGRUN_ASSIGN(const auto master,
                 host::JobMaster::create(loop, clock, logger, std::move(input), listener));
  GANGRUN_TRY(master->start());
  if (!loop.run_until([&] { return spec_ms > 0; }, clock.now() + kLimit)) {
    return base::deadline_exceeded("not all agents had the spec in time");
  }
  const base::Json figures = {{"agents", agents},
                              {"last_report_to_spec_ms", spec_ms},
                              {"others_attached_ms", others_ms},
                              {"master_cpu_ms", cpu_ms() - cpu_before},
                              {"master_bytes", peak_bytes() - bytes_before}};
  std::puts(base::dump_json(figures).c_str());
  return {};
}

int run(int agents, const std::string& framework, int at_once) {
  std::array<int, 2> there{};
  std::array<int, 2> back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) return EXIT_FAILURE;
  const pid_t child = ::fork();
  if (child < 0) return EXIT_FAILURE;
  if (child == 0) {
    ::close(there[1]);
    ::close(back[0]);
    Agents(agents, at_once, {there[0], back[1]}).run();
    std::_Exit(EXIT_SUCCESS);
  }
  ::close(there[0]);
  ::close(back[1]);
  std::string folder = (std::filesystem::temp_directory_path() / "roll-call-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return EXIT_FAILURE;
  const auto served = serve(agents, framework, {back[0], there[1]}, folder);
  std::filesystem::remove_all(folder);
  ::close(there[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!served.ok()) std::fputs((served.error().message + "\n").c_str(), stderr);
  return served.ok() && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const auto agents = argc >= 3 ? base::parse_integer(argv[1]) : std::nullopt;
  const auto at_once =
      argc == 4 ? base::parse_integer(argv[3]) : std::optional<std::int64_t>(kAtOnce);
  const bool is_used_well = agents && *agents >= 2 && *agents <= job::kMaxTasks && at_once &&
                            *at_once >= 1 && *at_once <= job::kMaxTasks && argc <= 4;
  if (!is_used_well) {
    std::fputs("usage: roll_call AGENTS all|FRAMEWORK [AT_ONCE]\n", stderr);
    return 2;
  }
  return run(static_cast<int>(*agents), argv[2], static_cast<int>(*at_once));
}
