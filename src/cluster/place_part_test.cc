#include "cluster/place_part.h"

#include <gmock/gmock.h>

namespace gangrun::cluster {
namespace {

TEST(PlacePart, GoesOverTheMastersConfiguration) {
  base::Json config = {{"host", "a"}, {"secret", "s"}, {"log_prefix", "/log/worker-0"}};
  set({.host = "b", .wanted_port = 4711}, config);
  EXPECT_EQ(base::dump_json(config),
            R"({"host":"b","secret":"s","log_prefix":"/log/worker-0","wanted_port":4711})");
  EXPECT_EQ(place_part_of(config).log_prefix, "/log/worker-0");
  EXPECT_EQ(place_part_of(config).words_file, std::nullopt);
}

TEST(PlacePart, OfNoConfigurationIsEmpty) {
  EXPECT_EQ(place_part_of({}).log_prefix, std::nullopt);
  base::Json config;
  set({.words_file = ""}, config);
  EXPECT_EQ(base::dump_json(config), R"({"words_file":""})");
}

}  // namespace
}  // namespace gangrun::cluster
