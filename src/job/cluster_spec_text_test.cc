#include "job/cluster_spec_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace gangrun::job {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

base::Result<ClusterSpec> by_document(const std::string& text) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxBytes));
  return cluster_spec_from_json(json);
}

TEST(ClusterSpecText, IsReadAsItIsWritten) {
  ClusterSpec spec{3, {{"chief", {{"h-0.example", 1}}}, {"worker", {}}}};
  for (int i = 0; i < 500; ++i) {
    spec.tasks["worker"].push_back({"fd00::5", static_cast<std::uint16_t>(1 + i)});
  }
  const auto read = cluster_spec_from_text(base::dump_json(to_json(spec)), kMaxBytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, spec);
  spec.members["worker"] = {};
  for (int i = 0; i < 500; ++i) spec.members["worker"].push_back(499 - i);
  const auto with_members = cluster_spec_from_text(base::dump_json(to_json(spec)), kMaxBytes);
  ASSERT_TRUE(with_members.ok()) << with_members.error().message;
  EXPECT_EQ(*with_members, spec);
}

// Written otherwise, it says the same; what is wrong is told as it is told of a document.
TEST(ClusterSpecText, IsWhatTheDocumentSays) {
  for (const char* text : {R"({"generation":1,"tasks":{"w":["a:1"]}})",
                           R"({ "generation": 1, "tasks": {"w":["a:1"]}})",
                           R"({"tasks":{"w":["a:1"]},"generation":1})",
                           R"({"generation":1,"tasks":{}})",
                           R"({"generation":1,"tasks":{"w":[]}})",
                           R"({"generation":1,"tasks":{"w":["\u0061:1"]}})",
                           R"({"generation":1,"tasks":{"w":["a:1"],"w":["b:2"]}})",
                           R"({"generation":01,"tasks":{"w":["a:1"]}})",
                           R"({"generation":-1,"tasks":{"w":["a:1"]}})",
                           R"({"generation":1.0,"tasks":{"w":["a:1"]}})",
                           R"({"generation":1e3,"tasks":{"w":["a:1"]}})",
                           R"({"generation":99999999999,"tasks":{"w":["a:1"]}})",
                           R"({"generation":,"tasks":{}})",
                           R"({"generation":1,"tasks":{"w":["a:1",]}})",
                           R"({"generation":1,"tasks":{"w":["a:1"],}})",
                           R"({"generation":1,"tasks":{"w":["a:1"]}} )",
                           R"({"generation":1,"tasks":{"w":["a:1"]}}x)",
                           R"({"generation":1,"tasks":{"w":["a:0"]}})",
                           R"({"generation":1,"tasks":{"w":["a b:1"]}})",
                           R"({"generation":1,"tasks":{"W!":["a:1"]}})",
                           R"({"generation":1,"tasks":{"w":["a:1)",
                           R"({"generation":1,"tasks":{"w":[7]}})",
                           "",
                           "{",
                           "{\"generation\":1,\"tasks\":{\"w\":[\"a\x01:1\"]}}"}) {
    const auto read = cluster_spec_from_text(text, kMaxBytes);
    const auto expected = by_document(text);
    ASSERT_EQ(read.ok(), expected.ok()) << text;
    if (read.ok()) {
      EXPECT_EQ(*read, *expected) << text;
    } else {
      EXPECT_EQ(read.error().message, expected.error().message) << text;
    }
  }
}

TEST(ClusterSpecText, HasALimit) {
  const std::string text = R"({"generation":1,"tasks":{"w":["a:1"]}})";
  EXPECT_TRUE(cluster_spec_from_text(text, text.size()).ok());
  EXPECT_FALSE(cluster_spec_from_text(text, text.size() - 1).ok());
}

}  // namespace
}  // namespace gangrun::job
