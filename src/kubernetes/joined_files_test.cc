#include "kubernetes/joined_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/test_folder.h"

namespace gangrun::kubernetes {
namespace {

using Words = std::vector<std::string>;
using testing::HasSubstr;

const std::vector<JoinedFile> kTwo = {
    {.path = "/joined/0", .mode = 0444, .parts = {"/parts/0/a.0", "/parts/1/a.1"}},
    {.path = "/joined/3", .mode = 0555, .parts = {"/parts/2/b.0"}}};

TEST(JoinedFiles, AreNamedByTheWordsOfAnAgent) {
  const Words words = to_words(kTwo);
  EXPECT_EQ(words, (Words{"--to", "/joined/0", "--mode", "0444", "/parts/0/a.0", "/parts/1/a.1",
                          "--to", "/joined/3", "--mode", "0555", "/parts/2/b.0"}));
  EXPECT_EQ(joined_files_from(words), kTwo);
  EXPECT_EQ(to_words({}), Words{});
}

TEST(JoinedFiles, AreNotReadFromOtherWords) {
  for (const Words& words :
       {Words{"/parts/0/a"}, Words{"--to", "/a", "--mode"}, Words{"--to", "/a", "--mode", "0444"},
        Words{"--to", "/a", "--mode", "0888", "/p"}, Words{"--to", "/a", "--mode", "1777", "/p"},
        Words{"--to", "", "--mode", "0444", "/p"}, Words{"--to", "/a", "/p"},
        Words{"--mode", "0444", "--to", "/a", "/p"}, Words{"relative"}}) {
    EXPECT_EQ(joined_files_from(words), std::nullopt) << testing::PrintToString(words);
  }
}

TEST(JoinedFiles, AreALineForAShell) {
  EXPECT_EQ(to_shell_line(kTwo),
            "cat /parts/0/a.0 /parts/1/a.1 > /joined/0 && chmod 0444 /joined/0 && "
            "cat /parts/2/b.0 > /joined/3 && chmod 0555 /joined/3");
  EXPECT_EQ(to_shell_line({}), "");
}

TEST(JoinedFiles, ArePutTogetherInTheirOrderAndReplaceWhatIsThere) {
  const base::TestFolder folder;
  const JoinedFile file{
      .path = folder / "whole", .mode = 0555, .parts = {folder / "b", folder / "a"}};
  ASSERT_TRUE(base::write_file_atomically(folder / "a", "world", 0600).ok());
  ASSERT_TRUE(base::write_file_atomically(folder / "b", std::string("hello\0 ", 7), 0600).ok());
  ASSERT_TRUE(base::write_file_atomically(file.path, "a longer one that was there", 0400).ok());
  ASSERT_TRUE(put_together(file).ok());
  EXPECT_EQ(base::read_file(file.path, 100).value(), std::string("hello\0 world", 12));
  struct stat status {};
  ASSERT_EQ(::stat(file.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0555U);
}

TEST(JoinedFiles, ThatLackAPartAreAnErrorThatNamesIt) {
  const base::TestFolder folder;
  const auto done =
      put_together({.path = folder / "whole", .mode = 0444, .parts = {folder / "missing"}});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr(folder / "missing"));
}

}  // namespace
}  // namespace gangrun::kubernetes
