#include "process/host_turn.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/test_deadline.h"
#include "base/test_folder.h"

namespace gangrun::process {
namespace {

class HostTurnTest : public testing::Test {
 protected:
  HostTurnTest() : places_({folder_ / "0", folder_ / "1"}) {
    for (const std::string& place : places_) std::ofstream(place) << "place";
  }
  std::optional<base::UniqueFd> at_once() { return wait_for_turn(places_, base::Instant{}); }

  base::TestFolder folder_;
  const std::vector<std::string> places_;
};

TEST_F(HostTurnTest, AsManyHaveATurnAsThereArePlaces) {
  std::optional<base::UniqueFd> first = at_once();
  const std::optional<base::UniqueFd> second = at_once();
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->valid() && second->valid());
  EXPECT_FALSE(at_once());
  first.reset();
  EXPECT_TRUE(at_once());
}

TEST_F(HostTurnTest, WhoWaitsHasTheTurnThatEnds) {
  std::optional<base::UniqueFd> first = at_once();
  const std::optional<base::UniqueFd> second = at_once();
  auto third = std::async(std::launch::async, wait_for_turn, places_, base::soon());
  first.reset();
  EXPECT_TRUE(third.get());
}

TEST_F(HostTurnTest, ATurnThatDoesNotEndIsWaitedForUntilTheDeadline) {
  const std::optional<base::UniqueFd> first = at_once();
  const std::optional<base::UniqueFd> second = at_once();
  const base::Instant deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  EXPECT_FALSE(wait_for_turn(places_, deadline));
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

TEST_F(HostTurnTest, WithoutPlacesNobodyWaits) {
  for (const std::vector<std::string>& none : {{}, std::vector<std::string>{folder_ / "missing"}}) {
    const std::optional<base::UniqueFd> turn = wait_for_turn(none, base::soon());
    ASSERT_TRUE(turn);
    EXPECT_FALSE(turn->valid());
  }
}

TEST_F(HostTurnTest, EachProcessorIsAPlace) {
  EXPECT_FALSE(processor_places().empty());
  EXPECT_EQ(processor_places(), processor_places());
}

}  // namespace
}  // namespace gangrun::process
