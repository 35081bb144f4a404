#include "client/default_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "client/test_context.h"

namespace gangrun::client {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DefaultFilesTest : public testing::Test {
 protected:
  DefaultFilesTest() {
    context().environment["HOME"] = test_.folder();
    context().system_folder = test_.folder() + "/etc";
  }
  Context& context() { return test_.context(); }
  std::string write(const std::string& name, std::string_view text, mode_t mode = 0644) {
    const std::string path = test_.folder() + "/" + name;
    EXPECT_TRUE(base::make_folders(path.substr(0, path.rfind('/')), 0755).ok());
    EXPECT_TRUE(base::write_file_atomically(path, text, mode).ok());
    return path;
  }
  std::vector<jobfile::DefaultFile> files() {
    auto found = read_default_files(context());
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *std::move(found) : std::vector<jobfile::DefaultFile>();
  }
  std::string error() {
    const auto found = read_default_files(context());
    EXPECT_FALSE(found.ok());
    if (!found.ok()) EXPECT_EQ(found.error().code, base::Code::kInvalidArgument);
    return found.ok() ? "" : found.error().message;
  }

  TestContext test_;
};

TEST_F(DefaultFilesTest, TheMachinesOwnComesFirst) {
  EXPECT_THAT(files(), IsEmpty());
  const std::string user = write(".config/gangrun.yaml", "on: yarn");
  const std::string machine = write("etc/gangrun.yaml", "on: local");
  EXPECT_THAT(files(), testing::ElementsAre(jobfile::DefaultFile{machine, "on: local"},
                                            jobfile::DefaultFile{user, "on: yarn"}));
  context().environment[kNoDefaultsVariable] = "1";
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DefaultFilesTest, TheUsersFolderIsThatOfXdg) {
  write(".config/gangrun.yaml", "a: 1");
  const std::string other = write("x/gangrun.yaml", "b: 1");
  context().environment["XDG_CONFIG_HOME"] = test_.folder() + "/x/";
  ASSERT_THAT(files(), SizeIs(1));
  EXPECT_EQ(files()[0].path, other);
  // The specification has a relative one ignored.
  context().environment["XDG_CONFIG_HOME"] = "x";
  EXPECT_EQ(files()[0].text, "a: 1");
  context().environment.erase("XDG_CONFIG_HOME");
  context().environment.erase("HOME");
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DefaultFilesTest, OneThatOthersMayWriteIsRefused) {
  const std::string path = write(".config/gangrun.yaml", "on: yarn", 0664);
  EXPECT_EQ(error(), path +
                         " is not followed: it has mode 0664, so that others than its owner may "
                         "write there; allowed: at most 0644 (chmod go-w); or leave it out by "
                         "--no-defaults or GANGRUN_NO_DEFAULTS=1");
  ::chmod(path.c_str(), 0600);
  EXPECT_THAT(files(), SizeIs(1));
  const std::string folder = test_.folder() + "/.config";
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(error(),
              HasSubstr(path + " is not followed: its folder " + folder + " has mode 0777"));
  // Nobody else can replace it where the folder is like /tmp.
  ::chmod(folder.c_str(), 01777);
  EXPECT_THAT(files(), SizeIs(1));
  ::chmod(folder.c_str(), 0755);
  ::chmod(test_.folder().c_str(), 0770);
  EXPECT_THAT(error(), HasSubstr("its folder " + test_.folder() + " has mode 0770"));
}

// As people have them who keep such files in one folder.
TEST_F(DefaultFilesTest, ALinkIsFollowedWhereItsTargetIsSafeToo) {
  const std::string target = write("dotfiles/gangrun.yaml", "on: yarn");
  const std::string folder = test_.folder() + "/.config";
  ASSERT_TRUE(base::make_folders(folder, 0755).ok());
  std::filesystem::create_symlink(target, folder + "/gangrun.yaml");
  EXPECT_EQ(files()[0].text, "on: yarn");
  ::chmod((test_.folder() + "/dotfiles").c_str(), 0777);
  EXPECT_THAT(error(), HasSubstr("its folder " + test_.folder() + "/dotfiles has mode 0777"));
}

// It was left out, and no default counted.
TEST_F(DefaultFilesTest, ALinkThatLeadsNowhereIsAnError) {
  const std::string folder = test_.folder() + "/.config";
  ASSERT_TRUE(base::make_folders(folder, 0755).ok());
  std::filesystem::create_symlink(test_.folder() + "/gone", folder + "/gangrun.yaml");
  EXPECT_EQ(error(), folder +
                         "/gangrun.yaml is a link to what is not there; allowed: a file of "
                         "defaults, or none");
}

TEST_F(DefaultFilesTest, AFolderThatIsALinkToNowhereIsAnErrorToo) {
  const std::string folder = test_.folder() + "/.config";
  const std::string target = test_.folder() + "/dotfiles";
  std::filesystem::create_symlink(target, folder);
  EXPECT_THAT(error(), HasSubstr(folder + " is a link to what is not there"));
  ASSERT_TRUE(base::make_folders(target, 0755).ok());
  EXPECT_TRUE(files().empty());
}

TEST_F(DefaultFilesTest, WhatIsNoFileIsAnErrorThatNamesIt) {
  const std::string path = test_.folder() + "/.config/gangrun.yaml";
  ASSERT_TRUE(base::make_folders(path, 0755).ok());
  EXPECT_EQ(error(), path + " is a folder; allowed: a file of defaults, or none");
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(error(), HasSubstr(path));
}

TEST(DefaultFiles, OnlyRootAndTheUserOwnThem) {
  constexpr uid_t kUser = 1000;
  constexpr mode_t kFile = S_IFREG | 0644;
  EXPECT_EQ(why_not_followed(0, kFile, kUser), "");
  EXPECT_EQ(why_not_followed(kUser, kFile, kUser), "");
  EXPECT_EQ(why_not_followed(1001, kFile, kUser),
            "belongs to uid 1001; allowed: root or you (uid 1000)");
  EXPECT_EQ(why_not_followed(1001, kFile, 0), "belongs to uid 1001; allowed: root");
  EXPECT_THAT(why_not_followed(0, S_IFREG | 0646, kUser), HasSubstr("has mode 0646"));
  // The sticky bit says nothing of a file.
  EXPECT_THAT(why_not_followed(0, S_IFREG | S_ISVTX | 0666, kUser), HasSubstr("has mode 1666"));
}

}  // namespace
}  // namespace gangrun::client
