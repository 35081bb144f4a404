#include "agents/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/format.h"
#include "base/json.h"
#include "job/described.h"
#include "job/test_tasks.h"
#include "net/client.h"
#include "wire/messages.h"
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

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    server.serve_agents([this](DeskEvent event) { events.push_back(std::move(event)); });
    const auto listening = server.listen_unix(folder / "socket");
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    endpoint = net::Endpoint::on_unix(folder / "socket");
    server.expect(job::kWorker0, 2);
    server.expect({"ps", 0}, 1);
  }

  net::HttpResponse ask(const std::string& method, const std::string& path,
                        const std::string& body = "",
                        const std::map<std::string, std::string>& query = {},
                        std::optional<std::string> token = wire::kJobSecret) {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = query;
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

  static std::string code_of(const net::HttpResponse& response) {
    const auto json = base::parse_json(response.body, 10'000);
    if (!json.ok() || !json->contains("error")) return "no error: " + response.body;
    return *base::json_member<std::string>(json->at("error"), "code");
  }

  base::Result<std::unique_ptr<net::Channel>> open_channel(const std::string& path,
                                                           const std::string& token) {
    std::optional<base::Result<std::unique_ptr<net::Channel>>> opened;
    const net::Call connecting = net::connect_channel(
        loop, endpoint, path, net::Headers{{"Authorization", "Bearer " + token}},
        wire::test_deadline(), [&](auto channel) { opened.emplace(std::move(channel)); });
    loop.run_until([&] { return opened.has_value(); }, wire::test_deadline());
    if (!opened) return base::internal("the test's time is over");
    return *std::move(opened);
  }

  job::ClusterSpec spec(int generation) {
    return {generation, {{"ps", {{"h", 1}}}, {"worker", {wire::kTaskHome}}}};
  }

  wire::TestFolder folder;
  net::EventLoop loop;
  wire::LogRecorder log;
  std::vector<DeskEvent> events;
  std::vector<std::string> stops;
  std::vector<cluster::Question> questions;
  job::JobStatus status;
  net::Endpoint endpoint;
  Server server{loop, base::Secret(wire::kJobSecret), DeskOptions{milliseconds(200), seconds(60)},
                ServerCallbacks{
                    [this] { return status; },
                    [this](bool at_once, const std::string& by) {
                      stops.push_back(base::format("{} {}", at_once, by));
                    },
                    [this](const cluster::Question& question, const cluster::OnAnswer& on_answer) {
                      questions.push_back(question);
                      on_answer({{{job::kWorker0, {{"seen", 1}}, ""}}});
                    }},
                log};
};

TEST_F(ServerTest, WhoDoesNotKnowTheSecretLearnsNothing) {
  for (const std::string path :
       {"/v1/status", "/v1/cluster-spec", "/v1/tasks/worker/0", "/v1/stop", "/v1/notice", "/v1/ask",
        "/v1/lines", "/v1/outputs", "/v1/join", "/v1/rendezvous/a/b", "/v1/agent", "/", "/x"}) {
    for (const std::string method : {"GET", "PUT", "POST", "DELETE"}) {
      for (const std::optional<std::string>& token : std::vector<std::optional<std::string>>{
               {}, "", "wrong", wire::kJobSecret + "0", wire::kJobSecret.substr(1)}) {
        const auto response = ask(method, path, R"({"attempt":2,"address":"h:1"})", {}, token);
        EXPECT_EQ(response.status, 401) << method << " " << path;
        EXPECT_EQ(response.body,
                  R"({"error":{"code":"unauthenticated","message":"not authorized"}})");
      }
    }
  }
  EXPECT_EQ(open_channel("/v1/agent", "wrong").error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(events, IsEmpty());
  EXPECT_THAT(stops, IsEmpty());
  // Told once, and without any of the tokens.
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_THAT(log.lines[0], Not(HasSubstr("wrong")));
  EXPECT_THAT(log.lines[0], Not(HasSubstr(wire::kJobSecret)));
}

TEST_F(ServerTest, LinesAreGivenFromANumberOn) {
  server.add_line(job::kWorker0, false, "one");
  server.add_line(job::kWorker0, true, "two");
  const auto lines = wire::while_serving(loop, [&] {
    return wire::fetch_lines(endpoint, base::Secret(wire::kJobSecret), 1, {},
                             wire::test_deadline());
  });
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(lines->next, 2);
  EXPECT_THAT(lines->lines, ElementsAre(wire::KeptLine{job::kWorker0, true, "two"}));
  EXPECT_TRUE(server.lines_are_told());
  server.add_line(job::kWorker0, false, "three");
  EXPECT_FALSE(server.lines_are_told());
  EXPECT_EQ(ask("POST", "/v1/lines").status, 405);
  EXPECT_EQ(ask("GET", "/v1/lines", "", {{"from", "-1"}}).status, 400);
  EXPECT_EQ(ask("GET", "/v1/lines", "", {{"wait_ms", "99999999"}}).status, 400);
}

TEST_F(ServerTest, WhoWaitsForALineGetsItWhenItComes) {
  const net::Timer late =
      loop.after(milliseconds(50), [this] { server.add_line(job::kWorker0, false, "late"); });
  const auto lines = wire::while_serving(loop, [&] {
    return wire::fetch_lines(endpoint, base::Secret(wire::kJobSecret), 0, wire::test_deadline(),
                             wire::test_deadline() + seconds(2));
  });
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_THAT(lines->lines, ElementsAre(wire::KeptLine{job::kWorker0, false, "late"}));
  // In vain, and with a number from another master's time.
  EXPECT_THAT(ask("GET", "/v1/lines", "", {{"from", "1"}, {"wait_ms", "20"}}).body,
              HasSubstr(R"("lines":[])"));
  EXPECT_THAT(ask("GET", "/v1/lines", "", {{"from", "9"}, {"wait_ms", "20000"}}).body,
              HasSubstr(R"("next":1)"));
}

TEST_F(ServerTest, ChannelsAreForAgentsOnly) {
  EXPECT_EQ(open_channel("/v1/status", wire::kJobSecret).error().code, base::Code::kNotFound);
  EXPECT_EQ(ask("GET", "/v1/agent").status, 426);
}

TEST_F(ServerTest, WrongPathsAndMethodsAreTold) {
  struct Row {
    std::string method, path;
    int status;
    std::string allow;
  };
  const Row table[] = {{"GET", "/", 404, ""},
                       {"GET", "/v2/status", 404, ""},
                       {"GET", "/v1/status/", 404, ""},
                       {"GET", "/v1/tasks/", 404, ""},
                       {"GET", "/v1/tasks/worker", 404, ""},
                       {"GET", "/v1/tasks/worker/0/x", 404, ""},
                       {"GET", "/v1/tasks/worker/x", 404, ""},
                       {"GET", "/v1/tasks/worker/-1", 404, ""},
                       {"GET", "/v1/tasks/worker/9", 404, ""},
                       {"PUT", "/v1/status", 405, "GET"},
                       {"POST", "/v1/cluster-spec", 405, "GET"},
                       {"GET", "/v1/stop", 405, "POST"},
                       {"GET", "/v1/notice", 405, "POST"},
                       {"DELETE", "/v1/tasks/worker/0", 405, "GET, PUT"}};
  for (const Row& row : table) {
    const auto response = ask(row.method, row.path);
    EXPECT_EQ(response.status, row.status) << row.method << " " << row.path;
    EXPECT_EQ(response.headers.get("Allow").value_or(""), row.allow) << row.path;
    EXPECT_EQ(code_of(response), row.status == 404 ? "not_found" : "method_not_allowed");
  }
}

TEST_F(ServerTest, APlaceIsReportedOnceByRest) {
  const std::string path = "/v1/tasks/worker/0";
  const std::string good = R"({"attempt":2,"address":"10.0.0.7:4711"})";
  for (const std::string bad :
       {"", "x", "[]", "{}", R"({"attempt":2})", R"({"attempt":"2","address":"h:1"})",
        R"({"attempt":2,"address":"h"})", R"({"attempt":2,"address":"h:1","more":1})"}) {
    const auto response = ask("PUT", path, bad);
    EXPECT_EQ(response.status, 400) << bad;
    EXPECT_EQ(code_of(response), "invalid_argument") << bad;
  }
  EXPECT_EQ(ask("PUT", path, R"({"attempt":1,"address":"h:1"})").status, 409);
  EXPECT_EQ(ask("PUT", "/v1/tasks/worker/7", good).status, 404);
  EXPECT_EQ(ask("GET", path).body,
            R"({"task":"worker:0","attempt":2,"address":null,"connected":false})");
  EXPECT_THAT(events, IsEmpty());

  const auto taken = ask("PUT", path, good);
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(taken.body,
            R"({"task":"worker:0","attempt":2,"address":"10.0.0.7:4711","connected":false})");
  EXPECT_EQ(code_of(ask("PUT", path, good)), "already_exists");
  EXPECT_THAT(events, ElementsAre(DeskEvent(PlaceReported{job::kWorker0, 2, wire::kTaskHome, 0})));
}

TEST_F(ServerTest, TheClusterSpecIsWaitedFor) {
  const std::string path = "/v1/cluster-spec";
  EXPECT_EQ(ask("GET", path).status, 204);
  EXPECT_EQ(ask("GET", path, "", {{"wait", "1"}}).status, 204);  // after the wait
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"wait", "61"},
                                                        {"wait", "-1"},
                                                        {"wait", "x"},
                                                        {"generation", "0"},
                                                        {"generation", ""}}) {
    const auto response = ask("GET", path, "", {{key, value}});
    EXPECT_EQ(response.status, 400) << key << "=" << value;
    EXPECT_THAT(response.body, HasSubstr("must be a whole number from")) << response.body;
  }
  server.publish(spec(1));
  EXPECT_EQ(ask("GET", path).body, wire::encode_cluster_spec(spec(1)));
  EXPECT_EQ(ask("GET", path, "", {{"generation", "2"}}).status, 204);

  // One who waits gets it when it is published.
  const net::Timer later = loop.after(milliseconds(50), [&] { server.publish(spec(2)); });
  const auto fetched = wire::while_serving(loop, [&] {
    return wire::fetch_cluster_spec(endpoint, base::Secret(wire::kJobSecret), 2,
                                    wire::test_deadline());
  });
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(*fetched, spec(2));
}

