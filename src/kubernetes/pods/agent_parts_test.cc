#include "kubernetes/pods/agent_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using test::gzip;
using test::sha256;
using test::small_parts;
using test::wine_owner;
using testing::HasSubstr;

std::string noise(std::size_t bytes) {
  std::mt19937 generator(7);
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(generator());
  return text;
}

std::string parts_refusal(std::string loader, std::string packed) {
  const auto parts = AgentParts::make(std::move(loader), std::move(packed));
  return parts.ok() ? "" : parts.error().message;
}

// The words of check() for the parts' map with this index after `change`.
std::string said_of(std::size_t index, const std::function<void(Json& map)>& change) {
  const AgentParts parts = small_parts();
  Json map = parts.map(index, "lab", wine_owner());
  change(map);
  const auto checked = parts.check(index, map);
  return checked.ok() ? "" : checked.error().message;
}

TEST(AgentParts, LieInConfigMapsThatAreSharedByJobs) {
  const std::string packed = gzip("the agent");
  const AgentParts parts = AgentParts::make("the loader", packed, packed.size() - 1).value();
  ASSERT_EQ(parts.map_count(), 3U);
  const std::string begin = "gangrun-" + parts.digest();
  EXPECT_EQ(parts.map_name(0), begin + "-loader");
  EXPECT_EQ(parts.map_name(1), begin + "-0");
  EXPECT_EQ(parts.map_name(2), begin + "-1");
  EXPECT_EQ(
      parts.map(0, "lab", {"wine-owner", "u-1"}),
      (Json{{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata",
             {{"name", begin + "-loader"},
              {"namespace", "lab"},
              {"labels",
               {{"gangrun/parts", parts.digest()}, {"app.kubernetes.io/managed-by", "gangrun"}}},
              {"ownerReferences", Json::array({{{"apiVersion", "batch/v1"},
                                                {"kind", "Job"},
                                                {"name", "wine-owner"},
                                                {"uid", "u-1"},
                                                {"controller", false},
                                                {"blockOwnerDeletion", false}}})}}},
            {"immutable", true},
            {"binaryData", {{"loader", net::to_base64("the loader")}}}}));
  std::string joined;
  for (std::size_t i = 1; i < 3; ++i) {
    const Json map = parts.map(i, "lab", wine_owner());
    EXPECT_EQ(map["binaryData"].size(), 1U);
    const std::string key = base::format("part-{}", i - 1);
    joined += net::from_base64(map["binaryData"][key].get<std::string>()).value();
  }
  EXPECT_EQ(joined, packed);
}

TEST(AgentParts, TheDigestIsThatOfAllMapsWithTheirKeys) {
  const std::string packed = gzip("the agent");
  const std::size_t half = packed.size() - 4;
  const AgentParts parts = AgentParts::make("the loader", packed, half).value();
  EXPECT_EQ(parts.digest(),
            sha256(base::format("loader loader 10\nthe loader0 part-0 {}\n{}1 part-1 4\n{}", half,
                                packed.substr(0, half), packed.substr(half)))
                .substr(0, 20));
  EXPECT_NE(parts.digest(), AgentParts::make("the loader", packed).value().digest());
  EXPECT_NE(parts.digest(), AgentParts::make("a loader", packed, half).value().digest());
}

TEST(AgentParts, FillConfigMapsToTheBytesThatTheServerTakes) {
  const std::string packed = gzip(noise(kMaxPartBytes));
  ASSERT_GT(packed.size(), kMaxPartBytes);
  const AgentParts parts = AgentParts::make(std::string(kMaxPartBytes, 'l'), packed).value();
  ASSERT_EQ(parts.map_count(), 3U);
  const auto size = [&](std::size_t index, const char* key) {
    const Json map = parts.map(index, "lab", wine_owner());
    return net::from_base64(map["binaryData"][key].get<std::string>()).value().size();
  };
  EXPECT_EQ(size(0, "loader"), 1048576U);
  EXPECT_EQ(size(1, "part-0"), 1048576U);
  EXPECT_EQ(size(2, "part-1"), packed.size() - 1048576);
}

TEST(AgentParts, ThatCannotBeRightAreRefused) {
  const std::string packed = gzip("the agent");
  EXPECT_THAT(parts_refusal("", packed), HasSubstr("the loader of agents has 0 B; allowed: 1 B"));
  EXPECT_THAT(parts_refusal(std::string(kMaxPartBytes + 1, 'l'), packed), HasSubstr("allowed"));
  const std::string_view cut =
      "the packed agent cannot be used: its end is missing, or something follows that";
  EXPECT_EQ(parts_refusal("l", packed.substr(0, packed.size() - 1)), cut);
  EXPECT_EQ(parts_refusal("l", packed + "x"), cut);
  EXPECT_EQ(parts_refusal("l", gzip("the agent", sha256("the agent") + "-8")), cut);
  const std::string digest = sha256("");
  EXPECT_EQ(parts_refusal("l", gzip("", digest + "-1").substr(0, 80)), cut);
  EXPECT_THAT(parts_refusal("l", gzip("", digest + "-268435457")), HasSubstr("more than 256 MiB"));
  EXPECT_THAT(parts_refusal("l", std::string((kMaxPartMaps - 1) * kMaxPartBytes + 1, 'x')),
              HasSubstr("would need 65 config maps; allowed: 64"));
}

