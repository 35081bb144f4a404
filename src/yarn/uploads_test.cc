#include "yarn/uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace gangrun::yarn {
namespace {

using jobfile::LocalFile;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<LocalFile>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const LocalFile& file : files) names.push_back(file.name);
  return names;
}

TEST(Bundles, LargeFilesAreByThemselvesAndTheOthersTogether) {
  const std::map<std::string, std::uint64_t> sizes{
      {"/function", 100}, {"/images", kOwnBundleBytes}, {"/train.csv", kOwnBundleBytes - 1}};
  const Bundles bundles =
      bundles_of({{"/function", "function"}, {"/images", "images"}, {"/train.csv", "train.csv"}},
                 [&](const std::string& path) { return sizes.at(path); });
  EXPECT_THAT(names_of(bundles.own), ElementsAre("images"));
  EXPECT_THAT(names_of(bundles.common), ElementsAre("function", "train.csv"));
}

TEST(Bundles, WhatHasNoPlainNameIsNeverByItself) {
  const Bundles bundles =
      bundles_of({{"/1", "src/data.bin"}, {"/2", ".cache"}, {"/3", "a b"}, {"/4", "a:b"}},
                 [](const std::string&) { return kOwnBundleBytes; });
  EXPECT_THAT(bundles.own, IsEmpty());
  EXPECT_THAT(names_of(bundles.common), ElementsAre("src/data.bin", ".cache", "a b", "a:b"));
}

TEST(Bundles, OfManyTheFirstAreByThemselves) {
  std::vector<LocalFile> files;
  for (std::size_t i = 0; i < kMaxOwnBundles + 2; ++i) {
    files.push_back({"/x", "part-" + std::to_string(i)});
  }
  const Bundles bundles = bundles_of(files, [](const std::string&) { return kOwnBundleBytes; });
  EXPECT_EQ(bundles.own.size(), kMaxOwnBundles);
  EXPECT_THAT(names_of(bundles.common), ElementsAre("part-16", "part-17"));
}

TEST(Bundles, BytesOfAFolderAreThoseOfItsFilesUntilThereAreEnough) {
  namespace fs = std::filesystem;
  std::string folder = testing::TempDir() + "gangrun-bundles-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  fs::create_directories(folder + "/a/b");
  std::ofstream(folder + "/a/one") << std::string(10, 'x');
  std::ofstream(folder + "/a/b/two") << std::string(20, 'x');
  EXPECT_EQ(bytes_below(folder, 1000), 30U);
  EXPECT_EQ(bytes_below(folder + "/a/b/two", 1000), 20U);
  EXPECT_GE(bytes_below(folder, 5), 5U);
  EXPECT_LT(bytes_below(folder, 5), 30U);
  EXPECT_EQ(bytes_below(folder + "/none", 1000), 0U);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace gangrun::yarn
