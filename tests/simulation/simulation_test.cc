#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/strings.h"
#include "simulation/world.h"

namespace gangrun::simulation {

namespace {

// The test tells so many and stops: one fault often fails many schedules.
constexpr int kMaxTold = 10;

struct Options {
  std::uint64_t schedules = 2000;
  std::uint64_t first_seed = 1;
  std::optional<std::uint64_t> only;
  std::optional<int> tasks;
};

Options& options() {
  static Options chosen;
  return chosen;
}

std::unique_ptr<World> make_world(std::uint64_t seed, bool verbose) {
  Random random(seed);
  Schedule schedule = make_schedule(seed, random, options().tasks);
  return std::make_unique<World>(std::move(schedule), random, verbose);
}

TEST(Simulation, PromisesHoldUnderRandomSchedules) {
  const Options& chosen = options();
  const std::uint64_t first = chosen.only.value_or(chosen.first_seed);
  const std::uint64_t count = chosen.only ? 1 : chosen.schedules;
  std::map<std::string_view, int> ends;
  std::size_t events = 0;
  std::size_t masters = 0;
  int told = 0;
  const std::clock_t begun = std::clock();
  for (std::uint64_t seed = first; seed < first + count && told < kMaxTold; ++seed) {
    const auto world = make_world(seed, chosen.only.has_value());
    for (const std::string& violation : world->run()) {
      ADD_FAILURE() << "seed " << seed << ": " << violation << " (replay: simulation_test --seed "
                    << seed << ")";
      ++told;
    }
    if (world->state()) ++ends[job::to_string(*world->state())];
    events += world->records().size();
    masters += static_cast<std::size_t>(world->masters());
  }
  // Seconds of the processor: programs that run beside it do not count.
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  std::fputs(
      base::format(
          "{} schedules, {} events, {} masters, ends: {}; {:.0f} schedules/s and {:.0f} us an "
          "event of one core\n",
          count, events, masters, ends, static_cast<double>(count) / seconds,
          seconds * 1e6 / static_cast<double>(std::max<std::size_t>(events, 1)))
          .c_str(),
      stdout);
  // A simulator in which every job ends the same way tests little.
  if (!chosen.only && count >= 500) {
    EXPECT_THAT(ends, ::testing::SizeIs(3));
  }
}

TEST(Simulation, SameSeedIsTheSameStory) {
  const std::uint64_t seed = options().only.value_or(7);
  const auto once = make_world(seed, false);
  const auto again = make_world(seed, false);
  EXPECT_EQ(once->run(), again->run());
  ASSERT_EQ(once->records().size(), again->records().size());
  for (std::size_t i = 0; i < once->records().size(); ++i) {
    EXPECT_EQ(once->records()[i].event, again->records()[i].event);
    EXPECT_EQ(once->records()[i].at, again->records()[i].at);
  }
}

bool read_options(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    const std::string_view name = words[i];
    const auto number = i + 1 < count ? base::parse_integer(words[i + 1]) : std::nullopt;
    if (!number || *number < 0) return false;
    const auto value = static_cast<std::uint64_t>(*number);
    ++i;
    if (name == "--seed") {
      options().only = value;
    } else if (name == "--schedules") {
      options().schedules = value;
    } else if (name == "--tasks") {
      options().tasks = static_cast<int>(value);
    } else if (name == "--from") {
      options().first_seed = value;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

}  // namespace gangrun::simulation

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  if (!gangrun::simulation::read_options(count, words)) {
    std::fputs("usage: simulation_test [--seed N] [--schedules N] [--from SEED] [--tasks N]\n",
               stderr);
    return 2;
  }
  return RUN_ALL_TESTS();
}