TEST_F(ServerTest, WhoWaitsTooLongForTheSpecIsToldSo) {
  const auto fetched = wire::while_serving(loop, [&] {
    return wire::fetch_cluster_spec(endpoint, base::Secret(wire::kJobSecret), 3,
                                    loop.now() + seconds(2));
  });
  ASSERT_FALSE(fetched.ok());
  EXPECT_EQ(fetched.error().code, base::Code::kDeadlineExceeded) << fetched.error().message;
}

TEST_F(ServerTest, StatusAndStopAreTheMasters) {
  status.id = "job-1";
  status.name = "wine";
  const auto fetched = wire::while_serving(loop, [&] {
    return wire::fetch_status(endpoint, base::Secret(wire::kJobSecret), wire::test_deadline());
  });
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(*fetched, status);

  const auto stopped = wire::while_serving(loop, [&] {
    return wire::request_stop(endpoint, base::Secret(wire::kJobSecret), true, "ana",
                              wire::test_deadline());
  });
  EXPECT_TRUE(stopped.ok());
  EXPECT_EQ(ask("POST", "/v1/stop", "{}").status, 202);
  EXPECT_EQ(ask("POST", "/v1/stop", "").status, 400);
  EXPECT_EQ(ask("POST", "/v1/stop", R"({"at_once":1})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/stop", R"({"by":""})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/stop", R"({"now":true})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/stop", std::string(wire::kMaxRequestBytes + 1, ' ')).status, 413);
  EXPECT_THAT(stops, ElementsAre("true ana", "false a request"));
}

