#include "wire/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "agents/server.h"
#include "base/format.h"
#include "job/test_tasks.h"
#include "net/client.h"
#include "wire/agent_session.h"
#include "wire/paths.h"
#include "wire/rest_client.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ControlTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto address = control.listen("127.0.0.1");
    ASSERT_TRUE(address.ok()) << address.error().message;
    endpoint = net::Endpoint::on_tls("127.0.0.1", address->port, address->fingerprint);
  }

  net::HttpResponse ask(const std::string& method, const std::string& path, const std::string& body,
                        const std::optional<std::string>& token = wire::kJobSecret) {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (token) request.headers.add("Authorization", "Bearer " + *token);
    auto response = wire::while_serving(
        loop, [&] { return net::request(endpoint, request, wire::test_deadline()); });
    if (!response.ok()) {
      ADD_FAILURE() << method << " " << path << ": " << response.error().message;
      return {};
    }
    return *std::move(response);
  }

  base::Result<> call(const job::Address& master, int attempt) {
    return wire::while_serving(loop, [&] {
      return wire::call_back(endpoint, base::Secret(wire::kJobSecret), master, attempt,
                             wire::test_deadline());
    });
  }

  net::EventLoop loop;
  wire::LogRecorder log;
  std::vector<job::Address> masters;
  net::Endpoint endpoint;
  wire::ControlServer control{loop, base::Secret(wire::kJobSecret),
                              [this](const job::Address& master) { masters.push_back(master); },
                              log};
};

TEST_F(ControlTest, WhoDoesNotKnowTheSecretLearnsAndChangesNothing) {
  const std::string body = R"({"host":"h","port":1,"attempt":2})";
  for (const std::string path : {"/v1/master", "/v1/status", "/"}) {
    for (const std::string method : {"GET", "PUT", "POST"}) {
      for (const std::optional<std::string>& token : std::vector<std::optional<std::string>>{
               {}, "", "wrong", wire::kJobSecret + "0", wire::kJobSecret.substr(1)}) {
        const auto response = ask(method, path, body, token);
        EXPECT_EQ(response.status, 401) << method << " " << path;
        EXPECT_EQ(response.body,
                  R"({"error":{"code":"unauthenticated","message":"not authorized"}})");
      }
    }
  }
  EXPECT_THAT(masters, IsEmpty());
  // Told once, and without any of the tokens.
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_THAT(log.lines[0], HasSubstr("refused a request by TLS"));
  EXPECT_THAT(log.lines[0], Not(HasSubstr("wrong")));
  EXPECT_THAT(log.lines[0], Not(HasSubstr(wire::kJobSecret)));
}

TEST_F(ControlTest, ThereIsNoSessionToBeHad) {
  for (const std::string token : {"wrong", wire::kJobSecret.c_str()}) {
    std::optional<base::Code> code;
    const net::Call connecting = net::connect_channel(
        loop, endpoint, std::string(wire::kMasterPath),
        net::Headers{{"Authorization", "Bearer " + token}}, wire::test_deadline(),
        [&](auto channel) { code = channel.error().code; });
    ASSERT_TRUE(loop.run_until([&] { return code.has_value(); }, wire::test_deadline()));
    EXPECT_EQ(*code,
              token == wire::kJobSecret ? base::Code::kNotFound : base::Code::kUnauthenticated);
  }
}

TEST_F(ControlTest, ACommandIsTakenFromWhoKnowsTheSecretOnly) {
  std::optional<base::Error> refused;
  int taken = 0;
  EXPECT_EQ(ask("GET", "/v1/exec", "").status, 426) << "not without a channel";
  const auto code_for = [&](const std::string& token) {
    std::optional<base::Code> code;
    const net::Call connecting = net::connect_channel(
        loop, endpoint, std::string(wire::kExecPath),
        net::Headers{{"Authorization", "Bearer " + token}}, wire::test_deadline(),
        [&](auto channel) { code = channel.ok() ? base::Code::kCancelled : channel.error().code; });
    EXPECT_TRUE(loop.run_until([&] { return code.has_value(); }, wire::test_deadline()));
    return code;
  };
  EXPECT_EQ(code_for(wire::kJobSecret), base::Code::kNotFound) << "nobody takes commands";
  control.serve_execs({.refusal = [&] { return refused; },
                       .take = [&](std::unique_ptr<net::Channel>) { ++taken; }});
  EXPECT_EQ(code_for("wrong"), base::Code::kUnauthenticated);
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(code_for(wire::kJobSecret), base::Code::kCancelled);
  EXPECT_TRUE(loop.run_until([&] { return taken == 1; }, wire::test_deadline()));
  refused = base::Error{base::Code::kFailedPrecondition, "no process of the task runs"};
  EXPECT_NE(code_for(wire::kJobSecret), base::Code::kCancelled);
  EXPECT_EQ(taken, 1);
}

