#include "kubernetes/pods/pod_launcher.h"

#include <utility>
#include <variant>

#include "base/format.h"
#include "base/json.h"
#include "kubernetes/pods/pod_run.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes::pods {

namespace {

// How long the relay may take to listen, once its pod has a node: its image may have to be pulled.
constexpr base::Duration kRelayPatience = std::chrono::minutes(10);
// An agent has ended when its lease is over, and the time that it may need to notice.
constexpr base::Duration kToNotice = std::chrono::seconds(4);
// The same for an agent.
constexpr base::Duration kHintPatience = std::chrono::minutes(10);
// Between two looks at the config maps, while pods are waited for.
constexpr base::Duration kLookAtMaps = std::chrono::seconds(10);
// Words for what is waited for are told so often, while there are any.
constexpr base::Duration kTellWaiting = std::chrono::seconds(1);

PodBook::Options options_with_agents(Manifests& manifests, const PodLauncher::Options& from) {
  PodBook::Options options = book_options(manifests, from.random);
  if (!from.direct) options.names[kRelayTask] = manifests.pod_name(kRelayTask);
  options.master_number = manifests.agents().master_number;
  options.has_agents = true;
  // Agents send them before they leave.
  options.with_outputs.clear();
  return options;
}

}  // namespace

PodLauncher::PodLauncher(net::EventLoop& loop, base::Logger& logger, Client& client,
                         Manifests manifests, Options options)
    : loop_(loop),
      logger_(logger),
      client_(client),
      options_(std::move(options)),
      outbox_(loop),
      manifests_(std::move(manifests)),
      pods_(loop, logger, client, manifests_, options_with_agents(manifests_, options_),
            pod_callbacks(), guest()) {
  if (const auto& maps = manifests_.agents().source.maps) {
    maps_.emplace(loop, logger, client, *maps, manifests_.input().name_space, map_callbacks());
  }
  manifests_.agents().token = base::Secret::generate();
  if (options_.direct) manifests_.agents().master = options_.direct->master;
}

std::optional<JobPods::Guest> PodLauncher::guest() const {
  if (!options_.direct) return std::nullopt;
  return JobPods::Guest{.owner = options_.direct->owner,
                        .is_in_office = options_.direct->is_in_office};
}

JobPods::Callbacks PodLauncher::pod_callbacks() {
  JobPods::Callbacks callbacks = {
      .pod =
          [this](const job::TaskId& task, const PodRun& run, const Owner& owner) {
            if (task == kRelayTask) return manifests_.relay(run, owner);
            if (manifests_.agents().master) informed_.insert(task);
            return manifests_.pod(task, run, owner);
          },
      .on_event =
          [this](const PodEvent& event) {
            // An event from before clear() may come after it, and finds no link any more.
            if (is_cleared_) return;
            std::visit([this](const auto& each) { on(each); }, event);
          }};
  if (manifests_.agents().source.maps) {
    callbacks.on_owner = [this](const Owner& owner) { maps_->begin(owner); };
  }
  return callbacks;
}

AgentPartMaps::Callbacks PodLauncher::map_callbacks() {
  return {.on_ready =
              [this] {
                has_maps_ = true;
                look_at_maps_at_ = loop_.now() + kLookAtMaps;
                pods_.more_is_ready();
              },
          .on_gone =
              [this](const std::string& sentence, job::Reason reason) {
                // Agents that run need the maps no more.
                if (has_maps_) return emit(cluster::TasksWarning{sentence});
                pods_.give_up(sentence, reason);
              },
          .is_checked = options_.is_checked,
          .on_checked = options_.on_checked};
}

// Agents of all tasks have the same configuration but for what their command lines say.
void PodLauncher::begin(const base::Json& agent_config) {
  if (std::exchange(has_begun_, true)) return;
  manifests_.agents().config = base::Secret(base::dump_json(agent_config));
  if (options_.direct) {
    pods_.begin();
    pods_.make_own();
    return release_others();
  }
  make_link(agent_config);
  pods_.begin();
  // There was no client before this one, whose pods could be adopted.
  release_others();
  start_relay();
}

void PodLauncher::make_link(const base::Json& agent_config) {
  const std::string& name_space = manifests_.input().name_space;
  // As the master serves it on this machine.
  const int port = value_at(agent_config, {"master_port"}).get<int>();
  link_.emplace(loop_, client_,
                RelayLink::Options{.name_space = name_space,
                                   .client_port = kRelayClientPort,
                                   .token = manifests_.agents().token,
                                   .master_port = static_cast<std::uint16_t>(port)},
                RelayLink::Callbacks{
                    .on_up = [this](const job::Address& address) { on_relay(address); },
                    .on_down =
                        [this](const base::Error& why) {
                          logger_.warning("the connection to the relay broke: {}", why.message);
                          // Nobody needs it to be dead.
                          pods_.tell_book(&PodBook::on_agent_silent, kRelayTask, loop_.now());
                        },
                    .on_given_up = [this](const base::Error& why) { on_relay_given_up(why); }});
  hints_.emplace(loop_, client_, logger_,
                 AgentHints::Options{
                     .name_space = name_space,
                     .secret = base::Secret(value_at(agent_config, {"secret"}).get<std::string>()),
                     .attempt = options_.master_attempt});
}

void PodLauncher::start_relay() {
  const int attempt = ++relays_;
  pods_.tell_book(&PodBook::start, kRelayTask, attempt);
  pods_.tell_book(&PodBook::run, kRelayTask, PodRun{.attempt = attempt, .environment = {}});
}

