#include "master/agent_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::master {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};
const registry::ControlAddress kControl{4713, "ab"};

job::JobSpec two_workers() {
  job::JobSpec spec;
  spec.name = "wine";
  spec.success = "all";
  spec.command.words = {"true"};
  job::TaskSpec worker;
  worker.type = "worker";
  worker.instances = 2;
  spec.tasks = {worker};
  return spec;
}

class AgentPlacesTest : public testing::Test {
 protected:
  void SetUp() override { step(gang::Begin{}); }
  void step(const gang::Event& event) { (void)gang_.step(event, base::Instant(seconds(1))); }
  const gang::Task& task(const job::TaskId& id) { return *gang_.find(id); }

  gang::Gang gang_{two_workers(), {}};
  AgentPlaces places_{{}};
};

TEST_F(AgentPlacesTest, WhereAnAgentCanBeToldIsRecordedOnceBesideItsHandle) {
  EXPECT_TRUE(places_.handle(task(kFirst)).is_null());
  const auto started = places_.started(kFirst, 1, {{"container", 7}});
  EXPECT_EQ(started, (journal::PlaceRecord{kFirst, 1, {{"container", 7}}}));
  const base::Json both{{"container", 7},
                        {"control", {{"host", "h"}, {"port", 4713}, {"fingerprint", "ab"}}}};
  const auto reported = places_.reported(task(kFirst), {"h", 40'000}, kControl);
  ASSERT_TRUE(reported);
  EXPECT_EQ(*reported, (journal::PlaceRecord{kFirst, 1, both}));
  EXPECT_EQ(places_.handle(task(kFirst)), both);
  // The same again, at another port of the task.
  EXPECT_EQ(places_.reported(task(kFirst), {"h", 40'001}, kControl), std::nullopt);
  EXPECT_NE(places_.reported(task(kFirst), {"h2", 40'001}, kControl), std::nullopt);
}

TEST_F(AgentPlacesTest, NothingIsRecordedOfAnAgentThatCannotBeTold) {
  places_.started(kFirst, 1, {{"container", 7}});
  EXPECT_EQ(places_.reported(task(kFirst), {"h", 1}, std::nullopt), std::nullopt);
  // One that nobody has started, or whose handle is no object.
  EXPECT_EQ(places_.reported(task(kSecond), {"h", 1}, kControl), std::nullopt);
  places_.started(kSecond, 1, nullptr);
  EXPECT_EQ(places_.reported(task(kSecond), {"h", 1}, kControl), std::nullopt);
}

TEST_F(AgentPlacesTest, ANewMasterFindsThoseThatMayLive) {
  places_.started(kFirst, 1, {{"container", 7}});
  places_.started(kSecond, 1, {{"container", 8}});
  (void)places_.reported(task(kFirst), {"fd00::1", 1}, kControl);
  (void)places_.reported(task(kSecond), {"h", 1}, kControl);
  EXPECT_THAT(places_.controls(gang_), IsEmpty());  // nothing of them is in the gang yet
  step(gang::Allocated{kFirst, 1, "h1"});
  const std::map<job::TaskId, net::Endpoint> first{
      {kFirst, net::Endpoint::on_tls("fd00::1", 4713, "ab")}};
  EXPECT_EQ(places_.controls(gang_), first);
}

TEST_F(AgentPlacesTest, APlaceWithoutAControlIsNotCalled) {
  step(gang::Allocated{kFirst, 1, "h1"});
  for (const base::Json& handle :
       {base::Json(), base::Json{{"container", 7}}, base::Json{{"control", 1}},
        base::Json{{"control", {{"host", "h"}, {"port", 70'000U}, {"fingerprint", "ab"}}}},
        base::Json{{"control", {{"host", "h"}, {"port", 1}}}}}) {
    const AgentPlaces places({{{kFirst, 1}, handle}});
    EXPECT_THAT(places.controls(gang_), IsEmpty()) << handle;
    EXPECT_EQ(places.handle(task(kFirst)), handle);
  }
}

}  // namespace
}  // namespace gangrun::master
