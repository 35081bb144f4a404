// A tunnel from its entrance over a real agent's control address to a program's socket.
#include "net/tunnel.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/tunnel_entrance.h"
#include "wire/control.h"
#include "wire/paths.h"
#include "wire/test_registry.h"

namespace gangrun::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kPollStepMs = 2;

TEST(SendWhatFits, LeavesWhatTheSocketDoesNotTakeAndTellsWhy) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd socket(ends[0]);
  base::UniqueFd other(ends[1]);
  std::string out = "all";
  EXPECT_EQ(net::send_what_fits(socket.get(), out).bytes, 3U);
  EXPECT_EQ(out, "");
  EXPECT_EQ(net::send_what_fits(socket.get(), out).bytes, 0U);

  const std::string large(std::size_t{16} << 20U, 'x');
  out = large + "end";
  const net::SentBytes sent = net::send_what_fits(socket.get(), out);
  EXPECT_EQ(sent.error_number, 0);
  EXPECT_GT(sent.bytes, 0U);
  EXPECT_EQ(out.size() + sent.bytes, large.size() + 3);
  EXPECT_TRUE(out.ends_with("xend"));

  other.reset();
  const std::size_t left = out.size();
  EXPECT_EQ(net::send_what_fits(socket.get(), out).error_number, EPIPE);
  EXPECT_EQ(out.size(), left);
}

// A socket of the test; never blocks.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  static Socket listening(std::uint16_t& port) {
    Socket made(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(made.fd_.get(), generic, size), 0);
    EXPECT_EQ(::listen(made.fd_.get(), 200), 0);
    EXPECT_EQ(::getsockname(made.fd_.get(), generic, &size), 0);
    port = ntohs(address.sin_port);
    return made;
  }
  static Socket connected(std::uint16_t port) {
    base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return Socket(fd.release());
  }
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  std::optional<Socket> accept() {
    const int fd = ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    return fd < 0 ? std::optional<Socket>() : Socket(fd);
  }
  // How many were written now.
  std::size_t write(std::string_view bytes) {
    const ssize_t size = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return size < 0 ? 0 : static_cast<std::size_t>(size);
  }
  // Adds what is there now to `heard`.
  void look() {
    char buffer[65536];
    const ssize_t size = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size > 0) heard.append(buffer, static_cast<std::size_t>(size));
    if (size == 0) ended = true;
    if (size < 0 && errno != EAGAIN) broken = true;
  }
  void end_writing() { EXPECT_EQ(::shutdown(fd_.get(), SHUT_WR), 0); }
  void close() { fd_.reset(); }
  void reset() {
    const linger at_once{1, 0};
    EXPECT_EQ(::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    fd_.reset();
  }

  std::string heard;
  bool ended = false;
  bool broken = false;

 private:
  base::UniqueFd fd_;
};

class TunnelTest : public testing::Test {
 protected:
  void SetUp() override {
    control.serve_tunnels([this] { return ports; });
    const auto address = control.listen("127.0.0.1");
    ASSERT_TRUE(address.ok()) << address.error().message;
    agent = net::Endpoint::on_tls("127.0.0.1", address->port, address->fingerprint);
    ports.resize(1);
    program = Socket::listening(ports[0]);
    entrance.set_agent(agent);
    const auto listening = entrance.listen(0);
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
  }

  bool until(const std::function<bool()>& done) {
    const base::Instant deadline = test_deadline();
    // The loop does not tell what sockets of the test have.
    while (!loop.run_until(done, loop.now() + std::chrono::milliseconds(kPollStepMs))) {
      if (loop.now() > deadline) return false;
    }
    return true;
  }

  std::pair<Socket, Socket> open() {
    Socket user = Socket::connected(port);
    std::optional<Socket> served;
    EXPECT_TRUE(until([&] { return (served = program.accept()).has_value(); }));
    return {std::move(user), *std::move(served)};
  }
  bool hears(Socket& socket, const std::string& text) {
    return until([&] {
             socket.look();
             return socket.heard.size() >= text.size();
           }) &&
           socket.heard == text;
  }
  bool sees_end(Socket& socket) {
    return until([&] {
      socket.look();
      return socket.ended || socket.broken;
    });
  }

