#include "process/start_hint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace gangrun::process {
namespace {

class StartHint : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "gangrun-hint-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file("train.py", 0644);
    file("a b.sh", 0644);
    file("tool", 0755);
    file("ready.py", 0755);
    file("data.csv", 0644);
    std::filesystem::create_directory(folder_ + "/folder.py");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void file(const std::string& name, mode_t mode) const {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    ASSERT_EQ(::chmod((folder_ + "/" + name).c_str(), mode), 0);
  }
  std::string hint(const std::string& program) const { return start_hint(program, folder_); }

  std::string folder_;
};

TEST_F(StartHint, ScriptsThatAreNotExecutableHaveAnInterpreter) {
  EXPECT_EQ(hint("train.py"), "; use python3 train.py");
  EXPECT_EQ(hint("./train.py"), "; use python3 ./train.py");
  EXPECT_EQ(hint("a b.sh"), "; use bash 'a b.sh'");
  EXPECT_EQ(start_hint(folder_ + "/train.py", "/"), "; use python3 " + folder_ + "/train.py");
}

TEST_F(StartHint, ProgramsOfTheFolderAreNamedWithIt) {
  EXPECT_EQ(hint("tool"), "; use ./tool");
  EXPECT_EQ(hint("ready.py"), "; use ./ready.py");
}

TEST_F(StartHint, OfOtherFilesNothingIsKnown) {
  for (const char* other : {"data.csv", "none.py", "folder.py", "./tool", ""}) {
    EXPECT_EQ(hint(other), "") << other;
  }
}

}  // namespace
}  // namespace gangrun::process
