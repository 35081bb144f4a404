// The registry's input from outside: frames of both directions, and a desk that is fed any
// sequence of sessions, frames and pauses.
//
// The first byte of an input chooses: 0 decodes the rest in both directions, 2 has the rest as
// requests to a rendezvous, 3 has messages of a tunnel (a byte of length, then so many), 4 has the
// rest as a request to join, anything else runs the rest as a script for a desk. A script is a row
// of steps of two bytes, what and
// which; "frame from the input" takes the bytes up to the next newline.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "agents/desk.h"
#include "base/check.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "job/described.h"
#include "net/tunnel_flow.h"
#include "wire/answers.h"
#include "wire/join.h"
#include "wire/messages.h"
#include "wire/rendezvous_relay.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own
using wire::SessionId;

class NoLog final : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

// Whatever can be decoded can be written and is understood as the same again. (Numbers with many
// digits may be written shorter, so the texts are compared after one round.)
void decode_both(std::string_view frame) {
  if (const auto message = wire::decode_agent_message(frame); message.ok()) {
    const std::string once = wire::encode(*message);
    const auto again = wire::decode_agent_message(once);
    GANGRUN_CHECK(again.ok() && wire::encode(*again) == once, once);
  }
  if (const auto message = wire::decode_master_message(frame); message.ok()) {
    const std::string once = wire::encode(*message);
    const auto again = wire::decode_master_message(once);
    GANGRUN_CHECK(again.ok() && wire::encode(*again) == once, once);
  }
}

// Checks what a desk promises: at most one session of a task, events of expected tasks and current
// attempts only, one start and one end told of each attempt, nothing sent to who is not open.
class Watcher final : public agents::DeskOutput {
 public:
  void send(SessionId session, wire::Frame frame) override {
    GANGRUN_CHECK(open.contains(session), session, *frame);
    const auto message = wire::decode_master_message(*frame);
    GANGRUN_CHECK(message.ok(), *frame);
    if (std::holds_alternative<wire::WelcomeMessage>(*message)) welcomed = session;
  }
  void close(SessionId session, std::string_view) override {
    GANGRUN_CHECK(open.erase(session) == 1, session);
  }
  void event(agents::DeskEvent event) override {
    std::visit([this](const auto& value) { check(value); }, event);
  }

  std::map<job::TaskId, int> attempts;
  std::set<SessionId> open;
  std::set<job::TaskId> attached;

 private:
  template <typename Event>
  void check(const Event& event) {
    const auto found = attempts.find(event.task);
    GANGRUN_CHECK(found != attempts.end(), job::to_string(event.task));
    // Questions and their answers are of no run.
    if constexpr (requires { event.attempt; }) {
      GANGRUN_CHECK(event.attempt == found->second, event.attempt, found->second);
    }
    told(event);
  }

  void told(const agents::PlaceReported& event) { attach(event.task); }
  void told(const agents::AgentReattached& event) { attach(event.task); }
  void told(const agents::SessionEnded& event) {
    GANGRUN_CHECK(attached.erase(event.task) == 1, job::to_string(event.task));
  }
  void told(const agents::ProcessStarted& event) {
    GANGRUN_CHECK(started_.emplace(event.task, event.attempt).second, event.attempt);
  }
  void told(const job::Exited& event) {
    GANGRUN_CHECK(exited_.emplace(event.task, event.attempt).second, event.attempt);
  }
  template <typename Event>
  void told(const Event&) {}

  // A report that follows a welcome is of a new session; others are of one that is there.
  void attach(const job::TaskId& task) {
    if (std::exchange(welcomed, SessionId{0}) == 0) return;
    GANGRUN_CHECK(attached.insert(task).second, job::to_string(task));
  }

  SessionId welcomed = 0;
  std::set<std::pair<job::TaskId, int>> started_;
  std::set<std::pair<job::TaskId, int>> exited_;
};

class Script {
 public:
  explicit Script(std::string_view bytes) : bytes_(bytes) {}

