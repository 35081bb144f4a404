#include "yarn/preparations.h"

#include <gmock/gmock.h>

namespace gangrun::yarn {
namespace {

using base::seconds;
using hadoop::ContainerId;
using hadoop::ContainerStatus;
using hadoop::NodeId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const base::Instant kBegun{seconds(1'000)};
const NodeId kFirstNode{"h1", 45454};
const NodeId kSecondNode{"h2", 45454};

ContainerId container(int number) { return {{{1'769'860'800'000, 1}, 1}, number}; }

ContainerStatus status(int number, bool is_being_prepared) {
  return {.id = container(number),
          .state = hadoop::ContainerState::kRunning,
          .is_being_prepared = is_being_prepared};
}

TEST(Preparations, OfAJobWithoutArchivesAreNotAskedFor) {
  Preparations preparations({});
  preparations.taken_on(container(1), {"worker", 0}, kFirstNode, kBegun);
  EXPECT_EQ(preparations.next_look(), std::nullopt);
  EXPECT_EQ(preparations.words(), "");
}

TEST(Preparations, AreAsFarAsTheirNodeSays) {
  Preparations preparations({"env.tar.gz"});
  preparations.taken_on(container(1), {"worker", 0}, kFirstNode, kBegun);
  preparations.taken_on(container(2), {"worker", 1}, kFirstNode, kBegun);
  ContainerStatus far = status(1, true);
  far.files_there = 2;
  far.files = 3;
  preparations.told({container(1), container(2)}, {{far, status(2, true)}});
  EXPECT_EQ(preparations.words(),
            "nodes still fetch and unpack env.tar.gz for worker:0 on h1 (2 of 3 files there), "
            "worker:1 on h1");
}

// A container that unpacked a large environment looked like a task that does not report.
TEST(Preparations, AreToldByTheNodesThatMakeThem) {
  Preparations preparations({"env.tar.gz", "wines.zip"});
  preparations.taken_on(container(1), {"worker", 0}, kFirstNode, kBegun);
  preparations.taken_on(container(2), {"worker", 1}, kSecondNode, kBegun);
  preparations.taken_on(container(3), {"ps", 0}, kFirstNode, kBegun);
  EXPECT_EQ(preparations.next_look(), kBegun + kPreparationLook);
  EXPECT_THAT(preparations.take_look(kBegun), IsEmpty());
  EXPECT_EQ(preparations.words(), "") << "nobody has said so yet";
  const base::Instant now = kBegun + kPreparationLook;
  EXPECT_THAT(preparations.take_look(now),
              ElementsAre(Pair(kFirstNode, ElementsAre(container(1), container(3))),
                          Pair(kSecondNode, ElementsAre(container(2)))));
  EXPECT_EQ(preparations.next_look(), now + kPreparationLook);
  preparations.told({container(1), container(3)}, {{status(1, true), status(3, false)}});
  preparations.told({container(2)}, base::unavailable("no answer"));
  EXPECT_EQ(preparations.words(),
            "nodes still fetch and unpack env.tar.gz, wines.zip for worker:0 on h1");
  EXPECT_THAT(preparations.take_look(now + kPreparationLook),
              ElementsAre(Pair(kFirstNode, ElementsAre(container(1))),
                          Pair(kSecondNode, ElementsAre(container(2)))));
  preparations.told({container(2)}, {{status(2, true)}});
  preparations.told({container(1)}, std::vector<ContainerStatus>());
  EXPECT_EQ(preparations.words(),
            "nodes still fetch and unpack env.tar.gz, wines.zip for worker:1 on h2");
  preparations.forget(container(2));
  EXPECT_EQ(preparations.words(), "");
  EXPECT_EQ(preparations.next_look(), std::nullopt);
}

}  // namespace
}  // namespace gangrun::yarn
