#include "job/cluster_spec.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "job/spec.h"

namespace gangrun::job {
namespace {

TEST(Address, ReadsWhatItWrites) {
  for (const Address& address :
       {Address{"host7", 1}, Address{"10.0.0.1", 65535}, Address{"fe80::1", 4711}}) {
    const auto back = parse_address(to_string(address));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, address);
  }
  EXPECT_EQ(to_string(Address{"fe80::1", 4711}), "[fe80::1]:4711");
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text : {"", "host", "host:", ":1", "host:0", "host:65536", "host:-1", "host:1x",
                           "fe80::1:80", "[]:80", "a b:80", "a/b:80", "a,b:80"}) {
    EXPECT_FALSE(parse_address(text).ok()) << text;
  }
  EXPECT_FALSE(parse_address(std::string(254, 'h') + ":1").ok());
}

ClusterSpec two_types() {
  ClusterSpec spec;
  spec.generation = 3;
  spec.tasks["worker"] = {{"a", 1}, {"::1", 2}};
  spec.tasks["ps"] = {{"b", 3}};
  return spec;
}

// worker:4 has the place that worker:1 had.
ClusterSpec with_members() {
  ClusterSpec spec = two_types();
  spec.members["worker"] = {0, 4};
  return spec;
}

TEST(ClusterSpec, RoundTripsWhole) {
  for (const ClusterSpec& spec : {two_types(), with_members(), ClusterSpec{}}) {
    const auto back = cluster_spec_from_json(to_json(spec));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, spec);
  }
}

TEST(ClusterSpec, FindsATaskByTypeAndIndex) {
  const ClusterSpec spec = two_types();
  ASSERT_NE(spec.find({"worker", 1}), nullptr);
  EXPECT_EQ(*spec.find({"worker", 1}), (Address{"::1", 2}));
  EXPECT_EQ(spec.find({"worker", 2}), nullptr);
  EXPECT_EQ(spec.find({"worker", -1}), nullptr);
  EXPECT_EQ(spec.find({"chief", 0}), nullptr);
}

TEST(ClusterSpec, IsWrittenWithMembersOnlyWhereAPlaceIsNotTheIndex) {
  EXPECT_EQ(base::dump_json(to_json(two_types())),
            R"({"generation":3,"tasks":{"ps":["b:3"],"worker":["a:1","[::1]:2"]}})");
  EXPECT_EQ(base::dump_json(to_json(with_members())),
            R"({"generation":3,"tasks":{"ps":["b:3"],"worker":["a:1","[::1]:2"]},)"
            R"("members":{"worker":[0,4]}})");
}

TEST(ClusterSpec, FindsAMemberInItsPlace) {
  const ClusterSpec spec = with_members();
  EXPECT_EQ(spec.place_of({"worker", 4}), 1);
  EXPECT_EQ(*spec.find({"worker", 4}), (Address{"::1", 2}));
  EXPECT_EQ(spec.place_of({"worker", 0}), 0);
  EXPECT_EQ(spec.place_of({"ps", 0}), 0);
  for (const TaskId& task : {TaskId{"worker", 1}, TaskId{"worker", -1}, TaskId{"ps", 1}}) {
    EXPECT_EQ(spec.place_of(task), std::nullopt) << to_string(task);
    EXPECT_EQ(spec.find(task), nullptr) << to_string(task);
  }
}

TEST(ClusterSpec, RefusesMembersThatAreNotOneForEachAddress) {
  base::Json json = to_json(two_types());
  for (const char* members :
       {R"({"worker": [0]})", R"({"worker": [0, 1, 2]})", R"({"worker": [1, 1]})",
        R"({"worker": [0, -1]})", R"({"worker": [0, 10000]})", R"({"worker": ["0", "1"]})",
        R"({"chief": []})", R"([])", R"({"worker": 1})"}) {
    json["members"] = base::Json::parse(members);
    EXPECT_FALSE(cluster_spec_from_json(json).ok()) << members;
  }
  const auto refused = cluster_spec_from_json(
      {{"generation", 1}, {"tasks", {{"w", {"a:1"}}}}, {"members", {{"w", {0, 1}}}}});
  EXPECT_EQ(
      refused.error().message,
      "members: w needs one task index for each of its 1 addresses, all different, from 0 to 9999");
}

