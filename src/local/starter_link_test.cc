#include "local/starter_link.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/format.h"
#include "base/test_deadline.h"
#include "process/pipe.h"
#include "process/wait_for.h"

namespace gangrun::local {
namespace {

using process::PacketSocket;
using testing::ElementsAre;
using testing::HasSubstr;

// A starter without a namespace, whose agents are named only: what it answers is in the orders.
[[noreturn]] void be_starter(int listener) {
  PacketSocket cluster(base::UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)));
  while (process::wait_readable(cluster.fd(), base::soon())) {
    auto packet = cluster.receive();
    if (!packet.ok() || !*packet) break;
    const auto order = base::parse_json((*packet)->text, process::kMaxPacketBytes);
    if (!order.ok()) break;
    const auto what = (*order)["what"].get<std::string>();
    base::Json answer = {{"key", (*order)["key"]}};
    if (what == "end") break;
    if (what == "give_up") continue;
    if (what == "kill" && answer["key"] == "taken over") {
      answer["what"] = "replaced";
      if (cluster.send({base::dump_json(answer), {}, 0}).ok()) ::pause();
    }
    if (what == "start") {
      answer["what"] = (*packet)->fds.size() == 1 ? "started" : "ended";
      answer["error"] = "no descriptor came";
    } else if (what == "watch") {
      answer["what"] = "unknown";
    } else {
      answer["what"] = "ended";
      answer["status"] = SIGKILL;
      answer["survivors"] = (*order)["key"] == "immortal" ? 2 : 0;
    }
    if (!cluster.send({base::dump_json(answer), {}, 0}).ok()) break;
  }
  ::_exit(0);
}

struct StarterLinkTest : testing::Test {
  StarterLinkTest() {
    std::string name = "/tmp/gangrun-starter-link-XXXXXX";
    folder = ::mkdtemp(name.data());
    path = folder + "/agents.sock";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    auto ready = process::make_pipe();
    EXPECT_TRUE(ready.ok());
    starter = ::fork();
    if (starter == 0) {
      // The kernel names whoever listens as the peer.
      const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
      if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
          ::listen(listener, 1) != 0) {
        ::_exit(1);
      }
      ready->write.reset();
      be_starter(listener);
    }
    ready->write.reset();
    EXPECT_TRUE(process::wait_readable(ready->read.get(), base::soon()));
    auto found = StarterLink::find(
        loop, path,
        {.on_started =
             [this](const std::string& key, pid_t pid) {
               told.push_back(base::format("started {} {}", key, pid == starter));
             },
         .on_ended =
             [this](const std::string& key, const std::optional<process::Exit>& exit,
                    const std::string& words) {
               told.push_back(base::format("ended {} {} {}", key, exit ? exit->signal : 0, words));
             },
         .on_over = [this] { told.emplace_back("over"); }});
    EXPECT_TRUE(found.ok());
    if (found.ok()) link = std::move(*found);
  }
  ~StarterLinkTest() override {
    link.reset();
    ::waitpid(starter, nullptr, 0);
    std::filesystem::remove_all(folder);
  }
  void start(const std::string& key) {
    ASSERT_TRUE(link->start_agent(key, {"task"}, {{STDERR_FILENO, 3}}).ok());
  }
  void wait_for(std::size_t count) {
    EXPECT_TRUE(loop.run_until([&] { return told.size() >= count; }, base::soon()));
  }

  net::EventLoop loop;
  std::string folder;
  std::string path;
  pid_t starter = 0;
  std::unique_ptr<StarterLink> link;
  std::vector<std::string> told;
};

TEST_F(StarterLinkTest, NeitherTheStarterNorItsSocketIsLeft) {
  ASSERT_TRUE(std::filesystem::exists(path));
  link.reset();
  EXPECT_EQ(::waitpid(starter, nullptr, 0), starter);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(StarterLinkTest, TellsWhatTheStarterTells) {
  start("a");
  wait_for(1);
  link->kill("a");
  wait_for(2);
  EXPECT_THAT(told, ElementsAre("started a true", "ended a 9 "));
}

TEST_F(StarterLinkTest, NamesWhatSurvivesAndWhatIsUnknown) {
  start("immortal");
  wait_for(1);
  link->kill("immortal");
  link->watch_agent("old");
  wait_for(3);
  EXPECT_THAT(told, ElementsAre("started immortal true",
                                "ended immortal 9 2 of its processes could not be killed",
                                "ended old 0 it ended before a new master came"));
}

TEST_F(StarterLinkTest, TheStartersEndIsTheEndOfAll) {
  start("a");
  start("b");
  wait_for(2);
  link->ask_to_end("a");
  wait_for(5);
  EXPECT_FALSE(link->is_open());
  EXPECT_TRUE(link->is_over());
  EXPECT_THAT(told[2], HasSubstr("ended a 0 the first process of its PID namespace"));
  EXPECT_THAT(told[3], HasSubstr("ended b 0 "));
  EXPECT_EQ(told[4], "over");
}

TEST_F(StarterLinkTest, AStarterThatDoesNotAnswerIsKilled) {
  start("a");
  wait_for(1);
  link->give_up("a", std::chrono::milliseconds(100));
  wait_for(3);
  EXPECT_THAT(told[1], HasSubstr("ended a"));
  EXPECT_EQ(told[2], "over");
}

TEST_F(StarterLinkTest, AStarterThatReadsNoOrdersIsKilled) {
  start("a");
  wait_for(1);
  ASSERT_EQ(::kill(starter, SIGSTOP), 0);
  const std::string long_key(process::kMaxPacketBytes - 100, 'k');
  for (std::size_t i = 0; i <= process::kMaxWaitingBytes / long_key.size() + 10; ++i) {
    link->ask_to_end(long_key);
  }
  EXPECT_FALSE(link->is_open());
  wait_for(3);
  EXPECT_THAT(told[1], HasSubstr("the first process of its PID namespace took no more orders: "));
  EXPECT_EQ(told[2], "over");
}

TEST_F(StarterLinkTest, WhatAnotherHasTakenOverIsNotKilled) {
  start("taken over");
  wait_for(1);
  link->kill("taken over");
  wait_for(3);
  EXPECT_THAT(told[1], HasSubstr("another master or keeper has the job"));
  EXPECT_EQ(told[2], "over");
  link.reset();
  EXPECT_EQ(::kill(starter, 0), 0);
  EXPECT_EQ(::waitpid(starter, nullptr, WNOHANG), 0);
  ::kill(starter, SIGKILL);
}

TEST_F(StarterLinkTest, WithoutASocketThereIsNone) {
  const auto none = StarterLink::find(loop, folder + "/none.sock", {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, base::Code::kUnavailable);
  EXPECT_FALSE(StarterLink::find(loop, "", {}).ok());
}

}  // namespace
}  // namespace gangrun::local
