#include "feed/listener.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "feed/door.h"
#include "feed/feeder.h"
#include "feed/inlet.h"
#include "feed/line.h"
#include "feed/message.h"
#include "feed/outlet.h"

namespace gangrun::feed {
namespace {

constexpr base::Duration kLong = std::chrono::seconds(60);
constexpr base::Duration kNone = base::Duration::zero();
constexpr std::size_t kMemory = 1 << 20;

std::string key() { return std::string(32, 'k') + std::string(32, 'K'); }

std::string new_name() {
  static std::atomic<int> count = 0;
  return base::format("gangrun-feed-test-{}-{}", getpid(), ++count);
}

struct Node {
  std::string name = new_name();
  std::unique_ptr<Listener> listener = *Listener::open(name, key(), kMemory);

  std::unique_ptr<Feeder> feeder(base::Duration no_progress = kLong) const {
    auto made =
        Feeder::connect(name, key(), {.answer = kLong, .no_progress = no_progress}, nullptr);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return *std::move(made);
  }
  Frame read() const {
    auto frame = listener->read(kLong, nullptr);
    EXPECT_TRUE(frame.ok() && frame->has_value());
    return frame.ok() ? frame->value_or(Frame{}) : Frame{};
  }
};

// A feeder that says and writes what it likes.
struct Hostile {
  base::UniqueFd socket;
  std::shared_ptr<RingMemory> ring;

