#include "kubernetes/pods/carried_files.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "kubernetes/pods/manifests_for_tests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::HasSubstr;

constexpr std::size_t kLimit = kMaxConfigMapBytes;

ManifestInput carrying(std::vector<CarriedFile> files) {
  ManifestInput input = test::wine_job();
  input.files = std::move(files);
  return input;
}

std::string files_refusal(std::vector<CarriedFile> files) {
  const auto layout = lay_out(carrying(std::move(files)));
  return layout.ok() ? "" : layout.error().message;
}

// A file as the pod's parts of it say, put together.
std::string read_back(const std::vector<Json>& maps, const CarriedLayout& layout,
                      std::size_t file) {
  std::string content;
  for (const CarriedPart& part : layout.parts) {
    if (part.file != file) continue;
    const Json& map = maps[part.config_map];
    const auto value = [&](const char* bag) {
      return map.value(bag, Json::object()).value(part.key, "");
    };
    content += value("data") + net::from_base64(value("binaryData")).value();
  }
  return content;
}

TEST(CarriedFiles, LieTogetherInAConfigMap) {
  const ManifestInput input = carrying({{"src/train.py", "print(1)\n", false},
                                        {"/usr/local/bin/run me", "#!/bin/sh\n", true},
                                        {"empty", "", false}});
  const CarriedLayout layout = lay_out(input).value();
  const std::vector<Json> maps = config_maps(input, layout, test::wine_owner());
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps[0]["metadata"]["name"], "wine-20260131-120000-3fa1-files-0");
  EXPECT_EQ(maps[0]["data"],
            (Json{{"0-train.py", "print(1)\n"}, {"1-run-me", "#!/bin/sh\n"}, {"2-empty", ""}}));
  const CarriedMounts mounts = carried_mounts(input, layout);
  EXPECT_EQ(mounts.mounts.at(0),
            (Json{{"name", "gangrun-files-0"},
                  {"mountPath", base::format("{}/src/train.py", kWorkingFolder)},
                  {"subPath", "0-train.py"},
                  {"readOnly", true}}));
  EXPECT_EQ(mounts.mounts.at(1)["mountPath"], "/usr/local/bin/run me");
  const Json& items = mounts.volumes.at(0)["configMap"]["items"];
  EXPECT_EQ(items.at(0)["mode"], 0444);
  EXPECT_EQ(items.at(1)["mode"], 0555);
  EXPECT_TRUE(mounts.joined.empty());
}

TEST(CarriedFiles, FillConfigMapsUpToTheirLimit) {
  const ManifestInput input =
      carrying({{"a", std::string(kLimit - 1, 'a'), false}, {"b", "b", false}, {"c", "c", false}});
  const CarriedLayout layout = lay_out(input).value();
  EXPECT_EQ(layout.config_maps.size(), 2U);
  EXPECT_EQ(layout.parts[1].config_map, 0U);
  EXPECT_EQ(layout.parts[2].config_map, 1U);
}

TEST(CarriedFiles, ThatAreNoTextAreCarriedToo) {
  const ManifestInput input =
      carrying({{"latin", "caf\xe9", false}, {"zeros", std::string(3, '\0'), false}});
  const CarriedLayout layout = lay_out(input).value();
  const std::vector<Json> maps = config_maps(input, layout, test::wine_owner());
  EXPECT_FALSE(maps[0].contains("data"));
  EXPECT_EQ(read_back(maps, layout, 0), "caf\xe9");
  EXPECT_EQ(read_back(maps, layout, 1), std::string(3, '\0'));
}

TEST(CarriedFiles, ThatAreTooLargeForOneAreJoinedInThePod) {
  std::string large;
  while (large.size() <= 2 * kLimit) large += "é is two bytes; ";
  const ManifestInput input = carrying({{"small", "s", false}, {"/opt/large", large, true}});
  const CarriedLayout layout = lay_out(input).value();
  const std::vector<Json> maps = config_maps(input, layout, test::wine_owner());
  EXPECT_EQ(layout.parts.size(), 4U);
  EXPECT_EQ(read_back(maps, layout, 1), large);

  const CarriedMounts mounts = carried_mounts(input, layout);
  EXPECT_EQ(to_shell_line(mounts.joined),
            "cat /gangrun/parts/1/1-large.0 /gangrun/parts/2/1-large.1 "
            "/gangrun/parts/3/1-large.2 > /gangrun/joined/1 && chmod 0555 /gangrun/joined/1");
  EXPECT_EQ(mounts.mounts.size(), 2U);
  EXPECT_EQ(mounts.mounts.back(), (Json{{"name", "gangrun-joined"},
                                        {"mountPath", "/opt/large"},
                                        {"subPath", "1"},
                                        {"readOnly", true}}));
  EXPECT_EQ(mounts.join_mounts.size(), 4U);
}

TEST(CarriedFiles, HaveOneThatIsNamedByOthers) {
  ManifestInput input = carrying(
      {{"/script/training-script.py", std::string(kLimit + 1, 'x'), false}, {"b", "b", false}});
  input.names.script_config_map = "script";
  EXPECT_EQ(lay_out(input)->config_maps.front(), "script");
  EXPECT_EQ(lay_out(input)->parts.front().key, "training-script.py.0");
  input.files.front().content = "print(1)";
  const std::vector<Json> maps = config_maps(input, lay_out(input).value(), test::wine_owner());
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_EQ(maps[0]["metadata"]["name"], "script");
  EXPECT_EQ(maps[0]["data"], (Json{{"training-script.py", "print(1)"}}));
}

TEST(CarriedFiles, HaveLimits) {
  std::vector<CarriedFile> many;
  for (std::size_t i = 0; i <= kMaxCarriedFiles; ++i) {
    many.push_back({"f" + std::to_string(i), "", false});
  }
  EXPECT_THAT(files_refusal(many), HasSubstr("files: 201 files are more than the 200"));
  many.pop_back();
  EXPECT_EQ(files_refusal(many), "");
  many.front().content.assign(kMaxCarriedBytes + 1, 'x');
  EXPECT_THAT(files_refusal(many), HasSubstr("more than the 64 MiB"));
}

TEST(CarriedFiles, HavePathsThatCanBe) {
  for (const char* path : {"", "/", "a//b", "../a", "a/./b", "a/", "a:b"}) {
    EXPECT_THAT(files_refusal({{path, "", false}}), HasSubstr("files: ")) << path;
  }
  EXPECT_THAT(files_refusal({{"a", "", false}, {base::format("{}/a", kWorkingFolder), "", false}}),
              HasSubstr("is there twice"));
  EXPECT_THAT(files_refusal({{"a", "", false}, {"a/b/c", "", false}}),
              HasSubstr("is both a file and a folder of files"));
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
