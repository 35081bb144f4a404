#include "kubernetes/pods/journal_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "kubernetes/pods/kubernetes_options.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

job::JobSpec job_with(JournalOptions journal) {
  job::JobSpec spec;
  KubernetesOptions& options = edit_kubernetes(spec);
  options.volumes = {{{"name", "models"}, {"persistentVolumeClaim", {{"claimName", "m-1"}}}},
                     {{"name", "scratch"}, {"emptyDir", Json::object()}}};
  options.journal = std::move(journal);
  return spec;
}

std::string trouble(JournalOptions journal) {
  const auto found = check_journal(kubernetes_of(job_with(std::move(journal))));
  return found ? found->path + ": " + found->text : "";
}

TEST(JournalVolume, IsAClaimOrOneOfTheJobsVolumes) {
  const job::JobSpec claim = job_with({.claim = "logs", .path = "runs/wine"});
  EXPECT_TRUE(has_journal_volume(claim));
  EXPECT_EQ(journal_volume(claim), (Json{{"name", "gangrun-journal"},
                                         {"persistentVolumeClaim", {{"claimName", "logs"}}}}));
  EXPECT_EQ(journal_mount(claim),
            (Json{{"name", "gangrun-journal"}, {"mountPath", "/gangrun/journal"}}));
  EXPECT_EQ(journal_folder(claim, "/v"), "/v/runs/wine");
  EXPECT_EQ(journal_claim(claim), "logs");
  EXPECT_EQ(journal_words(claim, "wine-1"), "the claim logs, in runs/wine/wine-1");
  const job::JobSpec volume = job_with({.volume = "models"});
  EXPECT_EQ(journal_volume(volume), kubernetes_of(volume).volumes.front());
  EXPECT_EQ(journal_folder(volume, "/v"), "/v");
  EXPECT_EQ(journal_claim(volume), "m-1");
  EXPECT_EQ(journal_words(volume, "wine-1"), "the volume models, in wine-1");
  const job::JobSpec none = job_with({});
  EXPECT_FALSE(has_journal_volume(none));
  EXPECT_EQ(journal_folder(none, "/v"), "");
}

TEST(JournalVolume, OneThatCannotBeIsAnErrorOfItsField) {
  EXPECT_EQ(trouble({}), "");
  EXPECT_EQ(trouble({.claim = "a"}), "");
  EXPECT_EQ(trouble({.volume = "models", .path = "a/b"}), "");
  EXPECT_EQ(trouble({.claim = "a", .volume = "models"}),
            "kubernetes.journal: has both `claim` and `volume`; allowed: one of them");
  EXPECT_EQ(trouble({.path = "a"}),
            "kubernetes.journal.path: 'a' is in no volume; allowed: with `claim` or `volume` of "
            "`journal`");
  EXPECT_EQ(trouble({.volume = "model"}),
            "kubernetes.journal.volume: 'model' is none of `volumes` of `kubernetes`; allowed: "
            "models, scratch");
  EXPECT_EQ(trouble({.volume = "scratch"}),
            "kubernetes.journal.volume: 'scratch' is of the kind emptyDir, in which a next pod "
            "finds nothing; allowed: a volume that outlives pods, such as persistentVolumeClaim");
  for (const char* path : {"/a", "a/../b", "a//b", "a/", "."}) {
    EXPECT_THAT(trouble({.claim = "a", .path = path}),
                testing::HasSubstr("is not the path of a folder in a volume"))
        << path;
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