TEST(AgentParts, KnowTheAgentByTheNameThatTheBuildGivesIt) {
  const std::string digest = sha256("the agent");
  const std::string packed = gzip("the agent", digest + "-9");
  EXPECT_EQ(parts_refusal("l", packed), "");
  std::string with_more = packed;
  with_more[3] = 0x0c;
  std::string without_name = packed;
  without_name[3] = 0;
  for (const std::string& unnamed :
       {std::string(), std::string("the agent"), packed.substr(0, 40), with_more, without_name,
        gzip("the agent", ""), gzip("the agent", "gangrun-agent"), gzip("the agent", digest),
        gzip("the agent", digest + "-"), gzip("the agent", digest + "-x"),
        gzip("the agent", digest + "-0"), gzip("the agent", digest.substr(2) + "-9")}) {
    EXPECT_EQ(
        parts_refusal("l", unnamed),
        "the packed agent cannot be used: its name is not SHA256-SIZE of what it was made of");
  }
}

TEST(AgentParts, AMapOfTheServerIsRightOnlyWithAllItsBytes) {
  const auto leave = [](Json&) {};
  EXPECT_EQ(said_of(0, leave), "");
  EXPECT_EQ(said_of(2, leave), "");
  const auto add_what_matters_not = [](Json& map) {
    map["metadata"]["uid"] = "u-9";
    map["metadata"]["labels"].erase("gangrun/parts");
    map["metadata"]["ownerReferences"].push_back({{"kind", "Job"}, {"name", "other"}});
    map["data"] = Json::object();
  };
  EXPECT_EQ(said_of(1, add_what_matters_not), "");
  const AgentParts parts = small_parts();
  EXPECT_EQ(said_of(0, [](Json& map) { map["immutable"] = false; }),
            base::format("ConfigMap gangrun-{0}-loader is not the one that gangrun makes: it is "
                         "not immutable; find out who wrote it, and delete it (kubectl -n lab "
                         "delete configmap gangrun-{0}-loader): the next job makes it again",
                         parts.digest()));
  EXPECT_THAT(said_of(0, [](Json& map) { map.erase("immutable"); }), HasSubstr("not immutable"));
  const auto with_loader = [](const Json& value) {
    return said_of(0, [&](Json& map) { map["binaryData"]["loader"] = value; });
  };
  EXPECT_THAT(with_loader(net::to_base64("THE LOADER")), HasSubstr("its loader has other bytes;"));
  EXPECT_THAT(with_loader(net::to_base64("x")), HasSubstr("loader has 1 bytes instead of 10;"));
  EXPECT_THAT(with_loader("?"), HasSubstr("its loader cannot be read;"));
  EXPECT_THAT(with_loader(7), HasSubstr("it has no loader;"));
  EXPECT_THAT(said_of(1, [](Json& map) { map.erase("binaryData"); }), HasSubstr("no part-0;"));
  EXPECT_THAT(said_of(1, [](Json& map) { map["binaryData"]["part-1"] = "eA=="; }),
              HasSubstr("it also has part-1;"));
  EXPECT_THAT(said_of(1, [](Json& map) { map["data"]["part-0"] = "x"; }),
              HasSubstr("it also has part-0;"));
  EXPECT_THAT(said_of(1, [](Json& map) { map = nullptr; }), HasSubstr("not immutable"));
  EXPECT_THAT(said_of(1, [](Json& map) { map = Json::array({1}); }), HasSubstr("not immutable"));
}

TEST(AgentParts, AreAFolderOfTheContainer) {
  const AgentParts parts = small_parts();
  const auto source = [&](std::size_t index, const std::string& key) {
    return Json{{"configMap",
                 {{"name", parts.map_name(index)},
                  {"items", Json::array({{{"key", key}, {"path", key}}})}}}};
  };
  EXPECT_EQ(parts.volume(),
            (Json{{"name", "gangrun-agent"},
                  {"projected",
                   {{"defaultMode", 0555},
                    {"sources", Json::array({source(0, "loader"), source(1, "part-0"),
                                             source(2, "part-1")})}}}}));
  EXPECT_EQ(AgentParts::mount(),
            (Json{{"name", "gangrun-agent"}, {"mountPath", "/gangrun/agent"}, {"readOnly", true}}));
}

TEST(AgentParts, TheLoaderIsToldWhichAgentItRuns) {
  const AgentParts parts = small_parts();
  EXPECT_EQ(parts.command("memory", "gangrun-agent"),
            (Json{"/gangrun/agent/loader", sha256("the agent"), "memory", "gangrun-agent"}));
}

TEST(OwnerPatch, AddsToTheOwnersThatAreThere) {
  const Json map = {{"metadata",
                     {{"uid", "u-7"},
                      {"resourceVersion", "12"},
                      {"ownerReferences", Json::array({{{"kind", "Job"}, {"uid", "u-2"}}})}}}};
  const Json patch = owner_patch(map, wine_owner());
  const Json patched = map.patch(patch);
  ASSERT_EQ(patched["metadata"]["ownerReferences"].size(), 2U);
  EXPECT_EQ(patched["metadata"]["ownerReferences"][1]["uid"], "u-1");
  // Another map of that name, by now.
  Json other = map;
  other["metadata"]["uid"] = "u-8";
  EXPECT_ANY_THROW((void)other.patch(patch));
  // Others may have changed it meanwhile.
  other = map;
  other["metadata"]["resourceVersion"] = "13";
  EXPECT_NO_THROW((void)other.patch(patch));
}

TEST(OwnerPatch, BeginsTheListOnlyWhereNobodyElseHas) {
  const Json map = {{"metadata", {{"uid", "u-7"}, {"resourceVersion", "12"}}}};
  const Json patch = owner_patch(map, wine_owner());
  const Json patched = map.patch(patch);
  ASSERT_EQ(patched["metadata"]["ownerReferences"].size(), 1U);
  EXPECT_EQ(patched["metadata"]["ownerReferences"][0]["name"], wine_owner().name);
  Json other = map;
  other["metadata"]["resourceVersion"] = "13";
  EXPECT_ANY_THROW((void)other.patch(patch));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
