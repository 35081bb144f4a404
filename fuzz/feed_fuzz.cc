// The input of a node and of a feeder from the other end: messages, and whatever a peer writes
// into the memory that both have.
//
// The first byte of an input chooses: 0 has the rest as a message, 1 as a script against a node's
// input ring, 2 against a writer. A script is a row of steps: a byte says what, then come two bytes
// of a number, and for "bytes into the ring" so many bytes as the second says.
#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "feed/inlet.h"
#include "feed/message.h"
#include "feed/ring.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own
using feed::RingMemory;

constexpr std::size_t kCapacity = 64 << 10;
constexpr std::size_t kMaxHeld = 8;

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }
  std::uint64_t number() { return byte() | std::uint64_t{byte()} << 8; }
  std::string_view take(std::size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view bytes_;
};

void one_message(std::string_view bytes) {
  const auto message = feed::decode(bytes);
  if (!message.ok()) return;
  const auto again = feed::decode(feed::encode(*message));
  GANGRUN_CHECK(again.ok() && *again == *message, bytes.size());
}

// An index near where it may be, or anywhere.
std::uint64_t index_near(std::uint64_t good, std::uint64_t number) {
  switch (number & 3) {
    case 0: return good + (number >> 2) * feed::kAlignment;
    case 1: return good - (number >> 2) * feed::kAlignment;
    case 2: return number << 48 | number;
    default: return good + kCapacity + (number >> 2);
  }
}

// A node whose feeders write what the input says. Nothing that it lends may lie outside.
class Node {
 public:
  Node()
      : inlet_(*feed::Inlet::make(kCapacity)),
        theirs_(*RingMemory::open(base::UniqueFd(fcntl(inlet_->ring_fd(), F_DUPFD_CLOEXEC, 0)),
                                  RingMemory::Access::kWrite)) {}

  void step(Input& input) {
    feed::RingHeader& header = theirs_->header();
    const std::uint8_t what = input.byte();
    const std::uint64_t number = input.number();
    switch (what % 10) {
      case 0:
        end_turn(number);
        turn_ = inlet_->begin_turn(nullptr);
        writer_.emplace(theirs_, turn_->head, turn_->tail);
        break;
      case 1: end_turn(number); break;
      case 2: commit(number % 20'000, 0); break;
      case 3: commit(number >> 3, static_cast<std::uint16_t>(number & 7)); break;
      case 4: {
        const std::string_view bytes = input.take(number >> 8);
        std::memcpy(theirs_->at(header.head + (number & 0xff)), bytes.data(), bytes.size());
        break;
      }
      case 5: header.head = index_near(header.head, number); break;
      case 6: header.tail = index_near(header.tail, number); break;
      case 7:
        if (!held_.empty())
          held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(number % held_.size()));
        break;
      case 8: header.feeder_wants = number; break;
      default: read();
    }
  }

  void read() {
    auto frame = inlet_->read(base::Duration::zero(), nullptr);
    GANGRUN_CHECK(frame.ok(), frame.error().message);
    GANGRUN_CHECK(inlet_->figures().queued_bytes <= kCapacity, inlet_->figures().queued_bytes);
    if (!frame->has_value()) return;
    std::uint64_t sum = 0;
    for (const char byte : (*frame)->data) sum += static_cast<std::uint8_t>(byte);
    sums_ += sum;
    held_.push_back(**std::move(frame));
    if (held_.size() > kMaxHeld) held_.erase(held_.begin());
  }

  // However it went, a good feeder is served next.
  void serve_a_good_one() {
    end_turn(0);
    held_.clear();
    turn_ = inlet_->begin_turn(nullptr);
    theirs_->header().tail = turn_->tail;
    writer_.emplace(theirs_, turn_->head, turn_->tail);
    const std::uint64_t wanted = turn_->number;
    // A call looks at some pieces only.
    for (std::size_t i = 0; i < kCapacity / feed::kAlignment; ++i) {
      const auto frame = inlet_->read(base::Duration::zero(), nullptr);
      GANGRUN_CHECK(frame.ok(), frame.error().message);
      if (frame->has_value()) GANGRUN_CHECK((*frame)->turn < wanted, (*frame)->turn, wanted);
    }
    commit(4, feed::kFirstPiece | feed::kLastPiece);
    const auto frame = inlet_->read(base::Duration::zero(), nullptr);
    GANGRUN_CHECK(frame.ok() && frame->has_value() && (*frame)->turn == wanted, wanted);
  }

 private:
  void end_turn(std::uint64_t number) {
    if (!turn_.has_value()) return;
    inlet_->end_turn(turn_->number,
                     (number & 1) != 0 ? std::optional<std::string>("gone") : std::nullopt);
    turn_ = std::nullopt;
    writer_ = std::nullopt;
  }

  void commit(std::size_t size, std::uint16_t flags) {
    if (!writer_.has_value()) return;
    const auto place = writer_->reserve(std::min(size, writer_->largest_piece()));
    if (!place.ok() || *place == nullptr) return;
    writer_->commit(1, flags != 0 ? flags : feed::kFirstPiece | feed::kLastPiece,
                    std::min(size, writer_->largest_piece()));
  }

  std::unique_ptr<feed::Inlet> inlet_;
  std::shared_ptr<RingMemory> theirs_;
  std::optional<feed::Inlet::Turn> turn_;
  std::optional<feed::RingWriter> writer_;
  std::vector<feed::Frame> held_;
  std::uint64_t sums_ = 0;
};

void against_a_node(Input input) {
  Node node;
  while (!input.empty()) node.step(input);
  for (int i = 0; i < 3; ++i) node.read();
  node.serve_a_good_one();
}

// A writer whose reader says what the input says: it writes inside the ring or not at all.
void against_a_writer(Input input) {
  const auto memory = *RingMemory::create(kCapacity, RingMemory::Access::kWrite);
  feed::RingWriter writer(memory, 0, 0);
  while (!input.empty()) {
    memory->header().tail = index_near(memory->header().tail, input.number());
    const std::size_t size = std::min<std::size_t>(input.number(), writer.largest_piece());
    const auto place = writer.reserve(size);
    if (!place.ok() || *place == nullptr) continue;
    std::memset(*place, 'x', size);
    writer.commit(1, feed::kFirstPiece | feed::kLastPiece, size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    one_message(bytes);
  } else if (data[0] == 1) {
    against_a_node(Input(bytes));
  } else {
    against_a_writer(Input(bytes));
  }
  return 0;
}