TEST(ClusterSpec, AnOutlineHasTheCountsTheFirstsAndTheOwnPlace) {
  const base::Json json = outline_to_json(with_members(), {"worker", 4});
  EXPECT_EQ(base::dump_json(json), R"({"generation":3,"types":{"ps":[1,"b:3"],"worker":[2,"a:1"]},)"
                                   R"("task":"worker:4","place":1,"address":"[::1]:2"})");
  const auto spec = cluster_spec_from_outline(json);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_TRUE(spec->is_outline);
  EXPECT_EQ(spec->generation, 3);
  EXPECT_EQ(spec->tasks.at("worker").size(), 2U);
  EXPECT_EQ(spec->tasks.at("worker").front(), (Address{"a", 1}));
  EXPECT_EQ(spec->tasks.at("ps"), (std::vector<Address>{{"b", 3}}));
  EXPECT_EQ(spec->place_of({"worker", 4}), 1);
  EXPECT_EQ(*spec->find({"worker", 4}), (Address{"::1", 2}));
  EXPECT_EQ(spec->place_of({"worker", 0}), std::nullopt);
}

TEST(ClusterSpec, AnOutlineForATaskWithoutAPlaceHasTheCountsOnly) {
  const base::Json json = outline_to_json(two_types(), {"tensorboard", 0});
  EXPECT_EQ(base::dump_json(json),
            R"({"generation":3,"types":{"ps":[1,"b:3"],"worker":[2,"a:1"]}})");
  const auto spec = cluster_spec_from_outline(json);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_EQ(spec->tasks.at("worker")[1], Address{});
  EXPECT_TRUE(spec->members.empty());
}

TEST(ClusterSpec, RefusesAMalformedOutline) {
  const base::Json good = outline_to_json(two_types(), {"worker", 1});
  for (const char* types :
       {"[]", R"({"1": [1, "a:1"]})", R"({"w": [0, "a:1"]})", R"({"w": [10001, "a:1"]})",
        R"({"w": [6000, "a:1"], "x": [6000, "a:1"]})", R"({"w": ["1", "a:1"]})",
        R"({"w": [1, "a"]})", R"({"w": [1]})", R"({"w": 1})"}) {
    base::Json json = good;
    json["types"] = base::Json::parse(types);
    json.erase("task");
    EXPECT_FALSE(cluster_spec_from_outline(json).ok()) << types;
  }
  const std::pair<const char*, base::Json> wrong[] = {
      {"generation", "3"}, {"types", nullptr}, {"task", "worker"}, {"task", "chief:0"},
      {"place", 2},        {"place", -1},      {"place", "1"},     {"address", "a"}};
  for (const auto& [key, value] : wrong) {
    base::Json json = good;
    json[key] = value;
    EXPECT_FALSE(cluster_spec_from_outline(json).ok()) << key << " " << value;
  }
}

TEST(ClusterSpec, RefusesWhatIsMalformed) {
  for (const char* text :
       {"[]", "{}", R"({"generation": 1})", R"({"generation": "1", "tasks": {}})",
        R"({"generation": 1, "tasks": []})", R"({"generation": 1, "tasks": {"w": "a:1"}})",
        R"({"generation": 1, "tasks": {"w": ["a"]}})", R"({"generation": 1, "tasks": {"1": []}})",
        R"({"generation": 1, "tasks": {"w": [1]}})"}) {
    EXPECT_FALSE(cluster_spec_from_json(base::Json::parse(text)).ok()) << text;
  }
  base::Json many = {{"generation", 1}, {"tasks", base::Json::object()}};
  many["tasks"]["w"] = std::vector<std::string>(kMaxTasks + 1, "a:1");
  const auto spec = cluster_spec_from_json(many);
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.error().message, base::format("more than {} tasks in a cluster spec", kMaxTasks));
}

TEST(CommaSeparated, HasEveryAddressInItsOrder) {
  EXPECT_EQ(comma_separated({}), "");
  EXPECT_EQ(comma_separated({{"node7", 1}}), "node7:1");
  EXPECT_EQ(comma_separated({{"node7", 1}, {"::1", 2}, {"node7", 3}}), "node7:1,[::1]:2,node7:3");
}

}  // namespace
}  // namespace gangrun::job
