#include "kubernetes/pods/agent_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <utility>

#include "base/test_folder.h"
#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;

ManifestInput job_with_large_file() {
  ManifestInput input = test::wine_job();
  input.agents = AgentPods{.source = by_config_maps(test::small_parts())};
  input.fetched = std::make_shared<const cluster::FetchedFiles>(
      cluster::FetchedFiles{{.name = "data/large", .path = "/home/ana/large", .size = 100 * kMib}});
  return input;
}

Json pod_of(ManifestInput input) {
  return Manifests::make(std::move(input))
      .value()
      .pod({"worker", 0}, test::run_with({}), test::wine_owner());
}

TEST(AgentFiles, HaveLimits) {
  EXPECT_TRUE(check_fetched(kMaxFetchedFiles, kMaxFetchedBytes).ok());
  EXPECT_THAT(check_fetched(kMaxFetchedFiles + 1, 0).error().message,
              HasSubstr("10001 files are more than the 10000"));
  EXPECT_THAT(check_fetched(1, kMaxFetchedBytes + 1).error().message,
              HasSubstr("are more than the 16 GiB"));
}

TEST(AgentFiles, TheirDigestsAreThoseOfTheFiles) {
  const base::TestFolder folder;
  std::ofstream(folder / "a") << "abc";
  std::ofstream(folder / "empty").close();
  std::ofstream(folder / "large") << std::string(3 * kMib + 1, 'x');
  cluster::FetchedFiles files;
  for (const char* name : {"a", "empty", "large"}) {
    files.push_back(cluster::look_at(name, folder / name, false).value());
  }
  std::uint64_t last = 0;
  const auto found = with_digests(files, [&](const cluster::FetchedFile& file, std::uint64_t read) {
    if (file.name == "large") last = read;
  });
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ((*found)[0].digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ((*found)[1].digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ((*found)[2].digest.size(), 64U);
  EXPECT_EQ(last, 3 * kMib + 1);
  std::ofstream(folder / "a") << "abcd";
  EXPECT_THAT(with_digests(files, [](const auto&, auto) {}).error().message,
              HasSubstr(folder / "a has changed"));
}

TEST(AgentFiles, NeedAWorkingFolderAndNoConfigMap) {
  const Json pod = pod_of(job_with_large_file());
  const Json& container = pod["spec"]["containers"].at(0);
  EXPECT_EQ(container["workingDir"], kWorkingFolder);
  EXPECT_THAT(container["volumeMounts"],
              Contains(Json{{"name", "gangrun-work"}, {"mountPath", kWorkingFolder}}));
  EXPECT_THAT(pod["spec"]["volumes"],
              Contains(Json{{"name", "gangrun-work"}, {"emptyDir", Json::object()}}));
  const Manifests manifests = Manifests::make(job_with_large_file()).value();
  for (const Json& object : manifests.objects(test::wine_owner())) {
    EXPECT_NE(object["kind"], "ConfigMap") << object;
  }
}

TEST(AgentFiles, TheNameOfACarriedFileIsNotTheirs) {
  ManifestInput input = job_with_large_file();
  input.files.push_back({.path = "data/large", .content = "x"});
  const auto made = Manifests::make(std::move(input));
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("'data/large' is there twice"));
}

TEST(AgentFiles, AreAddedToTheStorageThatIsAskedFor) {
  ManifestInput input = job_with_large_file();
  EXPECT_THAT(pod_of(input).dump(), Not(HasSubstr("ephemeral-storage")));
  input.spec.tasks.front().pod = {{"spec",
                                   {{"containers",
                                     {{{"name", "task"},
                                       {"resources",
                                        {{"requests", {{"ephemeral-storage", "1Gi"}}},
                                         {"limits", {{"ephemeral-storage", "odd"}}}}}}}}}}};
  const Json resources = pod_of(input)["spec"]["containers"].at(0)["resources"];
  EXPECT_EQ(resources["requests"]["ephemeral-storage"], std::to_string(1124 * kMib));
  EXPECT_EQ(resources["limits"]["ephemeral-storage"], "odd");
}

TEST(AgentFiles, QuantitiesOfKubernetesAreUnderstood) {
  EXPECT_EQ(with_more("1Ki", 1), "1025");
  EXPECT_EQ(with_more("1.5Gi", 0), "1610612736");
  EXPECT_EQ(with_more("2k", 5), "2005");
  EXPECT_EQ(with_more("1e3", 5), "1005");
  EXPECT_EQ(with_more("12", 5), "17");
  for (const char* odd : {"", "Gi", "1Xi", "-1", "1 Gi", "nan", "1e300", "500m"}) {
    EXPECT_EQ(with_more(odd, 1), std::nullopt) << odd;
  }
}

TEST(AgentFiles, ADryRunSaysWhatTheyTake) {
  EXPECT_EQ(how_files_come(test::wine_job()), "");
  EXPECT_EQ(how_files_come(job_with_large_file()),
            "1 file (100 MiB) is too much for config maps: each task's agent fetches them from "
            "this client to /gangrun/work before the roll call is complete. They take ephemeral "
            "storage of the pod, which asks for so much more where its container asks for any");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
