#include "yarn/yarn_launcher.h"

#include <deque>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "base/overloaded.h"
#include "yarn/waiting.h"

namespace gangrun::yarn {

// One NodeManager, with what is to be said to it: one call at a time.
struct YarnLauncher::Node {
  hadoop::NodeId id;
  std::shared_ptr<hadoop::NodeManagerClient> client;
  std::deque<hadoop::NodeManagerClient::Start> starts;
  std::deque<hadoop::ContainerId> stops;
  bool busy = false;
};

struct YarnLauncher::Answer {
  std::optional<base::Result<hadoop::Registered>> registered;
  std::optional<base::Result<hadoop::AllocateResponse>> allocated;
};

YarnLauncher::YarnLauncher(net::EventLoop& loop, base::Logger& logger,
                           std::unique_ptr<hadoop::ApplicationMasterClient> resource_manager,
                           Options options)
    : loop_(loop),
      outbox_(loop),
      logger_(logger),
      options_(std::move(options)),
      resource_manager_(std::move(resource_manager)),
      book_({.spec = options_.spec,
             .nodes = options_.nodes,
             .random = options_.random,
             .preemption_wait = options_.preemption_wait,
             .longest_poll = kLongestPoll}),
      preparations_(archives_of(options_.spec)),
      resource_manager_worker_(loop, 1),
      node_workers_(loop, kNodeThreads) {}

YarnLauncher::~YarnLauncher() = default;

void YarnLauncher::on_event(std::function<void(cluster::LaunchEvent)> listener) {
  outbox_.on_event(std::move(listener));
}

void YarnLauncher::start(const job::TaskId& task, int attempt, cluster::Launch launch) {
  book_.start(task, attempt, std::move(launch));
  poll_soon();
}

void YarnLauncher::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  book_.adopt(task, attempt, handle, loop_.now());
  carry_out();
}

void YarnLauncher::release_others() {
  book_.release_others();
  poll_soon();
}

void YarnLauncher::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds) {
  if (!book_.stop(task, attempt, loop_.now())) return;
  carry_out();
  poll_soon();
}

void YarnLauncher::carry_out() {
  for (const ContainerAction& action : book_.take_actions()) {
    std::visit(base::Overloaded{[this](const cluster::LaunchEvent& event) { emit(event); },
                                [this](const StartContainer& start) { launch(start); },
                                [this](const StopContainer& stop) { end(stop); }},
               action);
  }
}

void YarnLauncher::begin(std::uint16_t port) {
  port_ = port;
  turns_.begin(loop_.now());
  wait_for_turn();
}

void YarnLauncher::poll_soon() {
  turns_.hurry(loop_.now());
  wait_for_turn();
}

void YarnLauncher::wait_for_turn() {
  timer_.set(loop_, turns_.next_call_at(), [this] {
    call();
    wait_for_turn();
  });
}

void YarnLauncher::call() {
  const auto turn = turns_.take_call(loop_.now());
  if (!turn) return;
  book_.on_time(loop_.now());
  const bool must_register = *turn == MasterTurns::Call::kRegister;
  const auto request = std::make_shared<const hadoop::AllocateRequest>(
      must_register ? hadoop::AllocateRequest() : book_.request());
  const auto submitted = resource_manager_worker_.run(
      [client = resource_manager_, must_register, request, host = options_.host, port = port_,
       url = options_.tracking_url] {
        Answer answer;
        const base::Instant deadline = std::chrono::steady_clock::now() + kCallTimeout;
        if (must_register) {
          answer.registered = client->register_master(host, port, url, deadline);
        } else {
          answer.allocated = client->allocate(*request, deadline);
        }
        return answer;
      },
      [this](Answer answer) { on_answer(std::move(answer)); });
  if (!submitted.ok()) on_failed(submitted.error());
}

void YarnLauncher::on_answer(Answer answer) {
  if (after_call_) {
    if (answer.registered && answer.registered->ok()) turns_.on_registered(loop_.now());
    return std::exchange(after_call_, nullptr)();
  }
  if (answer.registered) {
    if (!answer.registered->ok()) return on_failed(answer.registered->error());
    const hadoop::Registered& registered = **answer.registered;
    logger_.info("registered with the ResourceManager, queue {}", registered.queue);
    use_tokens(registered.node_tokens);
    book_.on_registered(registered);
    turns_.on_registered(loop_.now());
  } else if (answer.allocated) {
    if (!answer.allocated->ok()) return on_failed(answer.allocated->error());
    const hadoop::AllocateResponse& allocated = **answer.allocated;
    use_tokens(allocated.node_tokens);
    book_.on_allocated(allocated, loop_.now());
    carry_out();
    turns_.on_allocated(!allocated.allocated.empty(), book_.has_more_to_ask(), loop_.now());
  }
  wait_for_turn();
}

void YarnLauncher::on_failed(const base::Error& error) {
  if (after_call_) return std::exchange(after_call_, nullptr)();
  switch (turns_.on_failed(error.code, loop_.now())) {
    case MasterTurns::Failure::kSilent: break;
    case MasterTurns::Failure::kBecameSilent:
      logger_.warning("the ResourceManager does not answer: {}", error.message);
      break;
    case MasterTurns::Failure::kGivenUp:
      emit(gang::ClusterGone{base::format("the ResourceManager has not answered for {}: {}",
                                          base::to_words(kResourceManagerTimeout), error.message)});
      break;
    case MasterTurns::Failure::kRestarted:
      logger_.info("the ResourceManager has been restarted: {}", error.message);
      book_.on_restarted();
      break;
    case MasterTurns::Failure::kReplaced:
      // Another attempt may have the job now: nothing more is decided here, so nobody is told.
      logger_.error("YARN has replaced this master: {}", error.message);
      break;
    case MasterTurns::Failure::kRefused:
      book_.on_refused();
      emit(gang::ClusterGone{base::format("YARN refuses the request: {}", error.message)});
      break;
  }
  wait_for_turn();
}

