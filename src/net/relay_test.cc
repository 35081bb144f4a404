#include "net/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>

#include "base/overloaded.h"
#include "base/test_deadline.h"
#include "net/link_window.h"
#include "net/socket_listener.h"

namespace gangrun::net {
namespace {

base::UniqueFd socket_at(const std::string& path, bool listens) {
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  auto* general = reinterpret_cast<sockaddr*>(&address);
  if (listens) {
    EXPECT_EQ(::bind(fd.get(), general, sizeof address), 0);
    EXPECT_EQ(::listen(fd.get(), 8), 0);
  } else {
    EXPECT_EQ(::connect(fd.get(), general, sizeof address), 0);
  }
  return fd;
}

// A keeper's relay and a client's, with a master's socket behind that.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    std::string text = "/tmp/gangrun-relay-XXXXXX";
    folder_ = ::mkdtemp(text.data());
    EXPECT_TRUE(entrance_.listen_at_path(folder_ + "/agents").ok());
    here_.connect_to([this] { return connect_to_path(folder_ + "/master"); });
  }
  ~RelayTest() override { std::filesystem::remove_all(folder_); }

  // Later, with a content of its own, as they travel.
  void pass_on(Relay& to, const RelayFrame& frame) {
    std::visit(base::Overloaded{
                   [&](const OpenFrame& open) { loop_.post([&to, open] { to.on_frame(open); }); },
                   [&](const StreamFrame& stream) {
                     loop_.post([&to, id = stream.stream, bytes = std::string(stream.content)] {
                       to.on_frame(StreamFrame{id, bytes});
                     });
                   },
               },
               frame);
  }
  // `done` looks at sockets that the loop does not watch.
  bool runs_until(const std::function<bool()>& done) {
    const std::function<void()> tick = [&] {
      ticker_ = loop_.after(std::chrono::milliseconds(1), tick);
    };
    tick();
    const bool is_done = loop_.run_until(done, base::soon());
    ticker_.reset();
    return is_done;
  }
  // Whether something can be read, or the end.
  bool is_readable(int fd) {
    char byte = 0;
    return runs_until([&] { return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0; });
  }
  std::string read(int fd, std::size_t count) {
    std::string text;
    EXPECT_TRUE(runs_until([&] {
      char buffer[65536];
      const ssize_t got =
          ::recv(fd, buffer, std::min(sizeof buffer, count - text.size()), MSG_DONTWAIT);
      if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
      return text.size() == count;
    }));
    return text;
  }
  base::UniqueFd accepted(int master) {
    base::UniqueFd fd;
    EXPECT_TRUE(runs_until([&] {
      fd.reset(::accept4(master, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      return fd.valid();
    }));
    return fd;
  }

  net::EventLoop loop_;
  net::Timer ticker_;
  std::string folder_;
  std::size_t passed_ = 0;
  bool is_cut_ = false;
  Relay there_{loop_, [this](const RelayFrame& frame) {
                 if (const auto* stream = std::get_if<StreamFrame>(&frame)) {
                   passed_ += stream->content.size();
                 }
                 if (!is_cut_ || std::holds_alternative<OpenFrame>(frame)) pass_on(here_, frame);
               }};
  Relay here_{loop_, [this](const RelayFrame& frame) { pass_on(there_, frame); }};
  SocketListener entrance_{loop_, [this](base::UniqueFd fd) { there_.take(std::move(fd)); }};
};

TEST_F(RelayTest, CarriesBothWaysAndEndsEachByItself) {
  const base::UniqueFd master = socket_at(folder_ + "/master", true);
  ASSERT_EQ(::fcntl(master.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  ASSERT_EQ(::send(agent.get(), "hello", 5, 0), 5);
  const base::UniqueFd session = accepted(master.get());
  EXPECT_EQ(read(session.get(), 5), "hello");
  ASSERT_EQ(::shutdown(agent.get(), SHUT_WR), 0);
  ASSERT_TRUE(is_readable(session.get()));
  char byte = 0;
  EXPECT_EQ(::recv(session.get(), &byte, 1, MSG_DONTWAIT), 0);
  // The other way goes on.
  ASSERT_EQ(::send(session.get(), "bye", 3, 0), 3);
  EXPECT_EQ(read(agent.get(), 3), "bye");
}

TEST_F(RelayTest, SendsNoMoreThanTheOtherSideTakes) {
  const base::UniqueFd master = socket_at(folder_ + "/master", true);
  ASSERT_EQ(::fcntl(master.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  ASSERT_EQ(::fcntl(agent.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd session = accepted(master.get());
  const std::string much(std::size_t{8} << 20U, 'x');
  std::size_t sent = 0;
  std::string got;
  const auto send_more = [&] {
    const ssize_t size = ::send(agent.get(), much.data() + sent, much.size() - sent, MSG_DONTWAIT);
    if (size > 0) sent += static_cast<std::size_t>(size);
  };
  // Nobody reads: what is under way comes to a stop.
  std::size_t before = 0;
  do {
    before = passed_;
    for (int i = 0; i < 200; ++i) {
      send_more();
      bool ran = false;
      loop_.post([&ran] { ran = true; });
      ASSERT_TRUE(runs_until([&ran] { return ran; }));
    }
  } while (passed_ != before);
  EXPECT_LT(passed_, std::size_t{2} << 20U);
  EXPECT_TRUE(runs_until([&] {
    send_more();
    char buffer[65536];
    const ssize_t size = ::recv(session.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size > 0) got.append(buffer, static_cast<std::size_t>(size));
    return got.size() == much.size();
  }));
}

// It was 256 KiB, for which a link of 64 kbit/s takes half a minute: heartbeats wait behind it.
TEST_F(RelayTest, HasLittleOnItsWayAsLongAsNothingArrives) {
  is_cut_ = true;
  const base::UniqueFd master = socket_at(folder_ + "/master", true);
  ASSERT_EQ(::fcntl(master.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  const base::UniqueFd session = accepted(master.get());
  const std::string much(std::size_t{64} << 10U, 'x');
  ASSERT_EQ(::send(agent.get(), much.data(), much.size(), 0), std::ssize(much));
  ASSERT_TRUE(runs_until([&] { return passed_ >= LinkWindow::kLeast; }));
  for (int i = 0; i < 200; ++i) {
    bool ran = false;
    loop_.post([&ran] { ran = true; });
    ASSERT_TRUE(runs_until([&ran] { return ran; }));
  }
  // A byte of each message says what it is.
  EXPECT_LE(passed_, LinkWindow::kLeast + 2);
}

TEST_F(RelayTest, WhatCannotBeConnectedBreaksForTheAgent) {
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  ASSERT_TRUE(is_readable(agent.get()));
  char byte = 0;
  EXPECT_EQ(::recv(agent.get(), &byte, 1, MSG_DONTWAIT), 0);
}

// It looked again and again, as fast as it could.
TEST_F(RelayTest, AConnectionForWhichThereIsNoDescriptorWaitsAndIsTriedAgain) {
  const base::UniqueFd master = socket_at(folder_ + "/master", true);
  ASSERT_EQ(::fcntl(master.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  ASSERT_EQ(::send(agent.get(), "hello", 5, 0), 5);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto slept = [] {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  };
  const auto at_first = slept();
  EXPECT_TRUE(runs_until([&] { return slept() >= at_first + 3; }));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const base::UniqueFd session = accepted(master.get());
  EXPECT_EQ(read(session.get(), 5), "hello");
}

TEST_F(RelayTest, AllBreakWhenTheOtherSideHasGone) {
  const base::UniqueFd master = socket_at(folder_ + "/master", true);
  ASSERT_EQ(::fcntl(master.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  const base::UniqueFd session = accepted(master.get());
  here_.break_all();
  ASSERT_TRUE(is_readable(session.get()));
  there_.break_all();
  ASSERT_TRUE(is_readable(agent.get()));
}

TEST_F(RelayTest, ReadsNothingAsLongAsItIsHeld) {
  const base::UniqueFd master = socket_at(folder_ + "/master", true);
  ASSERT_EQ(::fcntl(master.get(), F_SETFL, O_NONBLOCK), 0);
  const base::UniqueFd agent = socket_at(folder_ + "/agents", false);
  const base::UniqueFd session = accepted(master.get());
  there_.hold(true);
  ASSERT_EQ(::send(agent.get(), "hello", 5, 0), 5);
  // The other direction goes on meanwhile.
  ASSERT_EQ(::send(session.get(), "bye", 3, 0), 3);
  EXPECT_EQ(read(agent.get(), 3), "bye");
  EXPECT_EQ(passed_, 0U);
  there_.hold(false);
  EXPECT_EQ(read(session.get(), 5), "hello");
}

TEST_F(RelayTest, OneConnectionTooManyIsClosed) {
  std::size_t frames = 0;
  Relay small(
      loop_, [&frames](const RelayFrame& /*frame*/) { ++frames; }, 1);
  base::UniqueFd ours[2];
  for (base::UniqueFd& own : ours) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    own.reset(pair[0]);
    small.take(base::UniqueFd(pair[1]));
  }
  EXPECT_EQ(frames, 1U);
  char byte = 0;
  EXPECT_EQ(::recv(ours[0].get(), &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(::recv(ours[1].get(), &byte, 1, MSG_DONTWAIT), 0);
}

}  // namespace
}  // namespace gangrun::net
