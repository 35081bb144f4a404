#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "agents/kept_outputs.h"
#include "agents/server.h"
#include "base/files.h"
#include "base/format.h"
#include "job/test_tasks.h"
#include "net/client.h"
#include "wire/agent_session.h"
#include "wire/paths.h"
#include "wire/rest_client.h"
#include "wire/test_registry.h"

// A server in a pod: agents are there before they are to be let in, and commands fetch outputs.
namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

const base::Secret kSecret(wire::kJobSecret);

class HeldServerTest : public testing::Test {
 protected:
  void SetUp() override {
    server.serve_agents([this](const DeskEvent& event) {
      if (const auto* reported = std::get_if<PlaceReported>(&event)) {
        reports.push_back(job::to_string(reported->task));
      }
    });
    server.expect(job::kWorker0, 1);
    server.hold_agents();
    ASSERT_TRUE(server.listen_unix(folder / "socket").ok());
    endpoint = net::Endpoint::on_unix(folder / "socket");
  }

  std::unique_ptr<wire::AgentSession> agent() {
    wire::AgentSessionCallbacks callbacks;
    callbacks.on_start = [](const wire::StartMessage&) {};
    callbacks.on_stop = [](milliseconds) {};
    callbacks.on_end = [](milliseconds) {};
    callbacks.on_heartbeat = [] { return wire::HeartbeatMessage{}; };
    callbacks.on_outdated_spec = [] {};
    callbacks.on_lost = [](const std::string&) {};
    callbacks.on_refused = [](const std::string&) {};
    auto session = std::make_unique<wire::AgentSession>(
        loop, endpoint, kSecret, wire::AgentIdentity{job::kWorker0, 1, wire::kTaskHome, 99},
        std::move(callbacks));
    session->open();
    return session;
  }
  std::unique_ptr<net::Channel> channel() {
    std::optional<base::Result<std::unique_ptr<net::Channel>>> opened;
    const net::Call connecting = net::connect_channel(
        loop, endpoint, std::string(wire::kAgentPath),
        net::Headers{{"Authorization", "Bearer " + wire::kJobSecret}}, wire::test_deadline(),
        [&](auto it) { opened.emplace(std::move(it)); });
    EXPECT_TRUE(loop.run_until([&] { return opened.has_value(); }, wire::test_deadline()));
    return *std::move(*opened);
  }
  void pass(base::Duration time) {
    loop.run_until([] { return false; }, loop.now() + time);
  }

  wire::TestFolder folder;
  net::EventLoop loop;
  wire::LogRecorder log;
  std::vector<std::string> reports;
  job::JobStatus status;
  net::Endpoint endpoint;
  KeptOutputs outputs{folder / "outputs"};
  Server server{loop, kSecret, DeskOptions{milliseconds(200), seconds(60)},
                ServerCallbacks{.status = [this] { return status; },
                                .stop = [](bool, const std::string&) {},
                                .outputs = &outputs},
                log};
};

TEST_F(HeldServerTest, AnAgentThatIsEarlyHasItsSessionWhenItIsLetIn) {
  const auto early = agent();
  pass(milliseconds(300));
  EXPECT_THAT(reports, IsEmpty());
  EXPECT_FALSE(server.is_connected(job::kWorker0));
  // Commands are served meanwhile.
  const auto told = wire::while_serving(
      loop, [&] { return wire::fetch_status(endpoint, kSecret, wire::test_deadline()); });
  EXPECT_TRUE(told.ok());
  server.let_agents_in();
  EXPECT_THAT(reports, IsEmpty()) << "from inside the call";
  ASSERT_TRUE(
      loop.run_until([&] { return server.is_connected(job::kWorker0); }, wire::test_deadline()));
  EXPECT_THAT(reports, SizeIs(1));
}

TEST_F(HeldServerTest, OneThatWentAwayMeanwhileIsForgotten) {
  agent().reset();
  auto gone = channel();
  gone.reset();
  pass(milliseconds(200));
  server.let_agents_in();
  pass(milliseconds(100));
  EXPECT_EQ(server.session_count(), 0U);
  const auto late = agent();
  EXPECT_TRUE(
      loop.run_until([&] { return server.is_connected(job::kWorker0); }, wire::test_deadline()));
}

TEST_F(HeldServerTest, OneThatTalksWithoutAnAnswerIsSentAway) {
  const auto talker = channel();
  bool is_closed = false;
  talker->on_closed([&](const base::Error&) { is_closed = true; });
  talker->on_message([](std::string_view) {});
  for (std::size_t i = 0; i < kMaxHeldFrames; ++i) talker->send(std::string("{}"));
  pass(milliseconds(100));
  EXPECT_FALSE(is_closed);
  talker->send(std::string("{}"));
  EXPECT_TRUE(loop.run_until([&] { return is_closed; }, wire::test_deadline()));
  const auto large = channel();
  is_closed = false;
  large->on_closed([&](const base::Error&) { is_closed = true; });
  large->on_message([](std::string_view) {});
  large->send(std::string(kMaxHeldBytes + 1, 'x'));
  EXPECT_TRUE(loop.run_until([&] { return is_closed; }, wire::test_deadline()));
}

TEST_F(HeldServerTest, OutputsAreListedReadAndRemoved) {
  std::filesystem::create_directories(folder / "outputs/worker-0/a b");
  const std::string content(wire::kMaxOutputAnswerBytes + 3, 'x');
  ASSERT_TRUE(
      base::write_file_atomically(folder / "outputs/worker-0/a b/%2e+c", content, 0644).ok());
  const auto ask = [&](auto what) { return wire::while_serving(loop, what); };
  const auto list = ask(
      [&] { return wire::fetch_outputs(endpoint, kSecret, "worker-0", wire::test_deadline()); });
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_THAT(list->outputs, SizeIs(1));
  EXPECT_EQ(list->outputs[0].name, "a b/%2e+c");
  EXPECT_EQ(list->outputs[0].bytes, content.size());
  EXPECT_FALSE(list->is_whole);
  std::string read;
  for (const std::size_t bytes : {wire::kMaxOutputAnswerBytes, std::size_t{3}, std::size_t{0}}) {
    const auto part = ask([&] {
      return wire::read_output(endpoint, kSecret, "worker-0", "a b/%2e+c", read.size(),
                               wire::test_deadline());
    });
    ASSERT_TRUE(part.ok()) << part.error().message;
    EXPECT_EQ(part->size(), bytes);
    read += *part;
  }
  EXPECT_EQ(read, content);
  const auto remove = [&] {
    return ask(
        [&] { return wire::remove_outputs(endpoint, kSecret, "worker-0", wire::test_deadline()); });
  };
  // A task that still runs may send more.
  EXPECT_EQ(remove().error().code, base::Code::kAlreadyExists);  // as any 409
  status.state = job::JobState::kSucceeded;
  EXPECT_TRUE(remove().ok());
  const auto rest =
      ask([&] { return wire::fetch_outputs(endpoint, kSecret, "", wire::test_deadline()); });
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(rest->outputs, IsEmpty());
  EXPECT_TRUE(rest->is_whole);
}

}  // namespace
}  // namespace gangrun::agents
