#include "hadoop/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace gangrun::hadoop {
namespace {

namespace fs = std::filesystem;
using base::Code;
using testing::HasSubstr;

// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "archive_test.XXXXXX";
    path_ = fs::canonical(::mkdtemp(name.data()));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // Returns its path.
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0640) const {
    const std::string path = *this / name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

 private:
  std::string path_;
};

base::Result<std::string> pack(const std::vector<ArchiveSource>& sources,
                               const ArchiveLimits& limits = {}) {
  std::string out;
  GANGRUN_TRY(write_archive(sources, limits, [&out](std::string_view piece) -> base::Result<> {
    out += piece;
    return {};
  }));
  return out;
}

// Runs a program to its end, which must be a success.
void run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// The archive unpacked into a new folder by the system's tar.
std::string unpack(const Folder& folder, const std::string& archive) {
  const std::string packed = folder.file("packed.tar.gz", archive);
  const std::string target = folder / "unpacked";
  fs::create_directory(target);
  run({"tar", "-xzf", packed, "-C", target});
  return target;
}

std::string content_of(const std::string& path) {
  auto content = base::read_file(path, 100'000'000);
  EXPECT_TRUE(content.ok()) << content.error().message;
  return content.value_or("");
}

TEST(Archive, TarUnpacksWhatWasPacked) {
  const Folder folder;
  folder.file("in/a.py", "print(1)\n");
  folder.file("in/sub/run.sh", "#!/bin/sh\n", 0700);
  folder.file("in/large", std::string(1'000'003, 'x'));
  folder.file("in/empty", "");
  fs::create_directory(folder / "in/nothing");
  const std::string single = folder.file("single", "one");
  const auto packed = pack({{"code", folder / "in"}, {"data/only.txt", single}});
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  const std::string out = unpack(folder, *packed);
  EXPECT_EQ(content_of(out + "/code/a.py"), "print(1)\n");
  EXPECT_EQ(content_of(out + "/code/large"), std::string(1'000'003, 'x'));
  EXPECT_EQ(content_of(out + "/code/empty"), "");
  EXPECT_EQ(content_of(out + "/data/only.txt"), "one");
  EXPECT_TRUE(fs::is_directory(out + "/code/nothing"));
  EXPECT_EQ(::access((out + "/code/sub/run.sh").c_str(), X_OK), 0);
  EXPECT_EQ(fs::status(out + "/code/a.py").permissions() & fs::perms::owner_exec, fs::perms::none);
}

TEST(Archive, NamesOfAnyLengthAndAlphabet) {
  const Folder folder;
  std::vector<std::string> names{"a b",
                                 "ä.txt",
                                 "日本",
                                 std::string(99, 'n'),
                                 std::string(100, 'n'),
                                 std::string(101, 'n'),
                                 std::string(200, 'd') + "/" + std::string(200, 'f')};
  for (const std::string& name : names) folder.file("in/" + name, name);
  const auto packed = pack({{"x", folder / "in"}});
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  const std::string out = unpack(folder, *packed);
  for (const std::string& name : names) EXPECT_EQ(content_of(out + "/x/" + name), name);
}

TEST(Archive, EqualContentsMakeEqualArchives) {
  const Folder one;
  const Folder two;
  one.file("in/a", "1");
  one.file("in/b", "2", 0755);
  // In another order, with other times and modes that are not kept.
  two.file("in/b", "2", 0711);
  two.file("in/a", "1", 0600);
  fs::last_write_time(two / "in/a", fs::file_time_type::clock::now() - std::chrono::hours(99));
  EXPECT_EQ(*pack({{"x", one / "in"}}), *pack({{"x", two / "in"}}));
  EXPECT_EQ(*pack({{"x", one / "in/a"}, {"y", one / "in/b"}}),
            *pack({{"y", one / "in/b"}, {"x", one / "in/a"}}));
  EXPECT_NE(*pack({{"x", one / "in"}}), *pack({{"y", one / "in"}}));
}

