#include "agents/agent_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::agents {
namespace {

using testing::IsEmpty;

const job::TaskId kFirst{"worker", 0};
const job::TaskId kSecond{"worker", 1};
const std::string kFingerprint(wire::kFingerprintDigits, 'a');
const wire::ControlAddress kControl{4713, kFingerprint};

TEST(AgentPlaces, WhereAnAgentCanBeToldIsRecordedOnceBesideItsHandle) {
  AgentPlaces places;
  places.expect(kFirst, 1);
  const cluster::Whereabouts started = places.started(kFirst, 1, {{"container", "c7"}});
  EXPECT_EQ(started.handle, (base::Json{{"container", "c7"}}));
  EXPECT_EQ(places.container_of(kFirst), "c7");
  const base::Json both{
      {"container", "c7"},
      {"control", {{"host", "h"}, {"port", 4713}, {"fingerprint", kFingerprint}}}};
  const auto reported = places.reported(kFirst, {"h", 40'000}, kControl);
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->task, kFirst);
  EXPECT_EQ(reported->attempt, 1);
  EXPECT_EQ(reported->handle, both);
  // The same again, at another port of the task.
  EXPECT_FALSE(places.reported(kFirst, {"h", 40'001}, kControl));
  EXPECT_TRUE(places.reported(kFirst, {"h2", 40'001}, kControl));
}

TEST(AgentPlaces, NothingIsRecordedOfAnAgentThatCannotBeTold) {
  AgentPlaces places;
  places.expect(kFirst, 1);
  (void)places.started(kFirst, 1, {{"container", "c7"}});
  EXPECT_FALSE(places.reported(kFirst, {"h", 1}, std::nullopt));
  // One that nobody has started, or whose handle is no object.
  EXPECT_FALSE(places.reported(kSecond, {"h", 1}, kControl));
  places.expect(kSecond, 1);
  (void)places.started(kSecond, 1, nullptr);
  EXPECT_FALSE(places.reported(kSecond, {"h", 1}, kControl));
  EXPECT_EQ(places.container_of(kSecond), "");
}

TEST(AgentPlaces, TheAgentOfAnEarlierAttemptIsRecordedAndNotTakenForTheOneThatIsAwaited) {
  AgentPlaces places;
  places.expect(kFirst, 1);
  places.expect(kFirst, 2);
  EXPECT_EQ(places.started(kFirst, 1, {{"container", "c7"}}).attempt, 1);
  EXPECT_EQ(places.container_of(kFirst), "");
  EXPECT_FALSE(places.reported(kFirst, {"h", 1}, kControl));
}

TEST(AgentPlaces, ANewMasterFindsThoseThatCanBeTold) {
  AgentPlaces places;
  places.expect(
      kFirst, 1,
      {{"control", {{"host", "fd00::1"}, {"port", 4713}, {"fingerprint", kFingerprint}}}});
  places.expect(kSecond, 1, {{"container", "c8"}});
  const std::map<job::TaskId, net::Endpoint> first{
      {kFirst, net::Endpoint::on_tls("fd00::1", 4713, kFingerprint)}};
  EXPECT_EQ(places.controls(), first);
}

TEST(AgentPlaces, APlaceWithoutAControlIsNotCalled) {
  for (const base::Json& handle :
       {base::Json(), base::Json{{"container", "c7"}}, base::Json{{"control", 1}},
        base::Json{{"control", {{"host", "h"}, {"port", 70'000U}, {"fingerprint", kFingerprint}}}},
        base::Json{{"control", {{"host", "h"}, {"port", 1}}}}}) {
    AgentPlaces places;
    places.expect(kFirst, 1, handle);
    EXPECT_THAT(places.controls(), IsEmpty()) << handle;
  }
}

}  // namespace
}  // namespace gangrun::agents
