#include "feed/listener.h"

#include <unistd.h>

#include <utility>

#include "base/format.h"

namespace gangrun::feed {

namespace {

// The part of the memory for rows; the other part is for results.
constexpr double kInputPart = 0.75;

}  // namespace

base::Result<Door::Key> split_key(std::string_view key) {
  if (key.size() < kMinKeyBytes || key.size() > kMaxKeyBytes) {
    return base::invalid_argument(base::format("key: has {} bytes, allowed are {} to {}",
                                               key.size(), kMinKeyBytes, kMaxKeyBytes));
  }
  const std::size_t half = key.size() / 2;
  return Door::Key{.first = base::Secret(std::string(key.substr(0, half))),
                   .second = base::Secret(std::string(key.substr(half)))};
}

base::Result<std::unique_ptr<Listener>> Listener::open(const std::string& name,
                                                       std::string_view key,
                                                       std::size_t memory_bytes) {
  GANGRUN_ASSIGN(Door::Key halves, split_key(key));
  const auto input = static_cast<std::size_t>(static_cast<double>(memory_bytes) * kInputPart);
  GANGRUN_ASSIGN(auto inlet, Inlet::make(input));
  auto outlet = std::make_unique<Outlet>(memory_bytes - input);
  GANGRUN_ASSIGN(auto door, Door::open(name, std::move(halves), *inlet, *outlet));
  return std::make_unique<Listener>(std::move(inlet), std::move(outlet), std::move(door));
}

Listener::Listener(std::unique_ptr<Inlet> inlet, std::unique_ptr<Outlet> outlet,
                   std::unique_ptr<Door> door)
    : owner_(getpid()),
      inlet_(std::move(inlet)),
      outlet_(std::move(outlet)),
      door_(std::move(door)) {}

Listener::~Listener() {
  if (getpid() == owner_) {
    close();
    return;
  }
  // In a child of the node: its threads are not here, and nobody may ever release its mutexes.
  static_cast<void>(door_.release());  // NOLINT(bugprone-unused-return-value)
}

base::Result<> Listener::check_process() const {
  if (getpid() == owner_) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     "a feed belongs to the process that has made it, this is a child of it"};
}

base::Result<std::optional<Frame>> Listener::read(base::Duration timeout,
                                                  const Interrupted& interrupted) {
  GANGRUN_TRY(check_process());
  return inlet_->read(timeout, interrupted);
}

base::Result<> Listener::write(std::uint16_t kind, std::string_view data, std::uint64_t turn,
                               base::Duration timeout, const Interrupted& interrupted) {
  GANGRUN_TRY(check_process());
  touch();
  return outlet_->write(kind, data, turn != 0 ? turn : inlet_->turn_of_last_frame(), timeout,
                        interrupted);
}

void Listener::refuse(std::string reason) {
  if (!check_process().ok()) return;
  const std::lock_guard lock(door_mutex_);
  if (door_ != nullptr) door_->refuse(std::move(reason));
}

void Listener::close() {
  if (!check_process().ok()) return;
  inlet_->close();
  outlet_->close();
  const std::lock_guard lock(door_mutex_);
  door_ = nullptr;
}

Listener::Stats Listener::stats() {
  const std::lock_guard lock(door_mutex_);
  return {.input = inlet_->figures(), .feeders_waiting = door_ != nullptr ? door_->waiting() : 0};
}

}  // namespace gangrun::feed
