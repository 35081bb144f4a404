#include "kubernetes/records/far_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"
#include "kubernetes/records/record_server_for_tests.h"
#include "net/digests.h"

namespace gangrun::kubernetes::records {
namespace {

using test::Office;
using test::RecordServer;
using testing::ElementsAre;
using testing::HasSubstr;

struct KeptKeys : RecordServer {
  KeptKeys() : office(*this), keys(place(), office.keeper) {}

  void keep(int segment, int part, const std::string& bytes) {
    keys.keep(segment, part, bytes, [this, bytes](const base::Result<>& kept) {
      EXPECT_TRUE(kept.ok()) << kept.error().message;
      done.push_back(bytes);
    });
  }
  std::vector<std::string> parts(int segment) {
    return read_chain(place(), store.head(), chain_of_keys(segment), deadline()).value();
  }

  Office office;
  MapKeys keys;
  std::vector<std::string> done;
};

TEST(MapKeys, KeepsThePartsOfSegments) {
  KeptKeys kept;
  kept.keep(1, 1, "one");
  kept.keep(1, 2, "two");
  kept.keep(2, 1, "three");
  ASSERT_TRUE(kept.wait([&] { return kept.done.size() == 3; }));
  EXPECT_THAT(kept.parts(1), ElementsAre("one", "two"));
  EXPECT_THAT(kept.parts(2), ElementsAre("three"));
}

TEST(MapKeys, ForgetsEarlierSegmentsAlsoOfOtherMasters) {
  KeptKeys kept;
  for (int segment = 1; segment <= 3; ++segment) kept.keep(segment, 1, "keys");
  ASSERT_TRUE(kept.wait([&] { return kept.done.size() == 3; }));
  Office next(kept, "pod-2");
  MapKeys keys(kept.place(), next.keeper);
  keys.forget_before(3);
  keys.forget_before(3);
  ASSERT_TRUE(kept.wait([&] { return kept.count("DELETE") == 2 && kept.store.maps.size() == 2; }));
  EXPECT_EQ(kept.store.head().chains, (std::map<std::string, int>{{"keys-000003", 1}}));
  EXPECT_THAT(kept.parts(3), ElementsAre("keys"));
}

struct KeptResults : RecordServer {
  KeptResults() : office(*this), results(place(), office.keeper) {}

  void keep(const std::string& name, const std::string& bytes) {
    const std::string path = folder / name;
    EXPECT_TRUE(base::write_file_atomically(path, bytes, 0600).ok());
    results.keep(name, path, [this](const base::Result<>& kept) {
      ++answered;
      if (!kept.ok()) failed.push_back(kept.error());
    });
  }
  void keep_and_wait(const std::string& name, const std::string& bytes) {
    keep(name, bytes);
    const int before = answered;
    EXPECT_TRUE(wait([&] { return answered > before; }));
  }
  base::Result<std::string> read(const std::string& name) {
    return read_result(place(), store.head(), name, deadline());
  }

  base::TestFolder folder;
  Office office;
  MapResults results;
  int answered = 0;
  std::vector<base::Error> failed;
};

TEST(MapResults, KeepsEachTasksLastOne) {
  KeptResults kept;
  const std::string large = net::random_bytes(result_limits().map_bytes + 10'000);  // of two maps
  kept.keep("worker-0", "42");
  kept.keep("worker-1", large);
  kept.keep("worker-2", "");
  ASSERT_TRUE(kept.wait([&] { return kept.answered == 3; }));
  EXPECT_EQ(kept.read("worker-0").value(), "42");
  EXPECT_EQ(kept.read("worker-1").value(), large);
  EXPECT_EQ(kept.read("worker-2").value(), "");
  kept.keep_and_wait("worker-1", "43");
  EXPECT_EQ(kept.read("worker-1").value(), "43");
  ASSERT_TRUE(kept.wait([&] { return kept.store.maps.size() == 4; }));  // the old ones are gone
  EXPECT_EQ(kept.store.head().chains.size(), 3U);
  EXPECT_TRUE(kept.failed.empty());
}

TEST(MapResults, OfAnEarlierMasterAreReplacedToo) {
  KeptResults kept;
  kept.keep_and_wait("worker-0", "42");
  Office next(kept, "pod-2");
  MapResults results(kept.place(), next.keeper);
  bool done = false;
  const std::string path = kept.folder / "again";
  ASSERT_TRUE(base::write_file_atomically(path, "43", 0600).ok());
  results.keep("worker-0", path, [&](const base::Result<>& ok) { done = ok.ok(); });
  ASSERT_TRUE(kept.wait([&] { return done && kept.store.maps.size() == 2; }));
  EXPECT_EQ(kept.read("worker-0").value(), "43");
}

TEST(MapResults, RemovesThem) {
  KeptResults kept;
  kept.keep_and_wait("worker-0", "42");
  kept.results.remove("worker-0");
  kept.results.remove("worker-9");
  kept.keep_and_wait("worker-1", "43");
  EXPECT_EQ(kept.read("worker-0").error().code, base::Code::kNotFound);
  EXPECT_EQ(kept.read("worker-1").value(), "43");
}

TEST(MapResults, HaveALimitTogether) {
  KeptResults kept;
  kept.keep_and_wait("worker-0", std::string(kMaxResultsBytes - 10, 'x'));
  kept.keep_and_wait("worker-1", std::string(11, 'x'));
  ASSERT_EQ(kept.failed.size(), 1U);
  EXPECT_EQ(kept.failed[0].code, base::Code::kResourceExhausted);
  EXPECT_THAT(kept.failed[0].message, HasSubstr("may have 8 MiB together"));
  kept.keep_and_wait("worker-1", std::string(10, 'x'));
  kept.keep_and_wait("worker-0", "in place of the large one");
  EXPECT_EQ(kept.failed.size(), 1U);
}

}  // namespace
}  // namespace gangrun::kubernetes::records