  void run() {
    for (int index = 0; index < 2; ++index) expect(index, 1);
    while (bytes_.size() >= 2) {
      const auto what = static_cast<unsigned char>(bytes_[0]);
      const auto which = static_cast<unsigned char>(bytes_[1]);
      bytes_.remove_prefix(2);
      step(what % 13, which);
    }
  }

 private:
  static job::TaskId task(unsigned which) { return {"worker", static_cast<int>(which % 3)}; }

  void expect(int index, int attempt) {
    const job::TaskId id{"worker", index};
    int& current = output_.attempts[id];
    if (attempt <= current) return;
    current = attempt;
    output_.attached.erase(id);
    desk_.expect(id, attempt);
  }

  void frame(SessionId session, const wire::AgentMessage& message) {
    desk_.on_frame(session, wire::encode(message), now_);
  }

  wire::ReportMessage report(unsigned which) const {
    wire::ReportMessage message;
    message.task = task(which >> 2U);
    message.attempt = 1 + static_cast<int>((which >> 4U) % 2);
    message.address = {"h", static_cast<std::uint16_t>(1 + (which >> 5U) % 2)};
    message.state = static_cast<wire::AgentState>((which >> 6U) % 4);
    if (message.state != wire::AgentState::kWaiting) {
      message.run_attempt = message.attempt + static_cast<int>(which % 2);
      message.generation = 1 + static_cast<int>((which >> 1U) % 2);
    }
    if (message.state == wire::AgentState::kExited) message.exit.emplace();
    return message;
  }

  void step(int what, unsigned which) {
    const SessionId session = 1 + which % 4;
    const int small = 1 + static_cast<int>((which >> 2U) % 4);
    const job::TaskId id = task(which);
    switch (what) {
      case 0:
        if (output_.open.insert(session).second) desk_.on_opened(session, now_);
        return;
      case 1: output_.open.erase(session); return desk_.on_closed(session);
      case 2: return frame(session, report(which));
      case 3: return frame(session, wire::StartedMessage{small, small, 1});
      case 4: return frame(session, wire::ExitedMessage{small, 1 + small / 2, {}});
      case 5: return frame(session, wire::HeartbeatMessage{});
      case 6: return frame(session, wire::PortLostMessage{small, small - 1});
      case 7: {
        const std::size_t end = bytes_.find('\n');
        desk_.on_frame(session, bytes_.substr(0, end), now_);
        return bytes_.remove_prefix(end == std::string_view::npos ? bytes_.size() : end + 1);
      }
      case 8: now_ += std::chrono::milliseconds(which * 10); return desk_.on_time(now_);
      case 9: return expect(static_cast<int>(which % 2), small);
      case 10: {
        if (!output_.attempts.contains(id)) return;
        output_.attempts[id] = std::max(output_.attempts[id], small);
        agents::Starts starts({small, {}}, which);
        desk_.send_start(id, output_.attempts[id], 0, starts);
        return;
      }
      case 11: return frame(session, rendezvous(which));
      default: (void)desk_.report_place(id, small, {"h", 9});
    }
  }

  static wire::RendezvousMessage rendezvous(unsigned which) {
    wire::RendezvousMessage message;
    message.attempt = 1 + static_cast<int>((which >> 2U) % 2);
    message.generation = 1 + static_cast<int>((which >> 3U) % 2);
    message.id = which;
    message.action = static_cast<wire::RendezvousAction>((which >> 4U) % 3);
    message.key = (which >> 6U) % 2 == 0 ? "global/0" : "global/rank_0";
    if (message.action == wire::RendezvousAction::kPut) message.value = "x";
    return message;
  }

  std::string_view bytes_;
  base::Instant now_ = base::Instant(std::chrono::hours(1000));
  NoLog log_;
  Watcher output_;
  agents::Desk desk_{
      {std::chrono::milliseconds(100), std::chrono::milliseconds(1000)}, output_, log_};
};