TEST_F(ServerTest, AQuestionIsHandedOnAndAnswered) {
  cluster::Question question{.kind = "stacks", .about = {{"depth", 3}}, .tasks = {{"worker", 7}}};
  const auto answer = wire::while_serving(loop, [&] {
    return wire::ask(endpoint, base::Secret(wire::kJobSecret), question, wire::test_deadline());
  });
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_EQ(answer->tasks.size(), 1U);
  EXPECT_EQ(answer->tasks[0].said.at("seen"), 1);
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0].kind, "stacks");
  EXPECT_EQ(questions[0].about.at("depth"), 3);
  EXPECT_EQ(questions[0].tasks, question.tasks);
  EXPECT_EQ(questions[0].limit, seconds(5));
  for (const std::string body :
       {"", "{}", "[]", R"({"kind":"","about":{},"tasks":[],"limit_ms":1})",
        R"({"kind":"a","about":[],"tasks":[],"limit_ms":1})",
        R"({"kind":"a","about":{},"tasks":[1],"limit_ms":1})",
        R"({"kind":"a","about":{},"tasks":[],"limit_ms":0})"}) {
    EXPECT_EQ(ask("POST", "/v1/ask", body).status, 400) << body;
  }
  EXPECT_EQ(ask("GET", "/v1/ask").status, 405);
  EXPECT_EQ(questions.size(), 1U);
}

