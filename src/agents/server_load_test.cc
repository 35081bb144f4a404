// Agents that do not read, that read little or that talk all the time, beside others that go on as
// ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "agents/server.h"
#include "net/certificate.h"
#include "net/client.h"
#include "wire/paths.h"
#include "wire/test_registry.h"

namespace gangrun::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kPolite = 5;
constexpr int kStalled = 2;
constexpr int kFlooding = 2;
constexpr int kAll = kPolite + kStalled + kFlooding;
constexpr std::size_t kFloodBytes = std::size_t{1} << 20U;  // that wait to be sent, always

class ServerLoadTest : public testing::Test {
 protected:
  struct Peer {
    net::Call connecting;
    std::unique_ptr<net::Channel> channel;
    int starts = 0;
    int alive = 0;
    bool closed = false;
  };

  void SetUp() override {
    server.serve_agents([this](const DeskEvent& event) {
      if (std::holds_alternative<PlaceReported>(event)) ++reported;
      if (const auto* gone = std::get_if<SessionEnded>(&event)) lost.push_back(gone->task);
      if (const auto* lines = std::get_if<LogLines>(&event)) flooded_lines += lines->lines.size();
    });
    auto certificate = net::make_job_certificate("test", std::chrono::hours(1));
    ASSERT_TRUE(certificate.ok());
    for (int index = 0; index < kAll; ++index) server.expect({"worker", index}, 1);
    const auto port = server.listen_tls("127.0.0.1", 0, *certificate);
    ASSERT_TRUE(port.ok()) << port.error().message;
    endpoint = net::Endpoint::on_tls("127.0.0.1", *port, certificate->fingerprint);
    for (int index = 0; index < kAll; ++index) open(index);
    ASSERT_TRUE(wait([&] { return reported == kAll; }));
  }

  void open(int index) {
    Peer& peer = peers[static_cast<std::size_t>(index)];
    peer.connecting = net::connect_channel(
        loop, endpoint, std::string(wire::kAgentPath),
        net::Headers{{"Authorization", "Bearer secret"}}, wire::test_deadline(),
        [index, &peer](auto channel) {
          ASSERT_TRUE(channel.ok()) << channel.error().message;
          peer.channel = *std::move(channel);
          peer.channel->on_closed([&peer](const base::Error&) { peer.closed = true; });
          wire::ReportMessage report;
          report.task = {"worker", index};
          report.address = address_of(index);
          report.pid = 1;
          peer.channel->send(encode(wire::AgentMessage(report)));
          const bool reads = index < kPolite;
          if (reads)
            peer.channel->on_message([&peer](std::string_view frame) { read(peer, frame); });
        });
  }

  static void read(Peer& peer, std::string_view frame) {
    if (frame.starts_with(R"({"type":"start")")) ++peer.starts;
    if (frame == R"({"type":"alive"})") ++peer.alive;
  }

  static job::Address address_of(int index) { return addresses()[static_cast<std::size_t>(index)]; }

  // The addresses of a thousand tasks with names as long as they may be, which cannot be packed: so
  // a start is a quarter of a MiB, made of little. The tasks of the test are its first.
  static const std::vector<job::Address>& addresses() {
    static const std::vector<job::Address> made = [] {
      std::vector<job::Address> all;
      std::minstd_rand random;
      for (int index = 0; index < 1'000; ++index) {
        std::string host(240, 'a');
        for (char& letter : host) letter = static_cast<char>('a' + random() % 26);
        for (std::size_t dot = 60; dot < host.size(); dot += 60) host[dot] = '.';
        all.push_back({host, 4000});
      }
      return all;
    }();
    return made;
  }

  static job::ClusterSpec spec(int generation) { return {generation, {{"worker", addresses()}}}; }

  void flood() {
    for (int index = kPolite + kStalled; index < kAll; ++index) {
      Peer& peer = peers[static_cast<std::size_t>(index)];
      if (peer.closed) continue;
      const std::string line(wire::kMaxLogLineBytes, 'x');
      const wire::LogMessage lines{
          wire::Stream::kOut,
          std::vector<std::string>(wire::kMaxBytesOfLogMessage / wire::kMaxLogLineBytes, line), 0};
      while (peer.channel->queued_bytes() < kFloodBytes) {
        peer.channel->send(encode(wire::AgentMessage(lines)));
        peer.channel->send(encode(wire::AgentMessage(wire::HeartbeatMessage{})));
      }
    }
    flooding = loop.after(milliseconds(1), [this] { flood(); });
  }

  bool polite_have(int starts) {
    return std::all_of(peers.begin(), peers.begin() + kPolite,
                       [starts](const Peer& peer) { return peer.starts == starts; });
  }

  void start_all(int generation) {
    server.publish(spec(generation));
    for (int index = 0; index < kAll; ++index) server.send_start({"worker", index}, 1, 0);
  }

  bool wait(const std::function<bool()>& done) {
    return loop.run_until(done, wire::test_deadline());
  }

  net::EventLoop loop;
  wire::LogRecorder log;
  net::Endpoint endpoint;
  int reported = 0;
  std::vector<job::TaskId> lost;
  std::size_t flooded_lines = 0;
  std::vector<Peer> peers{kAll};
  net::Timer flooding;
  Server server{loop, base::Secret("secret"), DeskOptions{seconds(60), seconds(600)},
                ServerCallbacks{[] { return job::JobStatus{}; }, [](bool, const std::string&) {}},
                log};
};

TEST_F(ServerLoadTest, TheOthersAreToldAllTheSame) {
  flood();
  ASSERT_TRUE(wait([&] { return flooded_lines > 300; }));
  start_all(1);
  EXPECT_TRUE(wait([&] { return polite_have(1); }));
  for (int index = 0; index < kPolite; ++index) {
    peers[static_cast<std::size_t>(index)].channel->send(
        encode(wire::AgentMessage(wire::HeartbeatMessage{})));
  }
  EXPECT_TRUE(wait([&] {
    return std::all_of(peers.begin(), peers.begin() + kPolite,
                       [](const Peer& peer) { return peer.alive == 1; });
  }));
  EXPECT_TRUE(std::none_of(lost.begin(), lost.end(),
                           [](const job::TaskId& task) { return task.index < kPolite; }));
}

// The queue for one who does not read is bounded: in the end the session is given up, and only
// that.
TEST_F(ServerLoadTest, WhoNeverReadsLosesItsSession) {
  int generation = 0;
  while (lost.size() < kStalled && generation < 1000) {
    start_all(++generation);
    ASSERT_TRUE(wait([&] { return polite_have(generation); })) << generation;
    for (int index = 0; index < kAll; ++index) {
      // The next generation is for a task that has ended.
      Peer& peer = peers[static_cast<std::size_t>(index)];
      if (!peer.closed)
        peer.channel->send(encode(wire::AgentMessage(wire::ExitedMessage{1, generation, {}})));
    }
  }
  EXPECT_GE(lost.size(), static_cast<std::size_t>(kStalled));
  for (const job::TaskId& task : lost) EXPECT_GE(task.index, kPolite) << job::to_string(task);
}

}  // namespace
}  // namespace gangrun::agents