TEST(Archive, LinksAreFollowedInside) {
  const Folder folder;
  folder.file("in/sub/real", "content");
  fs::create_symlink("sub/real", folder / "in/link");
  fs::create_symlink("sub", folder / "in/folder");
  const auto packed = pack({{"x", folder / "in"}});
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  const std::string out = unpack(folder, *packed);
  EXPECT_EQ(content_of(out + "/x/link"), "content");
  EXPECT_EQ(content_of(out + "/x/folder/real"), "content");
  EXPECT_FALSE(fs::is_symlink(out + "/x/link"));
  // A link that the user names is as good as what it leads to.
  EXPECT_TRUE(pack({{"x", folder / "in/folder"}}).ok());
}

TEST(Archive, LinksOutsideInCirclesOrToNowhereAreRefused) {
  const Folder folder;
  folder.file("outside", "secret");
  folder.file("in1/x", "");
  fs::create_symlink("../outside", folder / "in1/link");
  folder.file("in2/x", "");
  fs::create_symlink("..", folder / "in2/up");
  folder.file("in3/sub/x", "");
  fs::create_symlink("..", folder / "in3/sub/circle");
  folder.file("in4/x", "");
  fs::create_symlink("nowhere", folder / "in4/broken");
  folder.file("in55/x", "");
  folder.file("in5/x", "");
  fs::create_symlink("../in55/x", folder / "in5/neighbour");
  for (const std::string name : {"in1", "in2", "in3", "in5"}) {
    const auto packed = pack({{"x", folder / name}});
    ASSERT_FALSE(packed.ok()) << name;
    EXPECT_EQ(packed.error().code, Code::kInvalidArgument) << packed.error().message;
  }
  const auto broken = pack({{"x", folder / "in4"}});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, Code::kNotFound);
  EXPECT_THAT(broken.error().message, HasSubstr("in4/broken"));
}

TEST(Archive, WhatIsNoFileIsRefused) {
  const Folder folder;
  folder.file("in/x", "");
  ASSERT_EQ(::mkfifo((folder / "in/pipe").c_str(), 0600), 0);
  const auto packed = pack({{"x", folder / "in"}});
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(packed.error().code, Code::kInvalidArgument);
  EXPECT_THAT(packed.error().message, HasSubstr("in/pipe is a named pipe"));
  EXPECT_THAT(pack({{"x", "/dev/null"}}).error().message, HasSubstr("/dev/null is a device"));
  EXPECT_EQ(pack({{"x", folder / "absent"}}).error().code, Code::kNotFound);
}

TEST(Archive, NamesAreCheckedAndUsedOnce) {
  const Folder folder;
  const std::string file = folder.file("f", "");
  for (const std::string name : {"", "/x", "a//b", "../x", "a/..", "./x"}) {
    EXPECT_EQ(pack({{name, file}}).error().code, Code::kInvalidArgument) << name;
  }
  const auto twice = pack({{"x", file}, {"x", file}});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, Code::kInvalidArgument);
}

TEST(Archive, LimitsNameTheFile) {
  const Folder folder;
  folder.file("in/a", "12345");
  folder.file("in/b", "12345");
  const auto large = pack({{"x", folder / "in"}}, {.max_bytes = 9});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Code::kResourceExhausted);
  EXPECT_THAT(large.error().message, HasSubstr("in/"));
  EXPECT_TRUE(pack({{"x", folder / "in"}}, {.max_bytes = 10}).ok());
  EXPECT_EQ(pack({{"x", folder / "in"}}, {.max_files = 2}).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(pack({{"x", folder / "in"}}, {.max_files = 3}).ok());
}

TEST(Archive, AFullSinkEndsIt) {
  const Folder folder;
  const std::string file = folder.file("f", "x");
  const auto full = write_archive({{"x", file}}, {}, [](std::string_view) -> base::Result<> {
    return base::not_found("full");
  });
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message, "full");
}

}  // namespace
}  // namespace gangrun::hadoop