TEST_F(ControlTest, AMasterThatWasFollowedIsRefused) {
  ASSERT_TRUE(call({"node-3", 4000}, 2).ok());
  ASSERT_TRUE(call({"node-3", 4000}, 2).ok());  // again: it may not have had the answer
  ASSERT_TRUE(call({"fd00::4", 4001}, 4).ok());
  const auto late = call({"node-3", 4000}, 3);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(late.error().message, HasSubstr("master 3 has been followed by 4"));
  EXPECT_EQ(ask("PUT", "/v1/master", R"({"host":"node-3","port":4000,"attempt":1})").status, 409);
  EXPECT_THAT(masters, ElementsAre(job::Address{"node-3", 4000}, job::Address{"node-3", 4000},
                                   job::Address{"fd00::4", 4001}));
}

TEST_F(ControlTest, WrongRequestsAreTold) {
  struct Row {
    std::string body, told;
  };
  const Row table[] = {{"", "not JSON"},
                       {"[]", "must be a JSON object"},
                       {R"({"host":"h","port":1})", "attempt"},
                       {R"({"host":"h","attempt":1})", "port"},
                       {R"({"port":1,"attempt":1})", "host"},
                       {R"({"host":"h","port":1,"attempt":1,"x":1})", "unknown member"},
                       {R"({"host":"","port":1,"attempt":1})", "not an address"},
                       {R"({"host":"h/x","port":1,"attempt":1})", "not an address"},
                       {R"({"host":"[::1]","port":1,"attempt":1})", "not an address"},
                       {R"({"host":"h","port":0,"attempt":1})", "not an address"},
                       {R"({"host":"h","port":65536,"attempt":1})", "port"},
                       {R"({"host":"h","port":1,"attempt":0})", "attempt"},
                       {R"({"host":"h","port":1,"attempt":1000001})", "attempt"},
                       {R"({"host":7,"port":1,"attempt":1})", "host"}};
  for (const Row& row : table) {
    const auto response = ask("PUT", "/v1/master", row.body);
    EXPECT_EQ(response.status, 400) << row.body;
    EXPECT_THAT(response.body, HasSubstr(row.told)) << row.body;
  }
  EXPECT_EQ(ask("GET", "/v1/master", "").status, 405);
  EXPECT_EQ(ask("PUT", "/v1/status", "").status, 404);
  EXPECT_EQ(ask("PUT", "/v1/master", std::string(wire::kMaxRequestBytes + 1, ' ')).status, 413);
  EXPECT_THAT(masters, IsEmpty());
}

// A name, or what is no address of this machine: 203.0.113.0/24 is nobody's.
TEST_F(ControlTest, ListensEverywhereWhereItsHostIsNoAddressOfThisMachine) {
  for (const std::string host : {"a-name", "203.0.113.7"}) {
    wire::ControlServer other(
        loop, base::Secret(wire::kJobSecret),
        [this](const job::Address& master) { masters.push_back(master); }, log);
    const auto address = other.listen(host);
    ASSERT_TRUE(address.ok()) << address.error().message;
    EXPECT_NE(address->fingerprint, endpoint.fingerprint);
    endpoint = net::Endpoint::on_tls("127.0.0.2", address->port, address->fingerprint);
    EXPECT_TRUE(call({"h", 1}, 1).ok());
  }
  EXPECT_EQ(masters.size(), 2U);
}

// One agent, and masters of its job that come one after another, each where it likes.
class MovingMasterTest : public testing::Test {
 protected:
  void serve(const std::string& host) {
    server.emplace(
        loop, base::Secret(wire::kJobSecret), DeskOptions{milliseconds(300), seconds(60)},
        ServerCallbacks{[] { return job::JobStatus{}; }, [](bool, const std::string&) {}}, log);
    server->serve_agents([this](const DeskEvent& event) {
      if (!std::holds_alternative<Heartbeat>(event)) events.push_back(event);
    });
    server->expect(job::kWorker0, 1);
    server->publish({1, {{"worker", {wire::kTaskHome}}}});
    const auto port = server->listen_tls(host, 0, certificate);
    ASSERT_TRUE(port.ok()) << port.error().message;
    master = {host, *port};
  }