  // How a channel at the agent's tunnels ends: with which secret, and for which port.
  std::optional<base::Error> refusal(const std::string& secret, const std::string& path) {
    std::optional<base::Error> error;
    bool opened = false;
    std::unique_ptr<net::Channel> channel;
    const net::Call connecting = net::connect_channel(
        loop, agent, path, {{"Authorization", "Bearer " + secret}}, test_deadline(),
        [&](auto result) {
          if (!result.ok()) {
            error = result.error();
            return;
          }
          channel = *std::move(result);
          channel->on_closed([&](base::Error reason) { error = std::move(reason); });
          channel->on_message([&](std::string_view) { opened = true; });
        },
        net::tunnel_channel_options());
    EXPECT_TRUE(until([&] { return error || opened; }));
    return error;
  }

  net::EventLoop loop;
  LogRecorder log;
  std::vector<std::uint16_t> ports;
  net::Endpoint agent;
  Socket program{-1};
  std::uint16_t port = 0;
  std::vector<std::string> broken;
  ControlServer control{loop, base::Secret(kJobSecret), [](const job::Address&) {}, log};
  net::TunnelEntrance entrance{loop, base::Secret(kJobSecret), [this](const base::Error& error) {
                                 broken.push_back(error.message);
                               }};
};

TEST_F(TunnelTest, CarriesBothDirectionsAndTheEndOfEach) {
  auto [user, served] = open();
  EXPECT_EQ(user.write("question"), 8U);
  ASSERT_TRUE(hears(served, "question"));
  user.end_writing();
  ASSERT_TRUE(sees_end(served));
  EXPECT_FALSE(served.broken);
  // One half has ended, the other goes on.
  EXPECT_EQ(served.write("a long answer"), 13U);
  ASSERT_TRUE(hears(user, "a long answer"));
  EXPECT_FALSE(user.ended);
  served.close();
  ASSERT_TRUE(sees_end(user));
  EXPECT_FALSE(user.broken);
  ASSERT_TRUE(until([&] { return control.tunnel_count() == 0; }));
  EXPECT_THAT(broken, IsEmpty());
}

TEST_F(TunnelTest, MegabytesArriveWholeWhoeverEndsFirst) {
  auto opened = open();
  Socket& user = opened.first;
  Socket& served = opened.second;
  std::string all(5'000'000, '\0');
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 2654435761U >> 24U);
  std::size_t written = 0;
  ASSERT_TRUE(until([&] {
    written += served.write(std::string_view(all).substr(written));
    user.look();
    return written == all.size();
  }));
  served.close();
  ASSERT_TRUE(hears(user, all));
  ASSERT_TRUE(sees_end(user));
  EXPECT_FALSE(user.broken);
}

TEST_F(TunnelTest, WhoDoesNotReadStopsTheOneWhoWrites) {
  auto opened = open();
  Socket& user = opened.first;
  Socket& served = opened.second;
  const std::string part(1 << 20U, 'x');
  std::size_t written = 0;
  base::Instant last = loop.now();
  // Until nothing more is taken for a while: what sockets and the window hold.
  (void)until([&] {
    const std::size_t now = served.write(part);
    if (now > 0) last = loop.now();
    written += now;
    return written > 64 * part.size() || loop.now() - last > std::chrono::milliseconds(300);
  });
  EXPECT_LT(written, 64 * part.size());
  // Another connection goes on meanwhile.
  auto [second, answering] = open();
  EXPECT_EQ(second.write("quick"), 5U);
  EXPECT_TRUE(hears(answering, "quick"));
  ASSERT_TRUE(until([&] {
    user.look();
    return user.heard.size() == written;
  }));
}

TEST_F(TunnelTest, ABrokenConnectionIsBrokenAtTheOtherEndToo) {
  auto [user, served] = open();
  EXPECT_EQ(served.write("half of"), 7U);
  ASSERT_TRUE(hears(user, "half of"));
  served.reset();
  ASSERT_TRUE(sees_end(user));
  EXPECT_TRUE(user.broken) << "not taken for a whole answer";
  ASSERT_TRUE(until([&] { return control.tunnel_count() == 0; }));
}

