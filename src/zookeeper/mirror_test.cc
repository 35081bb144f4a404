#include "zookeeper/mirror.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The nodes that a real server gets are tested with one: tests/integration/test_zookeeper.py.
namespace gangrun::zookeeper {
namespace {

class NoLog final : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

base::Instant limit() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

TEST(Mirror, ServersThatDoNotAnswerAreToldOnce) {
  net::EventLoop loop;
  NoLog log;
  std::vector<std::string> told;
  Mirror mirror(
      loop, log,
      {.session = {.servers = {"127.0.0.1:1"}}, .patience = std::chrono::milliseconds(50)},
      [&](const std::string& sentence) { told.push_back(sentence); });
  mirror.want({{.path = "/x"}});
  EXPECT_TRUE(loop.run_until([&] { return !told.empty(); }, limit()));
  EXPECT_THAT(mirror.behind(), testing::StartsWith("no server answers (127.0.0.1:1: connect to"));
  bool is_later = false;
  const auto timer = loop.after(std::chrono::milliseconds(200), [&] { is_later = true; });
  EXPECT_TRUE(loop.run_until([&] { return is_later; }, limit()));
  EXPECT_THAT(told, testing::ElementsAre(testing::StartsWith("no server answers (")));
}

TEST(Mirror, ANameThatDoesNotResolveIsToldByItsName) {
  net::EventLoop loop;
  NoLog log;
  Mirror mirror(loop, log, {.session = {.servers = {"no.such.invalid:2181"}}},
                [](const std::string&) {});
  EXPECT_TRUE(loop.run_until(
      [&] { return mirror.behind().find("no.such.invalid") != std::string::npos; }, limit()));
}

}  // namespace
}  // namespace gangrun::zookeeper