// As commands of earlier versions give one.
TEST_F(ServerTest, ANoticeIsAQuestion) {
  EXPECT_EQ(ask("POST", "/v1/notice", R"({"by":"SIGUSR1"})").status, 202);
  EXPECT_EQ(ask("POST", "/v1/notice", "{}").status, 202);
  EXPECT_EQ(ask("POST", "/v1/notice", R"({"by":""})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/notice", R"({"now":true})").status, 400);
  EXPECT_EQ(
      ask("POST", "/v1/notice", R"({"by":"ana\n2026 info the job has succeeded\u001b[2J"})").status,
      202);
  std::vector<std::string> by;
  for (const cluster::Question& question : questions) {
    EXPECT_EQ(question.kind, cluster::kNotice);
    by.push_back(cluster::notice_by(question));
  }
  // Whoever asks has no line of his own in the log.
  EXPECT_THAT(by,
              ElementsAre("SIGUSR1", "a request", "ana\\n2026 info the job has succeeded\\x1b[2J"));
  EXPECT_THAT(stops, IsEmpty());
}

TEST_F(ServerTest, TheClientToldOfAWrongSecret) {
  const auto fetched = wire::while_serving(loop, [&] {
    return wire::fetch_status(endpoint, base::Secret("guess"), wire::test_deadline());
  });
  ASSERT_FALSE(fetched.ok());
  EXPECT_EQ(fetched.error().code, base::Code::kUnauthenticated);
  EXPECT_THAT(fetched.error().message, HasSubstr("not authorized"));
  EXPECT_THAT(fetched.error().message, Not(HasSubstr("guess")));
}

TEST_F(ServerTest, ASessionThatStaysSilentIsClosed) {
  auto channel = open_channel("/v1/agent", wire::kJobSecret);
  ASSERT_TRUE(channel.ok()) << channel.error().message;
  std::vector<wire::MasterMessage> heard;
  std::optional<base::Error> closed;
  (*channel)->on_closed([&](base::Error reason) { closed = std::move(reason); });
  (*channel)->on_message([&](std::string_view frame) {
    if (auto message = wire::decode_master_message(frame); message.ok()) heard.push_back(*message);
  });
  (*channel)->send(encode(wire::AgentMessage(wire::ReportMessage{
      job::kWorker0, 2, wire::kTaskHome, 99, wire::AgentState::kWaiting, 0, 0, 0, {}})));
  ASSERT_TRUE(loop.run_until([&] { return closed.has_value(); }, wire::test_deadline()));
  EXPECT_THAT(closed->message, HasSubstr("no heartbeat for too long"));
  EXPECT_THAT(heard, ElementsAre(testing::VariantWith<wire::WelcomeMessage>(testing::_)));
  EXPECT_THAT(events, ElementsAre(testing::VariantWith<PlaceReported>(testing::_),
                                  testing::VariantWith<SessionEnded>(testing::_)));
}

TEST_F(ServerTest, TheControlAddressOfAnAgentIsToldOfItsTask) {
  const auto control = [this] {
    const base::Json told = *base::parse_json(ask("GET", "/v1/tasks/worker/0").body, 1000);
    return told.value("control", base::Json());
  };
  EXPECT_EQ(control(), nullptr);
  auto channel = open_channel("/v1/agent", wire::kJobSecret);
  ASSERT_TRUE(channel.ok()) << channel.error().message;
  wire::ReportMessage report{
      job::kWorker0, 2, wire::kTaskHome, 99, wire::AgentState::kWaiting, 0, 0, 0, {}};
  report.control = wire::ControlAddress{4713, std::string(wire::kFingerprintDigits, 'a')};
  (*channel)->send(encode(wire::AgentMessage(report)));
  ASSERT_TRUE(loop.run_until([&] { return !events.empty(); }, wire::test_deadline()));
  EXPECT_EQ(control(), (base::Json{{"host", wire::kTaskHome.host},
                                   {"port", 4713},
                                   {"fingerprint", report.control->fingerprint}}));
}

TEST_F(ServerTest, OverTlsTheSameHolds) {
  const auto certificate = net::make_job_certificate("gangrun", std::chrono::hours(1));
  ASSERT_TRUE(certificate.ok());
  const auto port = server.listen_tls("127.0.0.1", 0, *certificate);
  ASSERT_TRUE(port.ok()) << port.error().message;
  endpoint = net::Endpoint::on_tls("127.0.0.1", *port, certificate->fingerprint);
  server.publish(spec(1));
  EXPECT_EQ(ask("GET", "/v1/cluster-spec").body, wire::encode_cluster_spec(spec(1)));
  EXPECT_EQ(ask("GET", "/v1/cluster-spec", "", {}, "wrong").status, 401);
  EXPECT_EQ(ask("GET", "/v1/cluster-spec", "", {}, std::nullopt).status, 401);
  EXPECT_EQ(open_channel("/v1/agent", "wrong").error().code, base::Code::kUnauthenticated);
  EXPECT_TRUE(open_channel("/v1/agent", wire::kJobSecret).ok());
  EXPECT_EQ(log.lines.size(), 1U);

  // Another server than the one whose certificate is known gets nothing, not even the token.
  const auto other = net::make_job_certificate("gangrun", std::chrono::hours(1));
  endpoint.fingerprint = other->fingerprint;
  const auto refused = wire::while_serving(loop, [&] {
    return wire::fetch_status(endpoint, base::Secret(wire::kJobSecret), wire::test_deadline());
  });
  EXPECT_EQ(refused.error().code, base::Code::kUnauthenticated) << refused.error().message;
}

TEST_F(ServerTest, OnlyWhereTasksComeByThemselvesCanTheyJoin) {
  const std::string body = base::dump_json(base::to_json(
      wire::JoinRequest{{"worker", 0}, 0, "executor 1", "10.0.0.7", "as it is called there"}));
  EXPECT_EQ(ask("POST", "/v1/join", body).status, 404);
  std::vector<wire::JoinRequest> came;
  std::optional<std::string> over;
  Server open(
      loop, base::Secret(wire::kJobSecret), DeskOptions{},
      ServerCallbacks{
          [this] { return status; }, [](bool, const std::string&) {}, {}, [&over] { return over; }},
      log);
  open.serve_joins([&came](const wire::JoinRequest& request) {
    came.push_back(request);
    return wire::JoinAnswer{wire::JoinState::kThere, {}, "somebody came first"};
  });
  endpoint = net::Endpoint::on_unix(folder / "open.sock");
  ASSERT_TRUE(open.listen_unix(endpoint.unix_path).ok());
  EXPECT_EQ(ask("POST", "/v1/join", body, {}, "wrong").status, 401);
  EXPECT_EQ(ask("GET", "/v1/join").status, 405);
  EXPECT_EQ(ask("POST", "/v1/join", "{}").status, 400);
  EXPECT_THAT(came, IsEmpty());
  const auto joined = wire::while_serving(loop, [&] {
    return wire::join(endpoint, base::Secret(wire::kJobSecret), {{"worker", 0}, 3, "e", "h", "r"},
                      wire::test_deadline());
  });
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->reason, "somebody came first");
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(came[0].attempt, 3);
  over = "the job has failed";
  const auto late = wire::while_serving(loop, [&] {
    return wire::join(endpoint, base::Secret(wire::kJobSecret), {{"worker", 0}, 3, "e", "h", "r"},
                      wire::test_deadline());
  });
  ASSERT_TRUE(late.ok()) << late.error().message;
  EXPECT_EQ(late->state, wire::JoinState::kJobHasEnded);
  EXPECT_EQ(late->reason, "the job has failed");
  EXPECT_EQ(came.size(), 1U);
}

