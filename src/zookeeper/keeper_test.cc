#include "zookeeper/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/format.h"

namespace gangrun::zookeeper {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Code = ServerAnswer::Code;

// The work of ZooKeeper's server with operations, as far as a Keeper sees it.
class Server {
 public:
  struct There {
    std::string data;
    std::int64_t session = 0;  // of an ephemeral node

    friend bool operator==(const There&, const There&) = default;
  };

  ServerAnswer carry_out(const Operation& operation) {
    const Node& node = operation.node;
    done.push_back(operation);
    if (refused.contains(node.path)) return {.code = Code::kFailed, .reason = "no"};
    const auto found = nodes.find(node.path);
    if (operation.verb == Operation::Verb::kCreate) {
      if (found != nodes.end()) return {.code = Code::kExists};
      if (node.kind == Kind::kContainer && !has_containers) return {.code = Code::kUnsupported};
      const std::string parent = node.path.substr(0, node.path.rfind('/'));
      if (!parent.empty() && !nodes.contains(parent)) return {.code = Code::kMissing};
      nodes[node.path] = {node.data, node.kind == Kind::kEphemeral ? session : 0};
      return {};
    }
    if (found == nodes.end()) return {.code = Code::kMissing};
    if (operation.verb == Operation::Verb::kLook) {
      return {.is_ours = found->second.session == session};
    }
    if (operation.verb == Operation::Verb::kSet) {
      found->second.data = node.data;
      return {};
    }
    const auto next = std::next(found);
    if (next != nodes.end() && next->first.starts_with(node.path + "/")) {
      return {.code = Code::kNotEmpty};
    }
    nodes.erase(found);
    return {};
  }

  void end_session() {
    std::erase_if(nodes, [this](const auto& item) { return item.second.session == session; });
    ++session;
  }