void PodLauncher::start(const job::TaskId& task, int attempt, cluster::Launch launch) {
  begin(launch.agent_config);
  without_session_.insert(task);
  // The end of the last agent may have been told before it came.
  informed_.erase(task);
  if (hints_) hints_->forget(manifests_.pod_name(task));
  if (!waiting_timer_.pending()) tell_waiting();
  pods_.tell_book(&PodBook::start, task, attempt);
  // All of the gang are placed together the first time. Who comes later finds the others there.
  pods_.tell_book(&PodBook::run, task,
                  PodRun{.attempt = attempt,
                         .generation = 1,
                         .environment = [this, task] { return shown_variables(manifests_, task); },
                         .avoided = std::move(launch.avoided)});
}

// A master that is not in the cluster has no next one: the job ends with it.
void PodLauncher::adopt(const job::TaskId& task, int attempt, const base::Json& handle) {
  if (options_.direct) {
    pods_.begin();
    without_session_.insert(task);
    if (!waiting_timer_.pending()) tell_waiting();
    pods_.tell_book(&PodBook::adopt_agent, task, attempt, text_at(handle, {"uid"}));
    // Its gang had its places.
    return options_.direct->let_agents_in();
  }
  emit(job::AgentEnded{
      task,
      attempt,
      {.reason = job::Reason::kAgentEnded, .detail = "it belongs to another master"},
      loop_.now()});
}

void PodLauncher::stop(const job::TaskId& task, int attempt, std::chrono::milliseconds grace) {
  pods_.tell_book(&PodBook::stop, task, attempt, grace);
}

void PodLauncher::on(const cluster::AgentAllocated& event) {
  if (event.task == kRelayTask) {
    return link_->begin(manifests_.pod_name(kRelayTask), kRelayPatience);
  }
  // One of the gang has its place for good: so have all.
  if (options_.direct) {
    options_.direct->let_agents_in();
  } else {
    link_->open();
    hint(event.task);
  }
  emit(event);
}

void PodLauncher::on(const RunStarted& event) { hint(event.task); }

void PodLauncher::on(const cluster::PreemptionNotice& event) {
  if (event.task != kRelayTask) emit(event);
}

void PodLauncher::on(const job::AgentEnded& event) {
  if (event.task != kRelayTask) {
    without_session_.erase(event.task);
    informed_.erase(event.task);
    if (hints_) hints_->forget(manifests_.pod_name(event.task));
    return emit(event);
  }
  informed_.clear();
  manifests_.agents().master.reset();
  start_relay();
}

void PodLauncher::on_relay(const job::Address& address) {
  pods_.tell_book(&PodBook::on_agent_heard, kRelayTask);
  manifests_.agents().master = address;
  hints_->set_address(address);
  for (const job::TaskId& task : without_session_) hint(task);
}

// Without it no agent comes to the master. Another pod may have more luck.
void PodLauncher::on_relay_given_up(const base::Error& why) {
  emit(cluster::TasksWarning{base::format(
      "the relay of the job's agents does not answer, and is replaced: {}", why.message)});
  pods_.tell_book(&PodBook::stop, kRelayTask, relays_, std::chrono::milliseconds(0));
}

// Its pod may have been made before the relay's address was known, or the relay be another one now.
void PodLauncher::hint(const job::TaskId& task) {
  const bool is_needed = hints_ && without_session_.contains(task) && !informed_.contains(task);
  if (!is_needed) return;
  hints_->tell(manifests_.pod_name(task), manifests_.hint_ports_of(task),
               loop_.now() + kHintPatience);
}

bool PodLauncher::on_session_open(const job::TaskId& task) {
  if (is_cleared_) return false;
  without_session_.erase(task);
  informed_.insert(task);
  if (hints_) hints_->forget(manifests_.pod_name(task));
  pods_.tell_book(&PodBook::on_agent_heard, task);
  return true;
}

void PodLauncher::on_session_lost(const job::TaskId& task,
                                  const std::optional<std::string>& farewell) {
  if (farewell || is_cleared_) return;
  without_session_.insert(task);
  hint(task);
  pods_.tell_book(&PodBook::on_agent_silent, task, loop_.now() + agent_lease() + kToNotice);
}

// The watch may be behind what the agents tell.
bool PodLauncher::look_for_losses() {
  if (is_cleared_) return false;
  pods_.tell_book(&PodBook::look_for_losses);
  return true;
}

base::Duration PodLauncher::agent_lease() const {
  return options_.direct ? base::Duration(options_.direct->master_lost) : kClientLease;
}

void PodLauncher::tell_waiting() {
  std::string words = pods_.book().waiting_for(loop_.now());
  if (maps_ && !has_maps_) words = maps_->waiting_for();
  if (words != waiting_) emit(gang::ClusterWaiting{words});
  waiting_ = std::move(words);
  look_at_maps();
  if (waiting_.empty() && without_session_.empty()) return;
  waiting_timer_ = loop_.after(kTellWaiting, [this] { tell_waiting(); });
}

// A pod may wait for a map that the collector has removed just before this job was its owner.
void PodLauncher::look_at_maps() {
  if (!has_maps_ || loop_.now() < look_at_maps_at_) return;
  look_at_maps_at_ = loop_.now() + kLookAtMaps;
  maps_->check_again([] {});
}

void PodLauncher::clear(std::function<void(base::Result<>)> done) {
  is_cleared_ = true;
  waiting_timer_.reset();
  hints_.reset();
  link_.reset();
  if (maps_) maps_->end();
  pods_.clear(std::move(done));
}

}  // namespace gangrun::kubernetes::pods