TEST_F(TunnelTest, WhereNothingListensYetThatIsTold) {
  program.close();
  std::optional<base::Result<>> tried;
  entrance.try_once([&](base::Result<> how) { tried = std::move(how); });
  ASSERT_TRUE(until([&] { return tried.has_value(); }));
  ASSERT_FALSE(tried->ok());
  EXPECT_THAT(tried->error().message, HasSubstr("nothing listens"));
  Socket user = Socket::connected(port);
  ASSERT_TRUE(sees_end(user));
  ASSERT_TRUE(until([&] { return !broken.empty(); }));
  EXPECT_THAT(broken, ElementsAre(HasSubstr("nothing listens")));

  program = Socket::listening(ports[0]);
  tried.reset();
  entrance.try_once([&](base::Result<> how) { tried = std::move(how); });
  ASSERT_TRUE(until([&] { return tried.has_value(); }));
  EXPECT_TRUE(tried->ok());
}

TEST_F(TunnelTest, OnlyWhoKnowsTheSecretGetsOne) {
  const std::string path(net::kTunnelPath);
  for (const std::string& secret : {std::string("wrong"), std::string(), kJobSecret + "0"}) {
    const auto error = refusal(secret, path);
    ASSERT_TRUE(error) << secret;
    EXPECT_EQ(error->code, base::Code::kUnauthenticated);
    EXPECT_THAT(error->message, Not(HasSubstr(std::to_string(ports[0]))));
  }
  EXPECT_FALSE(program.accept()) << "nobody has connected";
  EXPECT_FALSE(refusal(kJobSecret, path));
  ASSERT_TRUE(until([&] { return program.accept().has_value(); }));
}

TEST_F(TunnelTest, OnlyThePortsOfTheTaskAreReached) {
  const std::string path(net::kTunnelPath);
  std::uint16_t foreign_port = 0;
  Socket foreign = Socket::listening(foreign_port);
  for (const std::string& wrong :
       {std::to_string(foreign_port), std::string("0"), std::string("x"), std::string(),
        "-" + std::to_string(ports[0]), std::to_string(65536 + ports[0])}) {
    const auto error = refusal(kJobSecret, path + "/" + wrong);
    ASSERT_TRUE(error) << wrong;
    EXPECT_EQ(error->code, base::Code::kInvalidArgument) << error->message;
  }
  EXPECT_FALSE(foreign.accept());
  ports.push_back(foreign_port);  // now it is one of the task's
  EXPECT_FALSE(refusal(kJobSecret, path + "/" + std::to_string(foreign_port)));
  ports.clear();
  EXPECT_EQ(refusal(kJobSecret, path)->code, base::Code::kNotFound);
}

TEST_F(TunnelTest, TooManyAreRefusedAndTheMasterStillGetsThrough) {
  std::vector<Socket> users;
  for (std::size_t i = 0; i < net::kMaxTunnels; ++i) users.push_back(Socket::connected(port));
  ASSERT_TRUE(until([&] { return control.tunnel_count() == net::kMaxTunnels; }));
  const auto error = refusal(kJobSecret, std::string(net::kTunnelPath));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, base::Code::kUnavailable) << error->message;
  Socket one_more = Socket::connected(port);
  ASSERT_TRUE(sees_end(one_more));
  const auto called = while_serving(loop, [&] {
    net::HttpRequest request;
    request.method = "GET";
    request.path = kMasterPath;
    request.headers.add("Authorization", "Bearer " + kJobSecret);
    return net::request(agent, request, test_deadline());
  });
  ASSERT_TRUE(called.ok()) << called.error().message;
  EXPECT_EQ(called->status, 405);
  users.clear();
  ASSERT_TRUE(until([&] { return control.tunnel_count() == 0 || program.accept(); }));
}

}  // namespace
}  // namespace gangrun::wire
