#include "zookeeper/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/frames.h"

// The answers of a real server are tested with one: tests/integration/test_zookeeper.py.
namespace gangrun::zookeeper {
namespace {

TEST(Session, WithoutAServerItGoesOnTryingAndEndsAtOnce) {
  net::EventLoop loop;
  std::vector<SessionState> states;
  auto session =
      Session::open(loop, {.servers = {"127.0.0.1:1"}, .credentials = base::Secret("gangrun:x")},
                    [&](SessionState state, const std::string&) { states.push_back(state); });
  ASSERT_TRUE(session.ok()) << session.error().message;
  ServerAnswer answer;
  bool is_answered = false;
  (*session)->send({Operation::Verb::kDelete, {.path = "/x"}}, [&](const ServerAnswer& told) {
    answer = told;
    is_answered = true;
  });
  EXPECT_TRUE(loop.run_until([&] { return is_answered; },
                             std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(answer.code, ServerAnswer::Code::kLost);
  EXPECT_THAT(states, testing::Each(SessionState::kConnecting));
}

TEST(Session, NothingIsCalledAfterItsEnd) {
  net::EventLoop loop;
  bool is_called = false;
  {
    const auto session = Session::open(loop, {.servers = {"127.0.0.1:1"}},
                                       [&](SessionState, const std::string&) { is_called = true; });
    ASSERT_TRUE(session.ok());
  }
  bool is_over = false;
  loop.post([&] { is_over = true; });
  EXPECT_TRUE(loop.run_until([&] { return is_over; },
                             std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_FALSE(is_called);
}

TEST(Session, NoServerIsAnError) {
  net::EventLoop loop;
  EXPECT_FALSE(Session::open(loop, {}, [](SessionState, const std::string&) {}).ok());
}

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = bytes; i-- > 0;) text += static_cast<char>((value >> (8 * i)) & 0xffU);
  return text;
}

std::string welcome() {
  return net::framed(number(0, 4) + number(30'000, 4) + number(42, 8) + number(0, 4));
}
std::string token_reply(std::uint32_t request, const std::string& token) {
  return net::framed(number(request, 4) + number(0, 8) + number(0, 4) + number(token.size(), 4) +
                     token);
}
std::string refusal(std::uint32_t request, std::int32_t code) {
  return net::framed(number(request, 4) + number(0, 8) +
                     number(static_cast<std::uint32_t>(code), 4));
}

// Answers the frames of one connection after the other with what it was given.
class TestServer {
 public:
  explicit TestServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), plain, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), plain, &size), 0);
    name_ = base::format("127.0.0.1:{}", ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~TestServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void serve() {
    while (true) {
      const base::UniqueFd peer(::accept(listener_.get(), nullptr, nullptr));
      if (!peer.valid()) return;
      net::FrameReader reader(100'000);
      for (const std::string& answer : answers_) {
        if (!take(peer.get(), reader)) break;
        (void)::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
      while (!answers_.empty() && take(peer.get(), reader)) {
      }
    }
  }
  static bool take(int peer, net::FrameReader& reader) {
    while (true) {
      const auto frame = reader.next();
      if (!frame.ok()) return false;
      if (*frame) return true;
      char buffer[4096];
      const ssize_t got = ::recv(peer, buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      reader.feed({buffer, static_cast<std::size_t>(got)});
    }
  }

  const std::vector<std::string> answers_;
  base::UniqueFd listener_;
  std::string name_;
  std::thread thread_;
};

// Says "one", then "two", which is the last.
class TwoSteps final : public Login {
 public:
  void respond(const std::string& challenge,
               std::function<void(base::Result<std::string>)> answered) override {
    if (challenge == "wrong") return answered(base::unavailable("nobody there"));
    answered(std::string(++steps_ == 1 ? "one" : "two"));
  }
  [[nodiscard]] bool has_answered() const override { return steps_ == 2; }
  base::Result<> finish(const std::string& token) override {
    if (token == "proof" || token.empty()) return {};
    return base::unavailable("no proof");
  }

 private:
  int steps_ = 0;
};

struct Told {
  SessionState state = SessionState::kConnecting;
  std::string reason{};
};

// The first state that is not kConnecting.
Told outcome(const std::vector<std::string>& answers, bool logs_in = true) {
  const TestServer server(answers);
  net::EventLoop loop;
  Session::Options options{.servers = {server.name()}};
  if (logs_in) options.login = [](const std::string&) { return std::make_unique<TwoSteps>(); };
  Told told;
  std::unique_ptr<Session> session;
  auto opened = Session::open(loop, options, [&](SessionState state, const std::string& reason) {
    if (state == SessionState::kConnecting) return;
    told = {state, reason.empty() ? "" : reason.substr(reason.find(": ") + 2)};
    // Without a login it is connected, and learns what is wanted by its first request.
    if (state == SessionState::kConnected && !logs_in) {
      told.state = SessionState::kConnecting;
      session->send({Operation::Verb::kLook, {.path = "/"}}, [](const ServerAnswer&) {});
    }
  });
  EXPECT_TRUE(opened.ok());
  session = *std::move(opened);
  EXPECT_TRUE(loop.run_until([&] { return told.state != SessionState::kConnecting; },
                             std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  return told;
}

TEST(Session, IsConnectedOnceItHasLoggedIn) {
  EXPECT_EQ(outcome({welcome(), token_reply(1, "challenge"), token_reply(2, "proof")}).state,
            SessionState::kConnected);
}

// The last word of GSSAPI is empty.
TEST(Session, TheLastWordOfALoginMayBeEmpty) {
  EXPECT_EQ(outcome({welcome(), token_reply(1, "challenge"), token_reply(2, "")}).state,
            SessionState::kConnected);
}

TEST(Session, ALoginThatFailsIsARefusalWithItsReason) {
  const auto refused = [](const std::vector<std::string>& answers) {
    const Told told = outcome(answers);
    EXPECT_EQ(told.state, SessionState::kRefused);
    return told.reason;
  };
  EXPECT_EQ(refused({welcome(), refusal(1, -115)}), "it refuses the job's login");
  EXPECT_EQ(refused({welcome(), token_reply(1, "challenge"), refusal(2, -115)}),
            "it refuses the job's login");
  EXPECT_EQ(refused({welcome(), token_reply(1, "")}), "it does not answer a login by SASL");
  EXPECT_EQ(refused({welcome(), token_reply(1, "wrong")}), "nobody there");
  EXPECT_EQ(refused({welcome(), token_reply(1, "challenge"), token_reply(2, "other")}), "no proof");
}

TEST(Session, AServerThatEndsTheConnectionMayTakeOnlyTls) {
  const TestServer server({});
  net::EventLoop loop;
  std::string told;
  const auto session =
      Session::open(loop, {.servers = {server.name()}}, [&](SessionState, const std::string& why) {
        if (told.empty()) told = why;
      });
  EXPECT_TRUE(loop.run_until([&] { return !told.empty(); },
                             std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_THAT(told, testing::EndsWith("; it may take only TLS (zookeeper.tls)"));
}

TEST(Session, AServerThatDemandsALoginIsTold) {
  const Told told = outcome({welcome(), refusal(1, -124)}, false);
  EXPECT_EQ(told.state, SessionState::kRefused);
  EXPECT_THAT(told.reason, testing::StartsWith("it demands a login by SASL"));
}

TEST(Servers, HaveAHostAndAPort) {
  EXPECT_EQ(parse_server("zk1:2182"), (ServerAddress{"zk1", "2182"}));
  EXPECT_EQ(parse_server("[fd00::5]:2182"), (ServerAddress{"fd00::5", "2182"}));
}

TEST(Servers, WithoutAPortItIsTheOneOfZooKeeper) {
  EXPECT_EQ(parse_server("127.0.0.1"), (ServerAddress{"127.0.0.1", "2181"}));
  EXPECT_EQ(parse_server("[::1]"), (ServerAddress{"::1", "2181"}));
}

TEST(Servers, AreWrittenAsTheyAreRead) {
  for (const char* text : {"zk1:2182", "[fd00::5]:2182"}) {
    EXPECT_EQ(to_string(parse_server(text)), text);
  }
}

}  // namespace
}  // namespace gangrun::zookeeper