  std::map<std::string, There> nodes;
  std::set<std::string> refused;
  std::vector<Operation> done;
  std::int64_t session = 1;
  bool has_containers = true;
};

// Until the keeper has nothing more to ask.
void settle(Keeper& keeper, Server& server) {
  for (auto operations = keeper.next(); !operations.empty(); operations = keeper.next()) {
    for (const Operation& operation : operations) {
      keeper.done(operation, server.carry_out(operation));
    }
  }
}

std::vector<std::string> paths(const Server& server) {
  std::vector<std::string> all;
  for (const auto& [path, node] : server.nodes) all.push_back(path);
  return all;
}

Node shared(std::string path, Kind kind = Kind::kPersistent) {
  return {.path = std::move(path), .kind = kind, .access = Access::kAnyone, .is_shared = true};
}
Node own(std::string path, std::string data, Kind kind = Kind::kContainer) {
  return {.path = std::move(path), .data = std::move(data), .kind = kind};
}

std::vector<Node> wine(const std::string& first = "a") {
  return {shared("/r"), shared("/r/name", Kind::kContainer), own("/r/name/job", "spec"),
          own("/r/name/job/w0", first, Kind::kEphemeral)};
}

TEST(Keeper, AsksForNothingWithoutAConnection) {
  Keeper keeper;
  keeper.want(wine());
  EXPECT_THAT(keeper.next(), IsEmpty());
  EXPECT_FALSE(keeper.is_settled());
}

TEST(Keeper, MakesAllAtOnceAParentBeforeItsChildren) {
  Keeper keeper;
  keeper.connected();
  EXPECT_TRUE(keeper.is_settled());
  auto nodes = wine();
  std::swap(nodes.front(), nodes.back());
  keeper.want(nodes);
  std::vector<std::string> asked;
  for (const Operation& operation : keeper.next()) {
    EXPECT_EQ(operation.verb, Operation::Verb::kCreate);
    asked.push_back(operation.node.path);
  }
  EXPECT_THAT(asked, ElementsAre("/r", "/r/name", "/r/name/job", "/r/name/job/w0"));
  EXPECT_THAT(keeper.next(), IsEmpty());
  EXPECT_FALSE(keeper.is_settled());
}

TEST(Keeper, WritesWhatHasChangedAndRemovesWhatIsNotWanted) {
  Keeper keeper;
  Server server;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  EXPECT_TRUE(keeper.is_settled());
  server.done.clear();
  auto nodes = wine("b");
  nodes.push_back(own("/r/name/job/w1", "c", Kind::kEphemeral));
  keeper.want(nodes);
  settle(keeper, server);
  EXPECT_EQ(server.nodes["/r/name/job/w0"], (Server::There{"b", 1}));
  EXPECT_EQ(server.done.size(), 2U);
  keeper.want(wine("b"));
  settle(keeper, server);
  EXPECT_THAT(paths(server), ElementsAre("/r", "/r/name", "/r/name/job", "/r/name/job/w0"));
  EXPECT_TRUE(keeper.is_settled());
}

TEST(Keeper, AtTheEndOnlyWhatOthersUseStays) {
  Keeper keeper;
  Server server;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  keeper.want({});
  settle(keeper, server);
  EXPECT_THAT(paths(server), ElementsAre("/r"));
  EXPECT_TRUE(keeper.is_settled());
}

TEST(Keeper, AFolderInWhichOthersHaveSomethingStaysToo) {
  Keeper keeper;
  Server server;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  server.nodes["/r/name/another"] = {};
  keeper.want({});
  settle(keeper, server);
  EXPECT_THAT(paths(server), ElementsAre("/r", "/r/name", "/r/name/another"));
  EXPECT_TRUE(keeper.is_settled());
}

TEST(Keeper, LeavesTheDataOfWhatOthersMade) {
  Keeper keeper;
  Server server;
  server.nodes["/r"] = {"theirs"};
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  EXPECT_EQ(server.nodes["/r"].data, "theirs");
}

TEST(Keeper, TakesOverTheNodesOfAnEarlierProcess) {
  Keeper dead;
  Server server;
  dead.connected();
  dead.want(wine("old"));
  settle(dead, server);
  server.session = 2;  // the first one has not expired yet
  Keeper keeper;
  keeper.connected();
  keeper.want(wine("new"));
  settle(keeper, server);
  EXPECT_TRUE(keeper.is_settled());
  EXPECT_EQ(server.nodes["/r/name/job/w0"], (Server::There{"new", 2}));
}

TEST(Keeper, ARestartedServerThatHasAllIsLeftAsItIs) {
  Keeper keeper;
  Server server;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  const auto before = server.nodes;
  keeper.disconnected();
  EXPECT_FALSE(keeper.is_settled());
  keeper.connected();
  settle(keeper, server);
  EXPECT_EQ(server.nodes, before);
  EXPECT_TRUE(keeper.is_settled());
}

TEST(Keeper, AServerThatHasForgottenEverythingGetsAll) {
  Keeper keeper;
  Server server;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  keeper.disconnected();
  const auto before = server.nodes;
  server.nodes.clear();
  keeper.connected();
  settle(keeper, server);
  EXPECT_EQ(server.nodes, before);
}

TEST(Keeper, WhatTheServerRefusesIsToldAndTriedAgain) {
  Keeper keeper;
  Server server;
  server.refused = {"/r/name/job"};
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  EXPECT_FALSE(keeper.is_settled());
  EXPECT_TRUE(keeper.has_failed());
  // The nodes in it fail for that reason.
  EXPECT_EQ(keeper.trouble(), "/r/name/job cannot be made: no");
  server.refused.clear();
  EXPECT_THAT(keeper.next(), IsEmpty());
  keeper.retry();
  settle(keeper, server);
  EXPECT_TRUE(keeper.is_settled());
  EXPECT_FALSE(keeper.has_failed());
}

TEST(Keeper, AFolderThatSomebodyHasRemovedIsMadeAgainWhenSomethingIsToLieInIt) {
  Keeper keeper;
  Server server;
  keeper.connected();
  auto nodes = wine();
  nodes.pop_back();
  keeper.want(nodes);
  settle(keeper, server);
  server.nodes.clear();
  keeper.want(wine());
  settle(keeper, server);
  keeper.retry();
  settle(keeper, server);
  EXPECT_TRUE(keeper.is_settled());
  EXPECT_EQ(server.nodes.size(), 4U);
}

TEST(Keeper, WhatCannotBeRemovedIsTold) {
  Keeper keeper;
  Server server;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  server.refused = {"/r/name/job/w0"};
  keeper.want({});
  settle(keeper, server);
  EXPECT_EQ(keeper.trouble(), "/r/name/job/w0 cannot be removed: no");
  EXPECT_FALSE(keeper.is_settled());
}

TEST(Keeper, AServerWithoutContainerNodesGetsPersistentOnes) {
  Keeper keeper;
  Server server;
  server.has_containers = false;
  keeper.connected();
  keeper.want(wine());
  settle(keeper, server);
  keeper.retry();  // for what failed beside it
  settle(keeper, server);
  EXPECT_TRUE(keeper.is_settled());
  EXPECT_EQ(server.nodes.size(), 4U);
}

TEST(Keeper, AsksForSoMuchAtATime) {
  Keeper keeper;
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < 2 * kMaxUnderWay; ++i)
    nodes.push_back(own(base::format("/{}", i), ""));
  keeper.want(nodes);
  keeper.connected();
  const auto operations = keeper.next();
  EXPECT_EQ(operations.size(), kMaxUnderWay);
  EXPECT_FALSE(keeper.has_room());
  for (std::size_t i = 0; i < kMaxUnderWay / 2; ++i) keeper.done(operations[i], {});
  EXPECT_TRUE(keeper.has_room());
  EXPECT_EQ(keeper.next().size(), kMaxUnderWay / 2);
}

// Connections are lost with operations under way, sessions expire, what is wanted changes: at the
// end the server has what was wanted last.
TEST(Keeper, WhateverHappensTheServerComesToHaveWhatIsWanted) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(base::format("seed {}", seed));
    std::mt19937 random(seed);
    const auto one_of = [&](unsigned n) { return random() % n; };
    Keeper keeper;
    Server server;
    for (int step = 0; step < 60; ++step) {
      switch (one_of(5)) {
        case 0: {
          auto nodes = wine(base::format("{}", one_of(3)));
          if (one_of(3) == 0) nodes.clear();
          keeper.want(nodes);
          break;
        }
        case 1: keeper.connected(); break;
        case 2:
          keeper.disconnected();
          if (one_of(2) == 0) server.end_session();
          if (one_of(2) == 0) ++server.session;
          break;
        default:
          for (const Operation& operation : keeper.next()) {
            const bool is_lost = one_of(6) == 0;
            if (is_lost && one_of(2) == 0) continue;
            const ServerAnswer answer = server.carry_out(operation);
            keeper.done(operation, is_lost ? ServerAnswer{.code = Code::kLost} : answer);
          }
      }
    }
    keeper.want(wine("last"));
    keeper.connected();
    settle(keeper, server);
    keeper.retry();
    settle(keeper, server);
    EXPECT_TRUE(keeper.is_settled()) << keeper.trouble();
    EXPECT_EQ(server.nodes["/r/name/job/w0"], (Server::There{"last", server.session}));
    keeper.want({});
    settle(keeper, server);
    EXPECT_THAT(paths(server), ElementsAre("/r"));
  }
}

}  // namespace
}  // namespace gangrun::zookeeper
