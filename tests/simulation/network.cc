#include <algorithm>

#include "base/format.h"
#include "simulation/world.h"

// Connections between agents and masters.
namespace gangrun::simulation {

using std::chrono::milliseconds;

namespace {

constexpr std::int64_t kMaxNoticeMs = 20'000;
constexpr std::int64_t kNoticeAtOnceMs = 500;
constexpr std::int64_t kForeverMs = 1'000'000'000;

}  // namespace

std::int64_t World::latency() {
  return random_.chance(900) ? random_.between(0, 20) : random_.between(0, kMaxLatencyMs);
}

void World::connect(std::size_t number) {
  Agent& agent = agents_[number];
  const int attempt = ++agent.connecting;
  const auto is_late = [=, this] {
    return agents_[number].connecting != attempt || agents_[number].life != Agent::Life::kAlive;
  };
  const auto fail = [=, this] {
    if (is_late()) return;
    agents_[number].side->on_not_connected("no connection", false, now_);
    agents_[number].arm();
  };
  if (agent.link_down_until && *agent.link_down_until > now_) {
    return later_at(now_ + wire::kConnectTimeout, fail);
  }
  later(latency(), [=, this] {
    if (is_late()) return;
    if (!master_ || master_is_dying_) return fail();
    const std::size_t id = connections_.size();
    connections_.push_back({.agent = number,
                            .master = masters(),
                            .opened = now_,
                            .to_master = now_,
                            .to_agent = now_});
    agents_[number].connection = id;
    master_->on_opened(id);
    later(latency(), [=, this] {
      if (is_late() || agents_[number].connection != id) return;
      agents_[number].side->on_connected(now_);
      agents_[number].arm();
    });
  });
}

// By the agent: what it sent before still arrives.
void World::disconnect(std::size_t number) {
  Agent& agent = agents_[number];
  ++agent.connecting;
  if (!agent.connection) return;
  const std::size_t id = *std::exchange(agent.connection, std::nullopt);
  Connection& connection = connections_[id];
  connection.agent_open = false;
  if (connection.broken) return;
  connection.to_master = std::max(
      {connection.to_master, now_ + milliseconds(latency()), agent.link_down_until.value_or(now_)});
  later_at(connection.to_master, [=, this] {
    Connection& closed = connections_[id];
    if (!closed.master_open || closed.broken || !master_ || closed.master != masters()) return;
    closed.master_open = false;
    master_->on_closed(id);
  });
}

void World::send_to_master(std::size_t number, std::string frame) {
  const Agent& agent = agents_[number];
  const std::size_t id = *agent.connection;
  Connection& connection = connections_[id];
  connection.to_master = std::max(
      {connection.to_master, now_ + milliseconds(latency()), agent.link_down_until.value_or(now_)});
  // A heartbeat has no number: TCP's promise that none comes twice is part of the protocol.
  const bool twice = random_.chance(schedule_.mischief.duplicate) &&
                     frame.find(R"("heartbeat")") == std::string::npos;
  later_at(connection.to_master, [=, this, frame = std::move(frame)] {
    const Connection& open = connections_[id];
    for (int i = 0; i < (twice ? 2 : 1); ++i) {
      if (!open.master_open || open.broken || !master_ || open.master != masters()) return;
      if (verbose_)
        say(base::format("{} #{} says {}", job::to_string(agents_[number].task), id, frame));
      master_->on_frame(id, frame);
    }
  });
}

// Each agent would decode the spec of thousands by itself, all at the same time: here one does it
// for all.
World::Message World::decoded(const wire::Frame& frame) {
  constexpr std::size_t kLargeBytes = 1024;
  const auto decode = [&] {
    return std::make_shared<const wire::MasterMessage>(*wire::decode_master_message(*frame));
  };
  if (frame->size() < kLargeBytes) return decode();
  auto& [kept, message] = large_messages_[frame.get()];
  if (!message) {
    kept = frame;
    message = decode();
  }
  return message;
}

void World::send_to_agent(std::size_t id, const wire::Frame& frame) {
  Connection& connection = connections_[id];
  const Agent& agent = agents_[connection.agent];
  connection.to_agent = std::max(
      {connection.to_agent, now_ + milliseconds(latency()), agent.link_down_until.value_or(now_)});
  const std::string text = verbose_ ? *frame : "";
  later_at(connection.to_agent, [=, this, message = decoded(frame)] {
    const Connection& open = connections_[id];
    if (!open.agent_open || open.broken) return;
    Agent& receiver = agents_[open.agent];
    if (receiver.life != Agent::Life::kAlive || receiver.connection != id) return;
    if (verbose_) {
      say(base::format("{} #{} is told {}", job::to_string(receiver.task), id, text));
    }
    receiver.side->on_message(*message, now_);
    receiver.arm();
  });
}

void World::close_by_master(std::size_t id) {
  Connection& connection = connections_[id];
  connection.master_open = false;
  const Agent& agent = agents_[connection.agent];
  connection.to_agent = std::max(
      {connection.to_agent, now_ + milliseconds(latency()), agent.link_down_until.value_or(now_)});
  later_at(connection.to_agent, [=, this] {
    Agent& receiver = agents_[connections_[id].agent];
    if (receiver.life != Agent::Life::kAlive || receiver.connection != id) return;
    receiver.side->on_connection_lost("closed", now_);
    receiver.arm();
  });
}

// The messages under way are lost. Each side notices at its own time, the master perhaps only by
// the silence.
void World::break_connection(std::size_t number) {
  const Agent& agent = agents_[number];
  if (agent.life != Agent::Life::kAlive || !agent.connection) return;
  const std::size_t id = *agent.connection;
  connections_[id].broken = true;
  const std::int64_t notice = schedule_.lease_ms == 0 ? kNoticeAtOnceMs : kMaxNoticeMs;
  later(random_.between(0, notice), [=, this] {
    Agent& quiet = agents_[number];
    if (quiet.life != Agent::Life::kAlive || quiet.connection != id) return;
    quiet.side->on_connection_lost("connection reset", now_);
    quiet.arm();
  });
  if (random_.chance(200)) return;
  later(random_.between(0, notice), [=, this] {
    Connection& connection = connections_[id];
    if (!connection.master_open || !master_ || connection.master != masters()) return;
    connection.master_open = false;
    master_->on_closed(id);
  });
}

// A partition: nothing passes in either direction until it is over.
void World::cut_link(std::size_t number, std::int64_t ms) {
  Agent& agent = agents_[number];
  agent.link_down_until = now_ + milliseconds(ms < 0 ? kForeverMs : ms);
}

}  // namespace gangrun::simulation
