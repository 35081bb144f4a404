#include "feed/feeder.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "base/format.h"
#include "feed/listener.h"

// The order of a feeder's life: it connects and shows its key (greet), waits for its turn, which
// brings the node's memory to write into (wait_for_turn), writes frames and reads results, and ends
// its turn (end).
//
// Rows go through the ring without a system call. The socket only tells what the ring cannot: that
// somebody should wake up, that the node makes progress, refuses more, or is gone. So each wait is
// on the socket and on the node's process (hear), in slices, so that a signal of Python is seen,
// and it fails when the node makes no progress. Before a wait the feeder says in the ring's header
// how much room it wants, and only then looks at the ring again: whoever makes room afterwards sees
// that and wakes it, and no wake-up is lost. While there is room nobody waits, so look_around()
// reads the socket every few milliseconds: else a node that has gone would not be noticed.
//
// A frame larger than the ring goes in pieces. Once the first piece is there, the others have to
// follow: a failure in between breaks the connection, as no other frame can follow half a one. An
// error of the connection stays, and each later call returns it.
namespace gangrun::feed {

namespace {

constexpr base::Duration kForever = std::chrono::hours(24 * 365);
// How long what the node says on the socket may stay unheard while there is room to write.
constexpr base::Duration kLookAround = std::chrono::milliseconds(10);
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

base::Error ended() {
  return base::Error{base::Code::kInvalidArgument, "this feeder has ended its partition"};
}

}  // namespace

base::Result<std::unique_ptr<Feeder>> Feeder::connect(const std::string& name, std::string_view key,
                                                      Limits limits, Interrupted interrupted) {
  GANGRUN_ASSIGN(const Door::Key halves, split_key(key));
  GANGRUN_ASSIGN(auto socket, connect_to(name, limits.answer));
  GANGRUN_ASSIGN(auto process, check_peer(socket.get()));
  auto feeder = std::make_unique<Feeder>(std::move(socket), std::move(process), limits,
                                         std::move(interrupted));
  GANGRUN_TRY(feeder->greet(halves.first.reveal(), halves.second));
  GANGRUN_TRY(feeder->wait_for_turn());
  return feeder;
}

Feeder::Feeder(base::UniqueFd socket, base::UniqueFd process, Limits limits,
               Interrupted interrupted)
    : socket_(std::move(socket)),
      process_(std::move(process)),
      limits_(limits),
      interrupted_(std::move(interrupted)),
      last_progress_(now()),
      last_look_(now()) {}

base::Result<> Feeder::keep(base::Error error) {
  // A signal ends the one wait only.
  if (error.code != base::Code::kCancelled) error_ = error;
  return error;
}

base::Result<> Feeder::greet(std::string_view first_half, const base::Secret& second_half) {
  GANGRUN_TRY(
      send_message(socket_.get(), {.type = MessageType::kHello, .text = std::string(first_half)}));
  const Patience patience(limits_.answer, interrupted_);
  while (true) {
    GANGRUN_ASSIGN(auto received, receive_message(socket_.get()));
    if (received.has_value()) {
      if (received->message.type == MessageType::kWelcome &&
          second_half.matches(received->message.text)) {
        return {};
      }
      if (received->message.type == MessageType::kRefused) return take(*std::move(received));
      return base::Error{base::Code::kPermissionDenied, "who listens there has not the key"};
    }
    const base::Duration slice = patience.slice();
    if (slice <= base::Duration::zero()) {
      return base::deadline_exceeded("the node did not answer in time");
    }
    GANGRUN_TRY(patience.check_interrupted());
    pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(slice / std::chrono::milliseconds(1)) + 1);
  }
}

base::Result<> Feeder::wait_for_turn() {
  const Patience patience(kForever, interrupted_);
  last_progress_ = now();
  const base::Instant start = now();
  while (!writer_.has_value()) {
    GANGRUN_TRY(patience.check_interrupted());
    GANGRUN_TRY(check_progress(start).context("while waiting for this feeder's turn"));
    GANGRUN_TRY(hear(patience.slice()));
  }
  return {};
}

base::Result<> Feeder::check_progress(base::Instant waits_since) const {
  const base::Duration without = now() - std::max(last_progress_, waits_since);
  if (without < limits_.no_progress) return {};
  return base::deadline_exceeded(
      base::format("the node has made no progress for {}", base::to_words(without)));
}

