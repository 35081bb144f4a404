#include "hadoop/digest_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/json.h"
#include "base/unique_fd.h"

namespace gangrun::hadoop {
namespace {

constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class DigestCacheTest : public testing::Test {
 protected:
  DigestCacheTest() {
    std::string name = std::filesystem::temp_directory_path().string() + "/digests_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    write(file_, "abc");
  }
  ~DigestCacheTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary | std::ios::trunc) << text;
  }
  [[nodiscard]] std::string cache() const { return folder_ + "/new/digests.json"; }
  [[nodiscard]] std::string cached() const {
    return base::read_file(cache(), 1 << 20).value_or("");
  }

  // Minutes from now, so that the file was not changed lately.
  std::string digest(std::chrono::seconds later = std::chrono::minutes(1)) {
    const base::UniqueFd fd(::open((folder_ + "/" + file_).c_str(), O_RDONLY | O_CLOEXEC));
    DigestCache digests(cache());
    const auto found = digests.digest_of(folder_ + "/" + file_, fd.get(),
                                         base::WallTime(std::chrono::system_clock::now()) + later);
    return found.ok() ? *found : found.error().message;
  }

  // The mark of a digest that was kept, not taken: only that one is wrong.
  void falsify() const {
    std::string text = cached();
    const std::size_t at = text.find(kOfAbc);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, 4, "0000");
    ASSERT_TRUE(base::write_file_atomically(cache(), text, 0600).ok());
  }

  std::string folder_;
  std::string file_ = "a.tar.gz";
};

TEST_F(DigestCacheTest, AFileThatIsTheSameIsNotReadAgain) {
  EXPECT_EQ(digest(), kOfAbc);
  struct stat info {};
  ASSERT_EQ(::stat(cache().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  falsify();
  EXPECT_THAT(digest(), testing::StartsWith("0000"));
}

TEST_F(DigestCacheTest, AChangedFileIsReadAgain) {
  EXPECT_EQ(digest(), kOfAbc);
  falsify();
  write("b", "abc");
  std::filesystem::rename(folder_ + "/b", folder_ + "/" + file_);
  EXPECT_EQ(digest(), kOfAbc);
  falsify();
  const timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ + "/" + file_).c_str(), times, 0), 0);
  EXPECT_EQ(digest(), kOfAbc);
}

TEST_F(DigestCacheTest, AFileOfThisMomentIsNotKept) {
  EXPECT_EQ(digest(std::chrono::seconds(0)), kOfAbc);
  EXPECT_FALSE(std::filesystem::exists(cache()));
}

TEST_F(DigestCacheTest, ABrokenCacheIsMadeAnew) {
  std::filesystem::create_directory(folder_ + "/new");
  for (const char* text : {"", "{", "7", "[7,{}]", "[{\"path\":1,\"digest\":\"x\"}]"}) {
    ASSERT_TRUE(base::write_file_atomically(cache(), text, 0600).ok());
    EXPECT_EQ(digest(), kOfAbc) << text;
    EXPECT_THAT(cached(), testing::HasSubstr(kOfAbc)) << text;
  }
}

TEST_F(DigestCacheTest, KeepsTheNewestAndOneOfAPath) {
  const auto add = [this](const std::string& name) {
    file_ = name;
    write(file_, "abc");
    EXPECT_EQ(digest(), kOfAbc);
  };
  add("f1");
  add("f2");
  auto entries = base::parse_json(cached(), 1 << 20).value_or(base::Json::array());
  ASSERT_EQ(entries.size(), 2U);
  while (entries.size() < 256) {
    auto entry = entries[1];
    entry["path"] = folder_ + "/other" + std::to_string(entries.size());
    entries.push_back(std::move(entry));
  }
  ASSERT_TRUE(base::write_file_atomically(cache(), base::dump_json(entries), 0600).ok());
  add("f3");
  EXPECT_THAT(cached(), testing::Not(testing::HasSubstr("/f1\"")));
  EXPECT_THAT(cached(), testing::HasSubstr("/f2\""));
  write(file_, "abcd");
  (void)digest();
  EXPECT_THAT(cached(), testing::HasSubstr("/f2\"")) << "only the old one of the same path goes";
}

TEST_F(DigestCacheTest, WithoutAPlaceItStillTakesDigests) {
  const base::UniqueFd fd(::open((folder_ + "/" + file_).c_str(), O_RDONLY | O_CLOEXEC));
  for (const char* path : {"", "/proc/nowhere/digests.json"}) {
    DigestCache digests(path);
    const auto found =
        digests.digest_of("a", fd.get(), base::WallTime(std::chrono::hours(900'000)));
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(*found, kOfAbc);
  }
  const base::UniqueFd folder(::open(folder_.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(DigestCache("").digest_of("a", folder.get(), base::WallTime()).ok());
}

}  // namespace
}  // namespace gangrun::hadoop