void YarnLauncher::use_tokens(const std::vector<hadoop::NodeToken>& tokens) {
  for (const hadoop::NodeToken& token : tokens) {
    auto& node = nodes_[token.node];
    if (!node) node = std::make_shared<Node>();
    node->id = token.node;
    // The one that is in use for a call lives until that has ended.
    node->client = std::make_shared<hadoop::NodeManagerClient>(token.node, token.token);
  }
}

void YarnLauncher::launch(const StartContainer& start) {
  const hadoop::Container& container = start.container;
  logger_.info("{} gets {} on {}", job::to_string(start.task), hadoop::to_string(container.id),
               container.node.host);
  const auto& node = nodes_.at(container.node);
  node->starts.push_back({container.token,
                          task_context(options_, start.task, start.launch, container.node),
                          container.id});
  preparations_.taken_on(container.id, start.task, container.node, loop_.now());
  look_at_preparations();
  work_on(node);
}

void YarnLauncher::end(const StopContainer& stop) {
  preparations_.forget(stop.id);
  const auto& node = nodes_.at(stop.node);
  // The node was not told of it yet.
  const auto is_it = [&stop](const auto& start) { return start.id == stop.id; };
  if (std::erase_if(node->starts, is_it) > 0) return;
  node->stops.push_back(stop.id);
  work_on(node);
}

// One call after another: what has come together meanwhile goes together.
void YarnLauncher::work_on(const std::shared_ptr<Node>& node) {
  if (node->busy || (node->starts.empty() && node->stops.empty())) return;
  node->busy = true;
  using Starts = std::vector<hadoop::NodeManagerClient::Start>;
  const auto starts = std::make_shared<Starts>(std::make_move_iterator(node->starts.begin()),
                                               std::make_move_iterator(node->starts.end()));
  const auto stops = std::make_shared<std::deque<hadoop::ContainerId>>(std::move(node->stops));
  node->starts.clear();
  node->stops.clear();
  using Results = base::Result<std::vector<base::Result<>>>;
  const auto submitted = node_workers_.run(
      [client = node->client, starts, stops]() -> Results {
        const base::Instant deadline = std::chrono::steady_clock::now() + kCallTimeout;
        // The ResourceManager ends a container that cannot be stopped here: it has been given back
        // to it.
        for (const hadoop::ContainerId& id : *stops) (void)client->stop_container(id, deadline);
        if (starts->empty()) return std::vector<base::Result<>>();
        return client->start_containers(*starts, deadline);
      },
      [this, node, starts](const Results& results) {
        node->busy = false;
        for (std::size_t i = 0; i < starts->size(); ++i) {
          const hadoop::ContainerId& id = (*starts)[i].id;
          if (!results.ok()) {
            on_started(id, results.error());
          } else if (i < results->size()) {
            on_started(id, (*results)[i]);
          } else {
            on_started(id, base::unavailable("the node did not answer for it"));
          }
        }
        work_on(node);
      });
  if (submitted.ok()) return;
  node->busy = false;
  for (const auto& start : *starts) on_started(start.id, submitted.error());
}

void YarnLauncher::look_at_preparations() {
  for (auto& [id, containers] : preparations_.take_look(loop_.now())) {
    ask(nodes_.at(id), std::move(containers));
  }
  look_timer_.set(loop_, preparations_.next_look(), [this] { look_at_preparations(); });
}

// One that is spoken to just now is asked the next time.
void YarnLauncher::ask(const std::shared_ptr<Node>& node,
                       std::vector<hadoop::ContainerId> containers) {
  if (node->busy) return;
  node->busy = true;
  const auto submitted = node_workers_.run(
      [client = node->client, containers] {
        return client->statuses(containers, std::chrono::steady_clock::now() + kCallTimeout);
      },
      [this, node, containers](const base::Result<std::vector<hadoop::ContainerStatus>>& statuses) {
        node->busy = false;
        preparations_.told(containers, statuses);
        work_on(node);
      });
  if (!submitted.ok()) node->busy = false;
}

void YarnLauncher::on_started(const hadoop::ContainerId& id, const base::Result<>& result) {
  if (result.ok() || !book_.has(id)) return;
  logger_.warning("{} could not be started: {}", hadoop::to_string(id), result.error().message);
  book_.on_not_started(id, result.error(), loop_.now());
  carry_out();
  poll_soon();
}

void YarnLauncher::finish(hadoop::FinalStatus status, std::string diagnostics,
                          std::function<void(base::Result<>)> done) {
  turns_.finish();
  wait_for_turn();
  const auto tell = [this, status, diagnostics = std::move(diagnostics), done = std::move(done)] {
    if (!turns_.is_awaited()) return done({});
    const auto submitted = resource_manager_worker_.run(
        [client = resource_manager_, status, diagnostics, url = options_.logs_url] {
          // Our page ends with us. Without an address YARN tells users "N/A".
          return client->finish(status, diagnostics, url,
                                std::chrono::steady_clock::now() + kCallTimeout);
        },
        done);
    if (!submitted.ok()) done(submitted.error());
  };
  if (turns_.is_busy()) {
    after_call_ = tell;
  } else {
    tell();
  }
}

}  // namespace gangrun::yarn
