#include "kubernetes/pods/agent_hints.h"

#include <utility>

#include "base/overloaded.h"
#include "kubernetes/pods/try_pause.h"

namespace gangrun::kubernetes::pods {

namespace {

// The limit for one try: each agent on a node that is lost costs all of it.
constexpr base::Duration kHintLimit = base::seconds(5);

}  // namespace

AgentHints::AgentHints(net::EventLoop& loop, kubernetes::Client& client, base::Logger& logger,
                       Options options)
    : loop_(loop), client_(client), logger_(logger), options_(std::move(options)) {}

AgentHints::~AgentHints() = default;

void AgentHints::set_address(job::Address address) {
  if (address_ == address) return;
  address_ = std::move(address);
  const base::Instant now = loop_.now();
  due_.clear();
  for (auto& [pod, agent] : agents_) {
    // It may have been sent the other address already.
    end_call(agent);
    agent.is_told = false;
    agent.tried_since = now;
    plan(pod, agent, now);
  }
  call_next();
}

void AgentHints::tell(const std::string& pod, std::vector<std::uint16_t> ports,
                      base::Instant until) {
  const base::Instant now = loop_.now();
  const auto [found, is_new] = agents_.try_emplace(pod);
  found->second.until = until;
  if (!is_new) return;
  found->second.ports = std::move(ports);
  found->second.tried_since = now;
  plan(pod, found->second, now);
  call_next();
}

void AgentHints::forget(const std::string& pod) {
  const auto found = agents_.find(pod);
  if (found == agents_.end()) return;
  due_.erase({found->second.due, pod});
  end_call(found->second);
  agents_.erase(found);
  call_next();
}

void AgentHints::plan(const std::string& pod, Agent& agent, base::Instant due) {
  agent.due = due;
  due_.emplace(due, pod);
}

void AgentHints::end_call(Agent& agent) {
  if (agent.tunnel == nullptr) return;
  --calls_;
  agent.limit.reset();
  agent.tunnel.reset();
}

// Later, as its callers may be in the middle of something.
void AgentHints::call_next() {
  if (!address_ || due_.empty() || calls_ >= kMaxHintsAtOnce) return timer_.reset();
  timer_ = loop_.at(due_.begin()->first, [this] {
    const std::string pod = due_.begin()->second;
    due_.erase(due_.begin());
    call(pod);
    call_next();
  });
}

void AgentHints::call(const std::string& pod) {
  ++calls_;
  Agent& agent = agents_.at(pod);
  const std::uint16_t port = agent.ports[agent.next_port];
  agent.tunnel = std::make_unique<ProvenTunnel>(
      loop_, client_, ProvenTunnel::Target{options_.name_space, pod, port},
      Proof(options_.secret, kAgentGreeting, Proof::Side::kClient), loop_.now() + kHintLimit,
      ProvenTunnel::Callbacks{
          .on_proven = [this, pod] { on_proven(pod); },
          .on_frame = [this, pod](const LinkFrame& frame) { on_frame(pod, frame); },
          .on_over = [this, pod](const base::Error& why) { on_over(pod, why); }});
  agent.limit = loop_.after(
      kHintLimit, [&agent] { agent.tunnel->end(base::deadline_exceeded("it has not answered")); });
}

void AgentHints::on_proven(const std::string& pod) {
  const std::string address = job::to_string(*address_);
  agents_.at(pod).tunnel->send(HintFrame{static_cast<std::uint32_t>(options_.attempt), address});
}

void AgentHints::on_frame(const std::string& pod, const LinkFrame& frame) {
  Agent& agent = agents_.at(pod);
  agent.is_told = std::visit(
      base::Overloaded{
          [](const AnswerFrame&) { return true; },
          [](const base::OneOf<HereFrame, CarryFrame, PingFrame, HintFrame, net::OpenFrame,
                               net::StreamFrame> auto&) { return false; },
      },
      frame);
  agent.tunnel->end(base::Error{base::Code::kDataLoss, "it has not answered as an agent"});
}

void AgentHints::on_over(const std::string& pod, const base::Error& why) {
  const auto found = agents_.find(pod);
  Agent& agent = found->second;
  const base::Instant now = loop_.now();
  const bool is_final = why.code == base::Code::kPermissionDenied;
  end_call(agent);
  if (is_final || now >= agent.until) {
    logger_.warning("the agent in pod {} did not come: {}", pod,
                    agent.is_told ? "it was told where its master is" : why.message);
    agents_.erase(found);
  } else {
    agent.next_port = (agent.next_port + 1) % agent.ports.size();
    const base::Duration pause = agent.is_told ? kHintAgain
                                 : agent.next_port != 0
                                     ? base::Duration(0)
                                     : try_pause(kHintTryPause, now - agent.tried_since);
    plan(pod, agent, now + pause);
  }
  call_next();
}

}  // namespace gangrun::kubernetes::pods
