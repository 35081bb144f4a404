#include "feed/door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/format.h"
#include "feed/wait.h"

namespace gangrun::feed {

namespace {

constexpr base::Duration kHelloLimit = std::chrono::seconds(5);
constexpr base::Duration kTick = std::chrono::milliseconds(250);
constexpr std::size_t kMaxGuests = 1024;
constexpr int kMessagesAtOnce = 16;

}  // namespace

base::Result<std::unique_ptr<Door>> Door::open(const std::string& name, Key key, Inlet& inlet,
                                               Outlet& outlet) {
  GANGRUN_ASSIGN(auto listening, listen_at(name));
  base::UniqueFd alarm(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!alarm.valid()) return base::from_errno(errno, "eventfd");
  return std::make_unique<Door>(std::move(listening), std::move(alarm), std::move(key), inlet,
                                outlet);
}

Door::Door(base::UniqueFd listening, base::UniqueFd alarm, Key key, Inlet& inlet, Outlet& outlet)
    : listening_(std::move(listening)),
      alarm_(std::move(alarm)),
      key_(std::move(key)),
      inlet_(inlet),
      outlet_(outlet),
      owner_(getpid()),
      next_tick_(now() + kTick),
      thread_(std::make_unique<std::thread>([this] { run(); })) {}

Door::~Door() {
  if (getpid() != owner_) {
    // In a child that the node has forked there is no such thread: nothing to join.
    static_cast<void>(thread_.release());  // NOLINT(bugprone-unused-return-value)
    return;
  }
  stop_ = true;
  raise_alarm();
  thread_->join();
}

void Door::raise_alarm() {
  // Full means that it rings already.
  static_cast<void>(::eventfd_write(alarm_.get(), 1));
}

void Door::refuse(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    refused_ = std::move(reason);
  }
  raise_alarm();
}

void Door::run() {
  while (!stop_) {
    wait_for_something();
    if (stop_) break;
    if (now() >= next_tick_) {
      next_tick_ = now() + kTick;
      full_ = false;
      tell_progress();
    }
    let_in();
    std::string refused;
    {
      const std::lock_guard lock(mutex_);
      refused = refused_;
    }
    for (const auto& guest : guests_) {
      hear(*guest);
      if (!guest->gone && guest->has_key && !refused.empty()) send_away(*guest, refused);
      if (!guest->gone && !guest->has_key && now() - guest->came > kHelloLimit) {
        send_away(*guest, "no key was shown");
      }
    }
    std::erase_if(guests_, [](const auto& guest) { return guest->gone; });
    give_turn();
  }
  for (const auto& guest : guests_) leave(*guest, "the feed was closed");
}

void Door::wait_for_something() {
  std::vector<pollfd> watched;
  watched.push_back({.fd = alarm_.get(), .events = POLLIN, .revents = 0});
  const bool listens = !full_ && guests_.size() < kMaxGuests;
  watched.push_back({.fd = listens ? listening_.get() : -1, .events = POLLIN, .revents = 0});
  for (const auto& guest : guests_) {
    watched.push_back({.fd = guest->line->fd(), .events = POLLIN, .revents = 0});
    watched.push_back({.fd = guest->process.get(), .events = POLLIN, .revents = 0});
  }
  int limit = -1;
  if (full_ || !guests_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick_ - now()).count();
    limit = static_cast<int>(std::max<std::int64_t>(left, 0));
  }
  // Interrupted or not: everything is checked.
  static_cast<void>(::poll(watched.data(), watched.size(), limit));
  eventfd_t rings = 0;
  static_cast<void>(::eventfd_read(alarm_.get(), &rings));
  // A process that has ended, and whose socket a child of its own holds open: what it has sent is
  // heard, then it is gone.
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    if (watched[2 * i + 3].revents == 0) continue;
    hear(*guests_[i]);
    if (!guests_[i]->gone) leave(*guests_[i], "the feeder's process has ended");
  }
}

void Door::let_in() {
  while (!full_ && guests_.size() < kMaxGuests) {
    auto came = accept_at(listening_.get());
    if (!came.ok()) {
      full_ = true;  // most likely of descriptors: better at the next tick
      return;
    }
    if (!came->has_value()) return;
    auto process = check_peer((*came)->get());
    if (!process.ok()) continue;
    auto guest = std::make_unique<Guest>();
    guest->line = std::make_shared<Line>(*std::move(*came));
    guest->process = *std::move(process);
    guest->came = now();
    guests_.push_back(std::move(guest));
  }
}

void Door::hear(Guest& guest) {
  for (int i = 0; i < kMessagesAtOnce && !guest.gone; ++i) {
    auto received = receive_message(guest.line->fd());
    if (!received.ok()) {
      if (received.error().code == base::Code::kFailedPrecondition) {
        send_away(guest, received.error().message);
      } else {
        leave(guest, received.error().code == base::Code::kUnavailable
                         ? "the feeder ended before it had said that all was written"
                         : received.error().message);
      }
      return;
    }
    if (!received->has_value()) return;
    take(guest, **received);
  }
}

void Door::take(Guest& guest, const Received& received) {
  const Message& message = received.message;
  if (message.type == MessageType::kHello && !guest.has_key) {
    if (!key_.first.matches(message.text)) return send_away(guest, "the key is another one");
    guest.has_key = true;
    guest.came = now();
    const auto sent =
        guest.line->send({.type = MessageType::kWelcome, .text = key_.second.reveal()});
    if (!sent.ok()) leave(guest, sent.error().message);
    return;
  }
  if (message.type == MessageType::kEnd && guest.turn != 0) return leave(guest, std::nullopt);
  leave(guest, "the feeder said what it must not say");
}

void Door::leave(Guest& guest, std::optional<std::string> broken) {
  guest.gone = true;
  if (guest.turn != 0) {
    outlet_.end_turn(guest.turn);
    inlet_.end_turn(guest.turn, std::move(broken));
  }
  guest.line->close();
}

void Door::send_away(Guest& guest, const std::string& reason) {
  // Whether it arrives or not, the connection ends.
  static_cast<void>(guest.line->send({.type = MessageType::kRefused, .text = reason}));
  leave(guest, std::nullopt);
}

void Door::give_turn() {
  const auto waits = [](const auto& guest) { return guest->has_key && guest->turn == 0; };
  waiting_ = static_cast<int>(std::count_if(guests_.begin(), guests_.end(), waits));
  const bool taken = std::any_of(guests_.begin(), guests_.end(),
                                 [](const auto& guest) { return guest->turn != 0; });
  const auto first = std::find_if(guests_.begin(), guests_.end(), waits);
  if (taken || first == guests_.end()) return;
  Guest& guest = **first;
  const Inlet::Turn turn = inlet_.begin_turn(guest.line);
  guest.turn = turn.number;
  outlet_.begin_turn(turn.number, guest.line);
  --waiting_;
  const auto sent = guest.line->send(
      {.type = MessageType::kTurn, .a = turn.number, .b = turn.head, .c = turn.tail},
      inlet_.ring_fd());
  if (!sent.ok() || !*sent) {
    leave(guest, "the feeder had gone when its turn came");
    raise_alarm();  // for the next one
  }
}

void Door::tell_progress() {
  const std::uint64_t progress = inlet_.progress();
  if (progress == told_progress_) return;
  told_progress_ = progress;
  for (const auto& guest : guests_) {
    // A hint: who does not get it has others unread.
    if (guest->has_key) static_cast<void>(guest->line->send({.type = MessageType::kProgress}));
  }
}

}  // namespace gangrun::feed