  void open_agent() {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [this](const wire::StartMessage&) {
      ++starts;
      session->started(1234);
    };
    callbacks.on_stop = [](milliseconds) {};
    callbacks.on_end = [](milliseconds) {};
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [this] { ends.emplace_back("outdated"); };
    callbacks.on_lost = [this](const std::string& reason) { ends.push_back(reason); };
    callbacks.on_refused = [this](const std::string& reason) { ends.push_back(reason); };
    const auto address = control.listen("127.0.0.1");
    ASSERT_TRUE(address.ok()) << address.error().message;
    session = std::make_unique<wire::AgentSession>(
        loop, endpoint_of(master), base::Secret(wire::kJobSecret),
        wire::AgentIdentity{job::kWorker0, 1, wire::kTaskHome, 99, {}, {}, *address},
        std::move(callbacks));
    session->open();
  }

  [[nodiscard]] net::Endpoint endpoint_of(const job::Address& address) const {
    return net::Endpoint::on_tls(address.host, address.port, certificate.fingerprint);
  }
  // As the master does that has the report.
  base::Result<> call_agent(const wire::ControlAddress& address, int attempt) {
    return wire::while_serving(loop, [&] {
      return wire::call_back(net::Endpoint::on_tls("127.0.0.1", address.port, address.fingerprint),
                             base::Secret(wire::kJobSecret), master, attempt,
                             wire::test_deadline());
    });
  }
  void wait(const std::string& what, const std::function<bool()>& done) {
    EXPECT_TRUE(loop.run_until(done, wire::test_deadline())) << "waited for: " << what;
  }
  void wait_for_events(std::size_t count) {
    wait(base::format("{} events", count), [&] { return events.size() >= count; });
  }

  net::EventLoop loop;
  wire::LogRecorder log;
  const net::JobCertificate certificate = *net::make_job_certificate("test", std::chrono::hours(1));
  std::vector<DeskEvent> events;
  std::vector<std::string> ends;
  int starts = 0;
  job::Address master;
  std::optional<Server> server;
  std::unique_ptr<wire::AgentSession> session;
  wire::ControlServer control{
      loop, base::Secret(wire::kJobSecret),
      [this](const job::Address& address) { session->set_endpoint(endpoint_of(address)); }, log};
};

TEST_F(MovingMasterTest, TheRunGoesOnUnderAMasterAtAnotherAddress) {
  serve("127.0.0.1");
  open_agent();
  wait_for_events(1);
  const auto reported = std::get<PlaceReported>(events[0]);
  ASSERT_TRUE(reported.control);
  ASSERT_TRUE(server->send_start(job::kWorker0, 1, 0));
  wait_for_events(2);

  server.reset();
  wait("the loss", [&] { return !session->is_attached(); });
  events.clear();
  serve("127.0.0.2");
  ASSERT_TRUE(call_agent(*reported.control, 2).ok());
  wait_for_events(2);
  const auto back = std::get<AgentReattached>(events[0]);
  EXPECT_EQ(back.state, wire::AgentState::kRunning);
  EXPECT_EQ(back.user_pid, 1234);
  EXPECT_EQ(back.control, reported.control);
  EXPECT_EQ(events[1], DeskEvent(ProcessStarted{job::kWorker0, 1, 1, 1234}));
  EXPECT_EQ(starts, 1);
  EXPECT_THAT(ends, IsEmpty());
}

// The old one only seemed dead: its sessions are open, and it may answer them.
TEST_F(MovingMasterTest, AMasterThatStillAnswersIsLeftForTheOneThatFollowsIt) {
  serve("127.0.0.1");
  open_agent();
  wait_for_events(1);
  const wire::ControlAddress address = *std::get<PlaceReported>(events[0]).control;
  net::Server follower(loop);
  const auto port = follower.listen_tls("127.0.0.2", 0, certificate);
  ASSERT_TRUE(port.ok());
  std::vector<std::unique_ptr<net::Channel>> channels;
  follower.on_channel([&](const net::HttpRequest&, std::unique_ptr<net::Channel> channel) {
    channels.push_back(std::move(channel));
  });
  master = {"127.0.0.2", *port};
  ASSERT_TRUE(call_agent(address, 2).ok());
  wait("the session with the new one", [&] { return !channels.empty(); });
  wait_for_events(2);
  EXPECT_TRUE(std::holds_alternative<SessionEnded>(events[1]));
  EXPECT_FALSE(session->is_attached());
  EXPECT_THAT(ends, IsEmpty());
}

}  // namespace
}  // namespace gangrun::agents
