#include "jobfile/container.h"

#include <gmock/gmock.h>

#include "base/format.h"

namespace gangrun::jobfile {
namespace {

bool is_allowed(const std::string& image) { return !check_image(image, "image"); }

TEST(CheckImage, TakesTheNamesThatEnginesTake) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  for (const std::string& image :
       {std::string("busybox"), std::string("tensorflow/tensorflow:2.15.0"),
        std::string("host:5000/team/my-image__x:v1.0_A"), std::string("registry.example.org/a/b/c"),
        std::string("a--b.c_d"), std::string("localhost/x"), "busybox@" + digest,
        "host:5000/busybox:1@" + digest}) {
    EXPECT_TRUE(is_allowed(image)) << image;
  }
}

TEST(CheckImage, RefusesWhatIsNone) {
  for (const char* image :
       {"Upper", "a b",    "-x",           "x-",           "a:",    ":tag",  "a:b:c",
        "a//b",  "/a",     "a/",           "host:99999/a", "a..b",  "a___b", "a@sha256:12",
        "a@",    "a:-tag", "--privileged", "a;b",          "a$(b)", "a\nb"}) {
    EXPECT_FALSE(is_allowed(image)) << image;
  }
  EXPECT_TRUE(is_allowed(std::string(255, 'a')));
  EXPECT_FALSE(is_allowed(std::string(256, 'a')));
}

TEST(CheckImage, NamesFieldAndValue) {
  const auto found = check_image("My Image", "tasks.worker.image");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "tasks.worker.image");
  EXPECT_THAT(found->text, testing::StartsWith("'My Image' is not the name of an image; allowed:"));
}

TEST(Mounts, AreReadAsTheyAreWritten) {
  EXPECT_EQ(mount_from("/data:ro"), (job::Mount{"/data", true}));
  EXPECT_EQ(mount_from("/data"), (job::Mount{"/data", false}));
  for (const char* text : {"/data:ro", "/data"}) EXPECT_EQ(to_string(mount_from(text)), text);
}

TEST(Mounts, AreAbsoluteAndDifferent) {
  const auto text_of = [](const std::vector<job::Mount>& mounts) {
    const auto found = check_mounts(mounts);
    return found ? found->path + ": " + found->text : std::string();
  };
  EXPECT_EQ(text_of({{"/a", true}, {"/b", false}}), "");
  EXPECT_THAT(text_of({{"data", false}}), testing::StartsWith("mounts.0: 'data' is not the path"));
  EXPECT_THAT(text_of({{"/a", false}, {"/a:rw", false}}), testing::StartsWith("mounts.1: '/a:rw'"));
  EXPECT_EQ(text_of({{"/a", false}, {"/a", true}}), "mounts.1: '/a' is given twice");
  std::vector<job::Mount> many;
  for (int i = 0; i < 65; ++i) many.push_back({base::format("/{}", i), false});
  EXPECT_EQ(text_of(many), "mounts: 65 mounts are more than the limit of 64");
}

TEST(ImagesOf, AreThoseOfAllTasks) {
  job::JobSpec job;
  job.image = "tf:2";
  job.tasks.resize(3);
  job.tasks[1].image = "";
  job.tasks[2].image = "small";
  EXPECT_THAT(images_of(job), testing::ElementsAre("small", "tf:2"));
}

}  // namespace
}  // namespace gangrun::jobfile
