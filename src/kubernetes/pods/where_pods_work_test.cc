#include "kubernetes/pods/where_pods_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kubernetes/pods/agent_parts_for_tests.h"
#include "kubernetes/pods/kubernetes_options.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {

namespace {

std::string words_of(ManifestInput input) {
  const auto manifests = Manifests::make(std::move(input));
  return manifests.ok() ? where_pods_work(*manifests) : manifests.error().message;
}

TEST(WherePodsWork, InTheFolderOfTheImage) {
  EXPECT_EQ(words_of(test::wine_job()),
            "tasks work in pods, in the working folder of their image: what they write goes with "
            "the pods where it is not on a volume or named in `outputs`");
}

TEST(WherePodsWork, WithoutTheFilesOfResultsAndFigures) {
  EXPECT_THAT(what_pods_lack(), testing::AllOf(testing::HasSubstr("GANGRUN_RESULT_FILE"),
                                               testing::HasSubstr("GANGRUN_FIGURES_FILE")));
}

TEST(WherePodsWork, WhereOutputsAreKept) {
  ManifestInput input = test::wine_job();
  input.spec.outputs = {"model/"};
  EXPECT_EQ(words_of(std::move(input)),
            "tasks work in pods, in /gangrun/work: what `outputs` names is brought, the rest goes "
            "with the pods where it is not on a volume");
}

TEST(WherePodsWork, AsAPodOfTheUsersHasIt) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.push_back(test::tasks_of("ps", 1));
  input.spec.tasks.back().pod = {
      {"spec", {{"containers", {{{"name", "task"}, {"workingDir", "/data"}}}}}}};
  EXPECT_EQ(words_of(std::move(input)),
            "tasks work in pods, in /data (ps), the working folder of their image (worker): what "
            "they write goes with the pods where it is not on a volume or named in `outputs`");
}

TEST(HowAgentsCome, SaysWhyToo) {
  const auto words = [](std::optional<AgentsBy> agents, const std::string& image) {
    ManifestInput input = test::wine_job();
    edit_kubernetes(input.spec).agents = agents;
    edit_kubernetes(input.spec).agent_image = image;
    if (agents_by(input.spec) == AgentsBy::kConfigMaps) {
      input.agents = AgentPods{.source = by_config_maps(test::small_parts())};
    } else if (agents_by(input.spec) == AgentsBy::kImage) {
      input.agents = AgentPods{.source = by_image(image)};
    }
    return how_agents_come(Manifests::make(std::move(input)).value());
  };
  EXPECT_THAT(words(AgentsBy::kConfigMaps, ""),
              testing::AllOf(testing::HasSubstr("bring (kubernetes.agents: config_maps): gangrun-"),
                             testing::HasSubstr("-*, 3 of at most 1 MiB, which all jobs")));
  EXPECT_EQ(words(std::nullopt, "a:1"),
            "an agent runs beside each command, which a container of the image a:1 brings "
            "(kubernetes.agent_image is given); it has to be of this version. One more pod, of "
            "that image, relays to this client");
  ManifestInput detached = test::wine_job();
  edit_kubernetes(detached.spec).agent_image = "a:1";
  edit_kubernetes(detached.spec).master.service_account = "leader";
  detached.agents = AgentPods{.source = by_image("a:1")};
  EXPECT_THAT(
      how_agents_come(Manifests::make(std::move(detached)).value(), true),
      testing::EndsWith("it has to be of this version. One more pod leads the job, with the "
                        "service account 'leader'"));
  EXPECT_THAT(words(AgentsBy::kImage, "a:1"), testing::HasSubstr("(kubernetes.agents: image)"));
  EXPECT_EQ(words(AgentsBy::kNone, "a:1"),
            "no agent runs beside the commands (kubernetes.agents: none)");
  EXPECT_THAT(words(std::nullopt, ""),
              testing::HasSubstr("bring (kubernetes.agents: config_maps, by default): gangrun-"));
}

TEST(WhenPodsBegin, IsToldWhereNothingPlacesThemTogether) {
  const auto words = [](GangScheduling scheduling) {
    ManifestInput input = test::wine_job();
    input.gang_scheduling = scheduling;
    const auto manifests = Manifests::make(std::move(input));
    return manifests.ok() ? when_pods_begin(*manifests) : manifests.error().message;
  };
  EXPECT_THAT(words(GangScheduling::kHold),
              testing::HasSubstr("a command runs as soon as its pod has a node. If another pod "
                                 "gets none for 1 min (timeouts.hold), all are ended"));
  EXPECT_EQ(words(GangScheduling::kWorkload), "");
}

}  // namespace

}  // namespace gangrun::kubernetes::pods