  explicit Hostile(const Node& node, bool with_turn = true) {
    socket = *connect_to(node.name, kLong);
    if (!with_turn) return;
    say({.type = MessageType::kHello, .text = key().substr(0, 32)});
    EXPECT_EQ(hear().message.type, MessageType::kWelcome);
    Received turn = hear();
    EXPECT_EQ(turn.message.type, MessageType::kTurn);
    ring = *RingMemory::open(std::move(turn.fd), RingMemory::Access::kWrite);
  }
  void say(const Message& message, int fd = -1) const {
    EXPECT_TRUE(send_message(socket.get(), message, fd).ok());
  }
  // The next message but for hints; of type kHello with the error's text when there is none.
  Received hear() const {
    while (true) {
      pollfd watched{.fd = socket.get(), .events = POLLIN, .revents = 0};
      EXPECT_EQ(poll(&watched, 1, 60'000), 1);
      auto received = receive_message(socket.get());
      if (!received.ok()) return {.message = {.text = received.error().message}, .fd = {}};
      if (!received->has_value()) continue;
      const MessageType type = (*received)->message.type;
      if (type != MessageType::kProgress && type != MessageType::kWake)
        return **std::move(received);
    }
  }
  bool sent_away() const { return hear().message.type == MessageType::kHello; }
};

TEST(Listener, ThousandsOfFramesOfManyFeedersArriveOnceAndInOrder) {
  const Node node;
  constexpr int kFeeders = 4;
  constexpr int kFrames = 1500;
  std::vector<std::thread> feeders;
  for (int f = 0; f < kFeeders; ++f) {
    feeders.emplace_back([&node] {
      const auto feeder = node.feeder();
      for (int i = 0; i < kFrames; ++i) {
        std::string data(sizeof i + static_cast<std::size_t>(i) % 2000, 'x');
        std::memcpy(data.data(), &i, sizeof i);
        EXPECT_TRUE(feeder->write(1, data).ok());
      }
      EXPECT_TRUE(feeder->end().ok());
    });
  }
  for (int f = 1; f <= kFeeders; ++f) {
    for (int i = 0; i < kFrames; ++i) {
      const Frame frame = node.read();
      int found = -1;
      std::memcpy(&found, frame.data.data(), sizeof found);
      ASSERT_EQ(found, i);
      ASSERT_EQ(frame.turn, static_cast<std::uint64_t>(f));
      ASSERT_EQ(frame.data.size(), sizeof i + static_cast<std::size_t>(i) % 2000);
    }
  }
  for (std::thread& feeder : feeders) feeder.join();
  EXPECT_FALSE(node.listener->read(kNone, nullptr)->has_value());
  const auto stats = node.listener->stats();
  EXPECT_EQ(stats.input.frames, std::uint64_t{kFeeders} * kFrames);
  EXPECT_EQ(stats.input.queued_bytes, 0U);
}

TEST(Listener, ResultsGoBackWhileRowsCome) {
  const Node node;
  std::thread feeding([&node] {
    const auto feeder = node.feeder();
    int results = 0;
    const auto drain = [&](base::Duration time) {
      while (true) {
        auto frame = feeder->read(time);
        ASSERT_TRUE(frame.ok());
        if (!frame->has_value()) return;
        EXPECT_EQ((*frame)->data.size(), 3000U);
        if (++results == 1000) return;
      }
    };
    for (int i = 0; i < 1000; ++i) {
      while (!*feeder->try_write(1, std::string(3000, 'x'), kLong)) drain(kNone);
    }
    while (results < 1000) drain(kLong);
    EXPECT_TRUE(feeder->end().ok());
  });
  for (int i = 0; i < 1000; ++i) {
    const Frame frame = node.read();
    ASSERT_TRUE(node.listener->write(2, frame.data, 0, kLong, nullptr).ok());
  }
  feeding.join();
}

TEST(Listener, AFeederThatIsKilledLeavesWhatItCommittedAndAMark) {
  const Node node;
  const pid_t child = fork();
  if (child == 0) {
    const auto feeder =
        Feeder::connect(node.name, key(), {.answer = kLong, .no_progress = kLong}, nullptr);
    bool good = feeder.ok();
    for (int i = 0; i < 10; ++i) good = good && (*feeder)->write(1, std::string(100, 'x')).ok();
    if (!good) _exit(1);
    raise(SIGKILL);
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(node.read().kind, 1);
  EXPECT_EQ(node.read().kind, kBroken);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  const auto next = node.feeder();
  EXPECT_TRUE(next->write(1, "next").ok());
  EXPECT_EQ(node.read().data, "next");
}

TEST(Listener, NothingButTheKeyOpensTheDoor) {
  const Node node;
  {
    const Hostile wrong(node, false);
    wrong.say({.type = MessageType::kHello, .text = std::string(32, 'x')});
    EXPECT_EQ(wrong.hear().message.type, MessageType::kRefused);
    EXPECT_TRUE(wrong.sent_away());
  }
  for (const MessageType type : {MessageType::kTurn, MessageType::kEnd, MessageType::kWelcome}) {
    const Hostile rude(node, false);
    rude.say({.type = type});
    EXPECT_TRUE(rude.sent_away());
  }
  {
    const Hostile noise(node, false);
    EXPECT_EQ(send(noise.socket.get(), "noise", 5, 0), 5);
    EXPECT_TRUE(noise.sent_away());
  }
  const auto feeder = node.feeder();
  EXPECT_TRUE(feeder->write(1, "good").ok());
  EXPECT_EQ(node.read().data, "good");
}

TEST(Listener, WhatAHostileFeederWritesIntoTheRingEndsItsTurnOnly) {
  const Node node;
  const auto broken_by = [&node](const auto& damage) {
    const Hostile feeder(node);
    RingWriter writer(feeder.ring, feeder.ring->header().head, feeder.ring->header().tail);
    std::memcpy(*writer.reserve(4), "good", 4);
    writer.commit(1, kFirstPiece | kLastPiece, 4);
    EXPECT_EQ(node.read().data, "good");
    damage(*feeder.ring, writer);
    const Frame mark = node.read();
    EXPECT_EQ(mark.kind, kBroken);
    EXPECT_NE(mark.data.find("broke the feed's rules"), std::string::npos) << mark.data;
    EXPECT_TRUE(feeder.sent_away());
    // It still has the memory.
    feeder.ring->header().tail = ~std::uint64_t{0};
    const auto next = node.feeder();
    EXPECT_TRUE(next->write(1, "fine").ok());
    EXPECT_EQ(node.read().data, "fine");
    EXPECT_TRUE(next->end().ok());
  };
  broken_by([](RingMemory& ring, RingWriter&) { ring.header().head = 0; });
  broken_by([](RingMemory& ring, RingWriter&) { ring.header().head = ~std::uint64_t{0} - 63; });
  broken_by([](RingMemory& ring, RingWriter& writer) {
    std::memset(ring.at(writer.head()), 0xff, 4096);
    ring.header().head = writer.head() + 4096;
  });
  broken_by([](RingMemory&, RingWriter& writer) {
    EXPECT_TRUE(writer.reserve(4).ok());
    writer.commit(kBroken, kFirstPiece | kLastPiece, 4);
  });
}

TEST(Listener, AHostileFeederThatEndsLeavesTheNextOnesFramesWhole) {
  const Node node;
  {
    const Hostile feeder(node);
    std::memset(feeder.ring->at(0), 0xff, 4096);
    feeder.ring->header().head = 4096;
    feeder.say({.type = MessageType::kEnd});
    EXPECT_TRUE(feeder.sent_away());
  }
  const auto next = node.feeder();
  EXPECT_TRUE(next->write(1, "whole").ok());
  EXPECT_EQ(node.read().kind, kBroken);
  EXPECT_EQ(node.read().data, "whole");
}

// Found by the fuzzer: the end of a turn was put before its start.
TEST(Inlet, AnIndexThatGoesBackDoesNotReachIntoTheTurnBefore) {
  const auto inlet = *Inlet::make(1 << 16);
  const auto theirs =
      *RingMemory::open(base::UniqueFd(dup(inlet->ring_fd())), RingMemory::Access::kWrite);
  const auto turn_with = [&](int frames, const auto& damage) {
    const Inlet::Turn turn = inlet->begin_turn(nullptr);
    RingWriter writer(theirs, turn.head, turn.tail);
    for (int i = 0; i < frames; ++i) {
      EXPECT_NE(*writer.reserve(4), nullptr);
      writer.commit(1, kFirstPiece | kLastPiece, 4);
    }
    damage(theirs->header());
    inlet->end_turn(turn.number, std::nullopt);
  };
  const auto next = [&] { return inlet->read(kNone, nullptr)->value_or(Frame{}); };
  turn_with(1, [](RingHeader& header) { header.head = ~std::uint64_t{0} - 63; });
  turn_with(2, [](RingHeader&) {});
  EXPECT_EQ(next().kind, kBroken);
  turn_with(1, [](RingHeader& header) { header.head = ~std::uint64_t{0} - 63; });
  turn_with(1, [](RingHeader& header) { header.head = 64; });
  turn_with(1, [](RingHeader&) {});
  std::vector<std::pair<std::uint64_t, int>> found;
  for (Frame frame = next(); frame.hold != nullptr; frame = next()) {
    found.emplace_back(frame.turn, frame.kind);
  }
  const std::vector<std::pair<std::uint64_t, int>> expected{{2, 1}, {2, 1}, {3, 0}, {4, 0}, {5, 1}};
  EXPECT_EQ(found, expected);
}

TEST(Listener, AFeederThatSaysWhatItMustNotOrPassesDescriptorsIsGone) {
  const Node node;
  const Hostile feeder(node);
  feeder.say({.type = MessageType::kOutput}, STDIN_FILENO);
  EXPECT_TRUE(feeder.sent_away());
  EXPECT_EQ(node.read().kind, kBroken);
}

TEST(Listener, AFeederThatDoesNotReadItsResultsIsALimitOnly) {
  const Node node;
  const auto feeder = node.feeder();
  EXPECT_TRUE(feeder->write(1, "row").ok());
  node.read();
  const std::string result(10'000, 'x');
  base::Result<> written;
  for (int i = 0; i < 100 && written.ok(); ++i) {
    written = node.listener->write(2, result, 0, kNone, nullptr);
  }
  EXPECT_EQ(written.error().code, base::Code::kDeadlineExceeded);
  const auto late = node.listener->write(2, result, 77, kNone, nullptr);
  EXPECT_EQ(late.error().code, base::Code::kUnavailable);
}

// A node that says and writes what it likes.
TEST(Feeder, AHostileNodeIsAnErrorAndNoMore) {
  enum class Lie { kNoRing, kUnsealed, kPositions, kKey, kTail, kSilent, kNoise };
  for (const Lie lie : {Lie::kNoRing, Lie::kUnsealed, Lie::kPositions, Lie::kKey, Lie::kTail,
                        Lie::kSilent, Lie::kNoise}) {
    const std::string name = new_name();
    const auto listening = *listen_at(name);
    std::thread node([&] {
      pollfd watched{.fd = listening.get(), .events = POLLIN, .revents = 0};
      poll(&watched, 1, 60'000);
      const auto line = std::move(**accept_at(listening.get()));
      watched.fd = line.get();
      poll(&watched, 1, 60'000);
      EXPECT_TRUE(receive_message(line.get()).ok());
      const auto say = [&line](const Message& message, int fd = -1) {
        EXPECT_TRUE(send_message(line.get(), message, fd).ok());
      };
      if (lie == Lie::kNoise) {
        EXPECT_EQ(send(line.get(), "noise", 5, 0), 5);
      } else if (lie != Lie::kSilent) {
        say({.type = MessageType::kWelcome, .text = std::string(32, lie == Lie::kKey ? 'x' : 'K')});
      }
      const auto ring = *RingMemory::create(1 << 16, RingMemory::Access::kWrite);
      const auto loose = *base::memory_file("loose", std::string(1 << 17, 'x'));
      if (lie == Lie::kTail) ring->header().tail = 1 << 20;
      const int passed = lie == Lie::kNoRing     ? -1
                         : lie == Lie::kUnsealed ? loose.get()
                                                 : ring->fd();
      if (lie != Lie::kKey && lie != Lie::kSilent && lie != Lie::kNoise) {
        say({.type = MessageType::kTurn, .a = 1, .b = lie == Lie::kPositions ? 1U << 20 : 0U},
            passed);
      }
      poll(&watched, 1, 60'000);  // until the feeder goes
    });
    const base::Duration limit = lie == Lie::kSilent ? std::chrono::milliseconds(100) : kLong;
    auto feeder = Feeder::connect(name, key(), {.answer = limit, .no_progress = kLong}, nullptr);
    EXPECT_EQ(feeder.ok(), lie == Lie::kTail);
    if (feeder.ok()) {
      base::Result<> written;
      while (written.ok()) written = (*feeder)->write(1, std::string(10'000, 'x'));
      EXPECT_EQ(written.error().code, base::Code::kDataLoss);
      feeder = base::internal("gone");
    }
    node.join();
  }
}

TEST(Feeder, TheEndOfTheNodeIsNoticedByWhoWritesWithoutWaiting) {
  Node node;
  const auto feeder = node.feeder();
  node.listener->close();
  base::Result<> written;
  while (written.ok()) written = feeder->write(1, "x");
  EXPECT_EQ(written.error().code, base::Code::kUnavailable);
  EXPECT_EQ(feeder->end().error().code, base::Code::kUnavailable);
}

TEST(Listener, RefusesAndClosesWhileOthersWait) {
  Node node;
  std::vector<std::thread> feeders;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 3; ++i) {
    feeders.emplace_back([&] {
      auto feeder =
          Feeder::connect(node.name, key(), {.answer = kLong, .no_progress = kLong}, nullptr);
      base::Result<> written;
      if (!feeder.ok()) written = feeder.error();
      while (written.ok()) written = (*feeder)->write(1, std::string(1000, 'x'));
      if (written.error().code == base::Code::kFailedPrecondition) ++refused;
    });
  }
  std::thread reading([&] {
    while (node.listener->read(kLong, nullptr).ok()) {
    }
  });
  node.listener->refuse("enough");
  for (std::thread& feeder : feeders) feeder.join();
  EXPECT_EQ(refused, 3);
  node.listener->close();
  reading.join();
  EXPECT_EQ(node.listener->write(1, "x", 0, kNone, nullptr).error().code,
            base::Code::kFailedPrecondition);
}

TEST(Socket, NamesAreBoundOnceAndNobodyIsThereAtOnce) {
  const std::string name = new_name();
  EXPECT_EQ(connect_to(name, kLong).error().code, base::Code::kNotFound);
  const auto listening = *listen_at(name);
  EXPECT_EQ(listen_at(name).error().code, base::Code::kAlreadyExists);
  EXPECT_EQ(listen_at("").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(listen_at(std::string(108, 'x')).error().code, base::Code::kInvalidArgument);
  EXPECT_FALSE(accept_at(listening.get())->has_value());
}

}  // namespace
}  // namespace gangrun::feed