TEST_F(ServerTest, AKeyIsPutAndReadFromOutside) {
  EXPECT_EQ(ask("GET", "/v1/rendezvous/feed/1").status, 404);
  EXPECT_EQ(ask("PUT", "/v1/rendezvous/feed/1", "end").status, 409);
  server.publish(spec(1));
  EXPECT_EQ(
      ask("PUT", "/v1/rendezvous/feed/1", std::string(wire::kMaxRequestBytes * 8, 'x')).status,
      200);
  EXPECT_EQ(ask("PUT", "/v1/rendezvous/feed", "end").status, 400);
  EXPECT_EQ(ask("GET", "/v1/rendezvous/feed").status, 400);
  EXPECT_EQ(ask("GET", "/v1/rendezvous/feed/2").status, 404);
  EXPECT_EQ(ask("PUT", "/v1/rendezvous/feed/2", "\xff\x01 end").status, 200);
  EXPECT_EQ(ask("GET", "/v1/rendezvous/feed/2").body, "\xff\x01 end");
  EXPECT_EQ(ask("POST", "/v1/rendezvous/feed/2").status, 405);
  EXPECT_EQ(
      ask("PUT", "/v1/rendezvous/feed/1", std::string(wire::kMaxRendezvousValueBytes + 1, 'x'))
          .status,
      413);
}

}  // namespace
}  // namespace gangrun::agents