// Requests of processes through a relay to a master that answers some: each is "METHOD PATH BODY"
// up to the next newline, or one byte for what else may happen. Every request is answered once.
class Requests final : public wire::RendezvousRelayOutput {
 public:
  void run(std::string_view bytes) {
    wire::RendezvousTicket ticket = 0;
    while (!bytes.empty()) {
      const std::string_view line = bytes.substr(0, bytes.find('\n'));
      bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
      if (line.size() == 1) {
        happen(line.front());
        continue;
      }
      const std::size_t path = std::min(line.find(' '), line.size() - 1) + 1;
      const std::size_t body = std::min(line.find(' ', path), line.size());
      open_.insert(++ticket);
      relay_.request(ticket, line.substr(0, path - 1), line.substr(path, body - path),
                     std::string(line.substr(body)), now_);
    }
    while (const auto next = relay_.next_deadline()) {
      now_ = std::max(now_, *next);
      relay_.on_time(now_);
    }
    GANGRUN_CHECK(open_.empty(), open_.size());
  }

  void send(wire::RendezvousMessage message) override {
    message.attempt = message.generation = 1;
    const std::string frame = wire::encode(wire::AgentMessage(message));
    const auto decoded = wire::decode_agent_message(frame);
    GANGRUN_CHECK(decoded.ok(), frame);
    last_ = message;
  }
  void answer(wire::RendezvousTicket ticket, int status, const std::string&) override {
    GANGRUN_CHECK(open_.erase(ticket) == 1, ticket, status);
  }

 private:
  void happen(char what) {
    if (what == 'a') return relay_.on_attached();
    if (what == 'o') return relay_.on_answer({1, last_.id, last_.value, ""});
    if (what == 'r') return relay_.on_answer({1, last_.id, "", "full"});
    now_ += std::chrono::seconds(1);
    relay_.on_time(now_);
  }

  base::Instant now_ = base::Instant(std::chrono::hours(1));
  wire::RendezvousMessage last_;
  std::set<wire::RendezvousTicket> open_;
  wire::RendezvousRelay relay_{*this};
};

// Messages of the other side of a tunnel, which this side answers as far as it may. (A length of
// 255 stands for as many bytes as a message may have, all the same.)
void tunnel(std::string_view bytes) {
  net::TunnelFlow flow;
  std::string large;
  while (!bytes.empty()) {
    const auto length = static_cast<unsigned char>(bytes.front());
    std::string_view message = bytes.substr(1, length);
    bytes.remove_prefix(1 + message.size());
    if (length == 255) {
      large.assign(net::kMaxTunnelMessageBytes, message.empty() ? 'd' : message.front());
      message = large;
    }
    const auto read = flow.on_message(message);
    if (!read.ok()) return;
    std::visit(base::Overloaded{
                   [&flow](const net::TunnelData& data) {
                     if (data.bytes.size() % 2 == 0) (void)flow.taken(data.bytes.size());
                     const std::size_t answer = std::min(flow.may_send(), data.bytes.size() * 3);
                     if (answer > 0) (void)flow.data(std::string(answer, 'a'));
                   },
                   [&flow](const net::TunnelEnd&) { (void)flow.taken(0); },
                   [](const base::OneOf<net::TunnelOpened, net::TunnelTaken> auto&) {},
               },
               *read);
    GANGRUN_CHECK(flow.on_the_way() <= net::kTunnelWindowBytes, flow.on_the_way());
  }
}

// A request that is taken is written so that it is understood as the same again.
void join(std::string_view body) {
  const auto request = wire::body_from<wire::JoinRequest>(std::string(body));
  if (!request.ok()) return;
  const auto again = wire::body_from<wire::JoinRequest>(base::dump_json(base::to_json(*request)));
  GANGRUN_CHECK(again.ok() && *again == *request, body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  if (input.front() == 0) {
    decode_both(input.substr(1));
  } else if (input.front() == 2) {
    Requests().run(input.substr(1));
  } else if (input.front() == 3) {
    tunnel(input.substr(1));
  } else if (input.front() == 4) {
    join(input.substr(1));
  } else {
    Script(input.substr(1)).run();
  }
  return 0;
}
