#include "hadoop/content_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "hadoop/test_hdfs_internal.h"

namespace gangrun::hadoop {
namespace {

using base::Code;
using testing::HasSubstr;

const base::WallTime kNow{std::chrono::hours(500'000)};
const std::string kBase = "/user/alice/.gangrun/cache";

struct Fixture {
  explicit Fixture(Visibility visibility = Visibility::kPrivate)
      : store(client, kBase, visibility) {
    hdfs.put("/user", {true, {}, 0755, 1});
    hdfs.put("/user/alice", {true, {}, 0755, 1});
    content.name = "code.tar.gz";
    content.file = {file.get(), 0, bytes.size()};
    content.digest = *digest_of(content.file);
  }

  base::Result<ContentStore::Found> ensure(base::WallTime now = kNow) {
    return store.ensure(content, now, {}, test_deadline());
  }
  [[nodiscard]] std::string folder() const { return kBase + "/" + content.digest; }
  [[nodiscard]] std::string path() const { return folder() + "/code.tar.gz"; }
  // The files in the folder besides content and mark.
  [[nodiscard]] int leftovers() {
    int out = 0;
    for (const auto& [name, node] : hdfs.nodes()) {
      out += name.find(".uploading-") != std::string::npos ? 1 : 0;
    }
    return out;
  }

  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  ContentStore store;
  std::string bytes = "the same content";
  base::UniqueFd file = *base::memory_file("content", bytes);
  Content content;
};

TEST(ContentStore, TheSecondTimeNothingIsUploaded) {
  Fixture fixture;
  const auto first = fixture.ensure();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(first->uploaded);
  EXPECT_EQ(first->resource.scheme, "hdfs");
  EXPECT_EQ(first->resource.host, "nn");
  EXPECT_EQ(first->resource.port, 8020);
  EXPECT_EQ(first->resource.path, fixture.path());
  EXPECT_EQ(first->resource.size, 16);
  EXPECT_EQ(first->resource.visibility, Visibility::kPrivate);
  EXPECT_EQ(first->resource.timestamp, fixture.hdfs.nodes()[fixture.path()].time);
  EXPECT_EQ(fixture.hdfs.nodes()[fixture.path()].permission, 0600U);
  EXPECT_EQ(fixture.hdfs.nodes()[fixture.folder()].permission, 0700U);
  const int uploads = fixture.hdfs.count("CREATE");
  const auto second = fixture.ensure(kNow + std::chrono::hours(1));
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_FALSE(second->uploaded);
  EXPECT_EQ(second->resource.timestamp, first->resource.timestamp);
  EXPECT_EQ(fixture.hdfs.count("CREATE"), uploads);
  EXPECT_EQ(fixture.leftovers(), 0);
}

TEST(ContentStore, WhoLosesTheRaceTakesWhatIsThere) {
  Fixture fixture;
  // The other one's, in place when the answer comes.
  fixture.hdfs.put(fixture.path(), {false, fixture.bytes, 0600, 4711});
  fixture.hdfs.put(fixture.folder(), {true, {}, 0700, 1});
  int looks = 0;
  fixture.hdfs.on_call([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    const std::string& operation = request.query.at("op");
    if (operation == "GETFILESTATUS" && looks++ == 0) {
      return exception_answer(404, "FileNotFoundException", "not yet");
    }
    return std::nullopt;
  });
  const auto found = fixture.ensure();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->resource.timestamp, 4711);
  EXPECT_EQ(fixture.leftovers(), 0);
}

TEST(ContentStore, AFileOfAnotherLengthIsReplaced) {
  Fixture fixture;
  fixture.hdfs.put(fixture.path(), {false, "half", 0600, 1});
  const auto found = fixture.ensure();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->uploaded);
  EXPECT_EQ(fixture.hdfs.nodes()[fixture.path()].content, fixture.bytes);
}

TEST(ContentStore, AFailedUploadLeavesNothingBehind) {
  for (const std::string operation : {"MKDIRS", "CREATE", "RENAME", "GETFILESTATUS"}) {
    Fixture fixture;
    fixture.hdfs.on_call([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
      if (request.query.at("op") != operation) return std::nullopt;
      return exception_answer(403, "DSQuotaExceededException", "The DiskSpace quota is exceeded");
    });
    const auto found = fixture.ensure();
    ASSERT_FALSE(found.ok()) << operation;
    EXPECT_EQ(found.error().code, Code::kResourceExhausted) << operation;
    EXPECT_THAT(found.error().message, HasSubstr(operation));
    EXPECT_EQ(fixture.leftovers(), 0) << operation;
    EXPECT_FALSE(fixture.hdfs.nodes().contains(fixture.path())) << operation;
  }
}

TEST(ContentStore, AMarkThatCannotBeMadeDoesNotMatter) {
  Fixture fixture;
  fixture.hdfs.on_call([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (!request.path.ends_with("/.used")) return std::nullopt;
    return exception_answer(403, "AccessControlException", "Permission denied");
  });
  EXPECT_TRUE(fixture.ensure().ok());
}

TEST(ContentStore, APublicOneMayBeReadByEverybody) {
  Fixture fixture(Visibility::kPublic);
  const auto found = fixture.ensure();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->resource.visibility, Visibility::kPublic);
  EXPECT_EQ(fixture.hdfs.nodes()[fixture.path()].permission, 0644U);
  EXPECT_EQ(fixture.hdfs.nodes()[fixture.folder()].permission, 0755U);
}

TEST(ContentStore, APublicOneBelowAClosedFolderIsRefusedBeforeTheUpload) {
  Fixture fixture(Visibility::kPublic);
  fixture.hdfs.put("/user/alice", {true, {}, 0700, 1});
  const auto found = fixture.ensure();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(found.error().message, HasSubstr("/user/alice may not be entered by everybody"));
  EXPECT_EQ(fixture.hdfs.count("CREATE"), 0);
}

TEST(ContentStore, CleaningRemovesWhatHasNotBeenAskedFor) {
  Fixture fixture;
  ASSERT_TRUE(fixture.ensure().ok());
  const auto old_upload = fixture.folder() + "/.uploading-0011";
  fixture.hdfs.put(old_upload, {false, "half", 0600, 1});
  fixture.hdfs.put(kBase + "/notes", {true, {}, 0700, 1});
  const std::string orphan = kBase + "/" + std::string(64, 'a');
  fixture.hdfs.put(orphan, {true, {}, 0700, 1});
  const std::chrono::hours day(24);
  // Used a day ago at most: it stays, what a dead upload left goes.
  EXPECT_EQ(*fixture.store.clean(kNow + day, day, test_deadline()), 1);
  EXPECT_TRUE(fixture.hdfs.nodes().contains(fixture.path()));
  EXPECT_FALSE(fixture.hdfs.nodes().contains(old_upload));
  EXPECT_FALSE(fixture.hdfs.nodes().contains(orphan));
  // Asked for again, it lives longer.
  ASSERT_TRUE(fixture.ensure(kNow + day).ok());
  EXPECT_EQ(*fixture.store.clean(kNow + day + std::chrono::hours(2), day, test_deadline()), 0);
  EXPECT_EQ(*fixture.store.clean(kNow + 3 * day, day, test_deadline()), 1);
  EXPECT_FALSE(fixture.hdfs.nodes().contains(fixture.folder()));
  EXPECT_TRUE(fixture.hdfs.nodes().contains(kBase + "/notes")) << "not ours";
}

TEST(ContentStore, CleaningNothingIsNoError) {
  Fixture fixture;
  EXPECT_EQ(*fixture.store.clean(kNow, std::chrono::hours(1), test_deadline()), 0);
}

TEST(ContentStore, WhatIsNoContentIsRefused) {
  Fixture fixture;
  for (const std::string name : {"", "a/b", ".used", "..", "a:b"}) {
    fixture.content.name = name;
    EXPECT_EQ(fixture.ensure().error().code, Code::kInvalidArgument) << name;
  }
  fixture.content.name = "x";
  fixture.content.digest = "../../x";
  EXPECT_EQ(fixture.ensure().error().code, Code::kInvalidArgument);
  EXPECT_TRUE(fixture.hdfs.seen().empty());
}

TEST(ContentStore, ADigestIsOfThePartOnly) {
  const auto file = base::memory_file("part", "xxabcyy");
  EXPECT_EQ(*digest_of({file->get(), 2, 3}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of({file->get(), 2, 6}).error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace gangrun::hadoop