// Waits until the node says something, and takes all that it has said.
base::Result<> Feeder::hear(base::Duration limit) {
  if (error_.has_value()) return *error_;
  std::array<pollfd, 2> watched{pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = process_.get(), .events = POLLIN, .revents = 0}};
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  ::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(whole, 0)));
  last_look_ = now();
  while (true) {
    auto received = receive_message(socket_.get());
    if (!received.ok()) return keep(std::move(received).error());
    if (!received->has_value()) break;
    GANGRUN_TRY(take(**std::move(received)));
  }
  if (watched[1].revents != 0) {
    return keep(base::unavailable("the node's process has ended"));
  }
  return {};
}

base::Result<> Feeder::take(Received received) {
  const Message& message = received.message;
  switch (message.type) {
    case MessageType::kWake: return {};
    case MessageType::kProgress: last_progress_ = now(); return {};
    case MessageType::kRefused: return keep({base::Code::kFailedPrecondition, message.text});
    case MessageType::kTurn: {
      auto memory = RingMemory::open(std::move(received.fd), RingMemory::Access::kWrite);
      if (!memory.ok()) return keep(std::move(memory).error());
      if (message.b - message.c > (*memory)->capacity()) break;
      writer_.emplace(*std::move(memory), message.b, message.c);
      last_progress_ = now();
      return {};
    }
    case MessageType::kOutput: {
      auto memory = RingMemory::open(std::move(received.fd), RingMemory::Access::kRead);
      if (!memory.ok()) return keep(std::move(memory).error());
      RingHeader& header = (*memory)->header();
      results_ = LentRing::make(*std::move(memory), message.b, [&header](std::uint64_t) {
        if (header.node_waits.load(std::memory_order_seq_cst) != 0) wake(header.bell);
      });
      return {};
    }
    default: break;
  }
  return keep({base::Code::kDataLoss, "the node said what it must not say"});
}

// While there is room nothing else tells that the node has gone, or wants no more.
base::Result<> Feeder::look_around() {
  if (error_.has_value()) return *error_;
  if (!writer_.has_value()) return ended();
  if (now() - last_look_ < kLookAround) return {};
  return hear(base::Duration::zero());
}

bool Feeder::has_results() { return results_ != nullptr && !results_->idle(kNoLimit); }

base::Result<char*> Feeder::wait_for_room(std::size_t size, const Patience& patience,
                                          bool for_results) {
  RingHeader& header = writer_->memory().header();
  // Not woken for each small frame that the reader is done with.
  const std::uint64_t wanted =
      std::max<std::uint64_t>(RingWriter::room_for(size), writer_->memory().capacity() / 4);
  const base::Instant start = now();
  char* place = nullptr;
  base::Result<> heard;
  while (heard.ok()) {
    header.feeder_wants.store(wanted, std::memory_order_seq_cst);
    auto room = writer_->reserve(size);
    if (!room.ok()) {
      heard = room.error().code == base::Code::kDataLoss ? keep(std::move(room).error())
                                                         : std::move(room).error();
      break;
    }
    place = *room;
    const base::Duration slice = patience.slice();
    if (place != nullptr || slice <= base::Duration::zero()) break;
    if (for_results && has_results()) break;
    heard = patience.check_interrupted();
    if (heard.ok()) heard = hear(slice);
    if (heard.ok()) {
      auto progress = check_progress(start);
      if (!progress.ok()) heard = keep(std::move(progress).error());
    }
  }
  header.feeder_wants.store(0, std::memory_order_seq_cst);
  header.feeder_waited_ns.fetch_add(static_cast<std::uint64_t>((now() - start).count()));
  if (!heard.ok()) return std::move(heard).error();
  return place;
}

void Feeder::commit_piece(std::uint16_t kind, std::uint16_t flags, std::size_t size) {
  writer_->commit(kind, flags, size);
  RingHeader& header = writer_->memory().header();
  if (header.node_waits.load(std::memory_order_seq_cst) != 0) wake(header.bell);
}

base::Result<bool> Feeder::write_within(std::uint16_t kind, std::string_view data,
                                        const Patience& patience, bool for_results) {
  GANGRUN_TRY(check_frame_size(data.size()));
  if (kind == kBroken) return base::invalid_argument("kind: 0 is the feed's own");
  GANGRUN_TRY(look_around());
  reserved_ = std::nullopt;
  const Patience forever(kForever, interrupted_);
  std::uint16_t flags = kFirstPiece;
  do {
    const std::size_t size = std::min(data.size(), writer_->largest_piece());
    if (size == data.size()) flags |= kLastPiece;
    const bool first = (flags & kFirstPiece) != 0;
    GANGRUN_ASSIGN(char* place, writer_->reserve(size));
    if (place == nullptr) {
      auto waited = wait_for_room(size, first ? patience : forever, first && for_results);
      if (!waited.ok() && !first) {
        // Half a frame is there: nothing can follow it.
        if (!error_.has_value()) error_ = waited.error();
        socket_.reset();
      }
      if (!waited.ok()) return std::move(waited).error();
      place = *waited;
    }
    if (place == nullptr) return false;
    if (size > 0) std::memcpy(place, data.data(), size);
    commit_piece(kind, flags, size);
    data.remove_prefix(size);
    flags &= static_cast<std::uint16_t>(~kFirstPiece);
  } while (!data.empty());
  return true;
}

