#include "agents/starts.h"

#include <gtest/gtest.h>

#include <utility>

#include "net/packing.h"

namespace gangrun::agents {
namespace {

job::ClusterSpec gang_of(int workers) {
  job::ClusterSpec spec{3, {{"ps", {{"h", 1}}}}};
  for (int i = 0; i < workers; ++i) {
    spec.tasks["worker"].push_back({"host" + std::to_string(i), static_cast<std::uint16_t>(i + 1)});
  }
  return spec;
}

wire::StartMessage decoded(const wire::Frame& frame) {
  auto message = wire::decode_master_message(*frame);
  if (!message.ok()) ADD_FAILURE() << message.error().message;
  return message.ok() ? std::get<wire::StartMessage>(*std::move(message)) : wire::StartMessage{};
}

TEST(Starts, TellsAllTasksTheSameInOneMessage) {
  for (const int workers : {2, 1000}) {
    Starts starts(gang_of(workers));
    EXPECT_EQ(starts.generation(), 3);
    EXPECT_EQ(starts.encoded_spec(), wire::encode_cluster_spec(gang_of(workers)));
    const wire::Frame first = starts.message_for({"worker", 0}, 2, 1);
    EXPECT_EQ(decoded(first), (wire::StartMessage{2, 1, gang_of(workers)}));
    EXPECT_EQ(starts.message_for({"ps", 0}, 2, 1), first);
    const wire::Frame again = starts.message_for({"worker", 1}, 3, 1);
    EXPECT_EQ(decoded(again), (wire::StartMessage{3, 1, gang_of(workers)}));
  }
}

TEST(Starts, PacksALongSpecOnly) {
  const wire::Frame plain = Starts(gang_of(2)).message_for({"ps", 0}, 1, 0);
  EXPECT_EQ(*plain, encode(wire::MasterMessage(wire::StartMessage{1, 0, gang_of(2)})));
  Starts starts(gang_of(10'000));
  EXPECT_LT(starts.message_for({"ps", 0}, 1, 0)->size(), starts.encoded_spec().size() / 2);
}

TEST(Starts, TellsEachTaskAnOutlineOfALargeSpec) {
  const job::ClusterSpec spec = gang_of(1000);
  Starts starts(spec, 1000);
  const wire::StartMessage told = decoded(starts.message_for({"worker", 17}, 1, 2));
  EXPECT_EQ(told.attempt, 1);
  EXPECT_EQ(told.restarts, 2);
  EXPECT_TRUE(told.cluster_spec.is_outline);
  EXPECT_EQ(told.cluster_spec.generation, 3);
  EXPECT_EQ(told.cluster_spec.tasks.at("worker").size(), 1000U);
  EXPECT_EQ(*told.cluster_spec.find({"worker", 17}), spec.tasks.at("worker")[17]);
  EXPECT_EQ(told.cluster_spec.tasks.at("worker")[0], spec.tasks.at("worker")[0]);
  EXPECT_LT(starts.message_for({"worker", 999}, 1, 2)->size(), 300U);
  EXPECT_FALSE(
      decoded(Starts(gang_of(2), 1000).message_for({"ps", 0}, 1, 0)).cluster_spec.is_outline);
}

// These texts are put together; those of all other messages come from their rows.
TEST(Starts, WritesWhatTheRowsOfTheMessageWrite) {
  const auto by_rows = [](const wire::Frame& frame) {
    return wire::encode(wire::MasterMessage(decoded(frame)));
  };
  const wire::Frame plain = Starts(gang_of(2)).message_for({"ps", 0}, 2, 1);
  EXPECT_EQ(*plain, by_rows(plain));
  for (const job::TaskId& task : {job::TaskId{"worker", 17}, job::TaskId{"tensorboard", 0}}) {
    const wire::Frame outline = Starts(gang_of(1000), 1000).message_for(task, 2, 1);
    EXPECT_EQ(*outline, by_rows(outline));
  }
  Starts starts(gang_of(1000));
  const wire::Frame packed = starts.message_for({"ps", 0}, 2, 1);
  const std::string spec = "\"cluster_spec\":" + starts.encoded_spec();
  std::string expected = by_rows(packed);
  ASSERT_NE(expected.find(spec), std::string::npos);
  expected.replace(expected.find(spec), spec.size(),
                   "\"packed\":\"" + net::pack(starts.encoded_spec()) + "\"");
  EXPECT_EQ(*packed, expected);
}

TEST(Starts, ForgetsOldAttemptsAndStillTellsThem) {
  Starts starts(gang_of(2));
  for (int round = 0; round < 2; ++round) {
    for (int attempt = 1; attempt < 50; ++attempt) {
      EXPECT_EQ(decoded(starts.message_for({"ps", 0}, attempt, 0)).attempt, attempt);
    }
  }
}

}  // namespace
}  // namespace gangrun::agents
