#include "kubernetes/kubeconfig.h"

#include <gmock/gmock.h>

#include "kubernetes/test_surroundings_internal.h"

namespace gangrun::kubernetes {
namespace {

constexpr const char* kFirst = R"({"contexts": [{"name": "a", "context": {"cluster": "first"}}],
  "clusters": [{"name": "x", "cluster": {"server": "https://first"}}], "users": null})";
constexpr const char* kSecond = R"({"current-context": "b",
  "contexts": [{"name": "a", "context": {"cluster": "second", "user": "u"}}, {"name": "b"}],
  "users": [{"name": "u", "user": {"token": "t"}}]})";

std::string kubeconfig_error(const std::string& text) {
  const auto config = read_kubeconfig({"/k"}, false, test_surroundings({{"/k", text}}));
  EXPECT_FALSE(config.ok());
  return config.ok() ? "" : config.error().message;
}

TEST(ReadKubeconfig, TheFirstFileWinsForEachName) {
  const auto machine = test_surroundings({{"/1", kFirst}, {"/2", kSecond}, {"/3", ""}});
  const auto config = read_kubeconfig({"/1", "/0", "/3", "/2"}, true, machine);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_THAT(config->files, testing::ElementsAre("/1", "/3", "/2"));
  EXPECT_EQ(config->current_context, "b");
  EXPECT_EQ(*config->contexts.at("a").text("cluster"), "first");
  EXPECT_FALSE(config->contexts.at("a").has("user"));
  EXPECT_EQ(config->contexts.at("b").file(), "/2");
  EXPECT_EQ(*config->clusters.at("x").text("server"), "https://first");
  EXPECT_EQ(*config->users.at("u").text("token"), "t");
}

TEST(ReadKubeconfig, OneMissingFileIsAnError) {
  const auto config = read_kubeconfig({"/0"}, false, test_surroundings({}));
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, base::Code::kNotFound);
  EXPECT_EQ(config.error().message, "while reading the kubeconfig: no file /0");
}

TEST(ReadKubeconfig, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(kubeconfig_error("[]"), "/k: must be a map");
  EXPECT_EQ(kubeconfig_error(R"({"current-context": 5})"),
            "/k: current-context must be a text (in quotes where it is a number)");
  EXPECT_EQ(kubeconfig_error(R"({"users": {}})"), "/k: users must be a list");
  EXPECT_EQ(kubeconfig_error(R"({"users": [{"user": {}}]})"), "/k: users[0]: name is missing");
  EXPECT_EQ(kubeconfig_error(R"({"users": [{"name": "a", "user": []}]})"),
            "/k: user \"a\": must be a map");
  EXPECT_EQ(kubeconfig_error(R"({"users": [{"name": "a"}, {"name": "a"}]})"),
            "/k: user \"a\" is given twice");
  EXPECT_THAT(kubeconfig_error("{"), testing::StartsWith("/k: not JSON: "));
}

TEST(FindSection, TellsTheNamesThatThereAre) {
  const auto machine = test_surroundings({{"/1", kFirst}, {"/2", kSecond}});
  const auto config = *read_kubeconfig({"/1", "/2"}, true, machine);
  EXPECT_TRUE(find_section(config, config.contexts, "context", "b", "the context").ok());
  const auto unknown = find_section(config, config.contexts, "context", "c", "the context");
  EXPECT_EQ(unknown.error().message,
            "/1:/2: the context \"c\" does not exist; there are: \"a\", \"b\"");
  EXPECT_EQ(find_section(config, config.contexts, "context", "", "current-context").error().message,
            "/1:/2: current-context is missing; there are: \"a\", \"b\"");
  EXPECT_EQ(find_section(config, {}, "user", "c", "context \"b\": user").error().message,
            "/1:/2: context \"b\": user \"c\" does not exist; there is no user at all");
}

}  // namespace
}  // namespace gangrun::kubernetes