base::Result<> Feeder::write(std::uint16_t kind, std::string_view data) {
  const Patience patience(kForever, interrupted_);
  GANGRUN_TRY(write_within(kind, data, patience, false));
  return {};
}

base::Result<bool> Feeder::try_write(std::uint16_t kind, std::string_view data,
                                     base::Duration timeout) {
  const Patience patience(timeout, interrupted_);
  return write_within(kind, data, patience, true);
}

base::Result<Feeder::Room> Feeder::reserve(std::size_t size) {
  GANGRUN_TRY(look_around());
  GANGRUN_TRY(check_frame_size(size));
  reserved_ = std::nullopt;
  beside_ = nullptr;
  if (size > writer_->largest_piece()) {
    beside_ = std::make_shared<std::string>(size, '\0');
    reserved_ = size;
    return Room{.bytes = {beside_->data(), size}, .hold = beside_};
  }
  GANGRUN_ASSIGN(char* place, writer_->reserve(size));
  if (place == nullptr) {
    const Patience patience(kForever, interrupted_);
    GANGRUN_ASSIGN(place, wait_for_room(size, patience, false));
  }
  if (place == nullptr) return base::deadline_exceeded("no room in the ring for a year");
  reserved_ = size;
  return Room{.bytes = {place, size}, .hold = writer_->shared_memory()};
}

base::Result<> Feeder::commit(std::uint16_t kind, std::optional<std::size_t> size) {
  if (!reserved_.has_value() || size.value_or(0) > *reserved_) {
    return base::invalid_argument(base::format("commit of {} bytes: {} are reserved",
                                               size.value_or(0), reserved_.value_or(0)));
  }
  const std::size_t bytes = size.value_or(*reserved_);
  if (kind == kBroken) return base::invalid_argument("kind: 0 is the feed's own");
  reserved_ = std::nullopt;
  if (beside_ != nullptr) {
    const auto whole = std::exchange(beside_, nullptr);
    return write(kind, std::string_view(*whole).substr(0, bytes));
  }
  GANGRUN_TRY(look_around());
  commit_piece(kind, kFirstPiece | kLastPiece, bytes);
  return {};
}

// Says what it waits for before it looks, so that what comes afterwards wakes it.
base::Result<std::optional<Frame>> Feeder::next_result() {
  if (results_ == nullptr) return std::optional<Frame>();
  std::atomic<std::uint64_t>& wants = results_->header().feeder_wants;
  wants.store(1, std::memory_order_seq_cst);
  auto frame = results_->next(kNoLimit);
  if (!frame.ok()) error_ = frame.error();
  if (frame.ok() && frame->has_value()) wants.store(0, std::memory_order_seq_cst);
  return frame;
}

base::Result<std::optional<Frame>> Feeder::read(base::Duration timeout) {
  if (error_.has_value()) return *error_;
  if (!writer_.has_value()) return ended();
  const Patience patience(timeout, interrupted_);
  const base::Instant start = now();
  bool looked = false;
  while (true) {
    auto frame = next_result();
    if (!frame.ok() || frame->has_value()) return frame;
    const base::Duration slice = patience.slice();
    if (slice <= base::Duration::zero() && looked) return frame;
    looked = true;
    GANGRUN_TRY(patience.check_interrupted());
    GANGRUN_TRY(hear(has_results() ? base::Duration::zero() : slice));
    auto progress = check_progress(start);
    if (!progress.ok()) return keep(std::move(progress).error()).error();
  }
}

base::Result<> Feeder::end() {
  if (error_.has_value()) return *error_;
  if (!writer_.has_value()) return ended();
  GANGRUN_TRY(hear(base::Duration::zero()));
  GANGRUN_ASSIGN(const bool sent, send_message(socket_.get(), {.type = MessageType::kEnd}));
  if (!sent) return keep(base::unavailable("the node does not read what it is sent"));
  writer_ = std::nullopt;
  results_ = nullptr;
  socket_.reset();
  return {};
}

}  // namespace gangrun::feed
