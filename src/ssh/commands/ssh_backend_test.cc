#include "ssh/commands/ssh_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gangrun::ssh::commands {
namespace {

namespace fs = std::filesystem;

TEST(HostFiles, AreThoseOfTheJobWithTheirFolders) {
  const fs::path top = fs::path(testing::TempDir()) / "host-files";
  fs::remove_all(top);
  fs::create_directories(top / "conf/empty");
  std::ofstream(top / "conf" / std::string(100, 'c')) << "1";
  job::JobSpec spec;
  spec.tasks.emplace_back().type = "worker";
  spec.files = {"conf#c"};
  const auto files = host_files(spec, top.string());
  ASSERT_TRUE(files.ok()) << files.error().message;
  std::vector<std::string> names;
  for (const ssh::HostFile& file : *files) names.push_back(file.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("c", "c/empty", "c/" + std::string(100, 'c')));

  // Hosts refused it, after the dry run had taken it.
  std::string deep = "d";
  while (deep.size() < 3000) deep += "/d";
  spec.files = {"conf#" + deep};
  EXPECT_THAT(host_files(spec, top.string()).error().message,
              testing::HasSubstr("is too long for a name in the tasks' folder"));
  fs::remove_all(top);
}

// A link to a folder came as an empty folder, and what is no file was left out without a word.
TEST(HostFiles, LinksComeWithWhatTheyLeadTo) {
  const fs::path top = fs::path(testing::TempDir()) / "host-file-links";
  fs::remove_all(top);
  fs::create_directories(top / "data");
  fs::create_directories(top / "data-2026/sub");
  std::ofstream(top / "data-2026/sub/train.csv") << "1,2\n";
  fs::create_symlink("../data-2026", top / "data/current");
  job::JobSpec spec;
  spec.tasks.emplace_back().type = "worker";
  spec.files = {"data"};
  const auto files = host_files(spec, top.string());
  ASSERT_TRUE(files.ok()) << files.error().message;
  std::vector<std::string> names;
  for (const ssh::HostFile& file : *files) names.push_back(file.name);
  EXPECT_THAT(names, testing::ElementsAre("data", "data/current", "data/current/sub",
                                          "data/current/sub/train.csv"));
  EXPECT_EQ(files->back().size, 4U);
  ASSERT_EQ(::mkfifo((top / "data/pipe").c_str(), 0600), 0);
  EXPECT_THAT(host_files(spec, top.string()).error().message,
              testing::HasSubstr("data/pipe is a named pipe; allowed: files and folders"));
  fs::remove_all(top);
}

}  // namespace
}  // namespace gangrun::ssh::commands
