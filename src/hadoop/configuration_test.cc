#include "hadoop/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Configuration configuration_with(const std::vector<std::pair<std::string, std::string>>& values) {
  Configuration configuration({{"env.HOME", "/home/alice"}, {"env.NONE", ""}, {"user.name", "al"}});
  std::vector<Property> properties;
  for (const auto& [name, value] : values) {
    properties.push_back({.name = name, .value = value, .file = "yarn-site.xml", .line = 7});
  }
  configuration.add(properties);
  return configuration;
}

TEST(Configuration, TheLaterValueCountsUnlessTheEarlierIsFinal) {
  Configuration configuration;
  configuration.add({{.name = "a", .value = "1"}, {.name = "b", .value = "1", .final = true}});
  configuration.add({{.name = "a", .value = "2"}, {.name = "b", .value = "2"}});
  EXPECT_EQ(configuration.get("a"), "2");
  EXPECT_EQ(configuration.get("b"), "1");
  EXPECT_EQ(configuration.get("c"), std::nullopt);
  EXPECT_EQ(configuration.get_or("c", "3"), "3");
}

TEST(Configuration, AFormerNameIsReadAsThePresentOne) {
  EXPECT_EQ(configuration_with({{"fs.default.name", "hdfs://a"}}).get("fs.defaultFS"), "hdfs://a");
}

TEST(Configuration, VariablesAreReplaced) {
  const Configuration configuration = configuration_with({
      {"host", "node1"},
      {"address", "${host}:${port}"},
      {"port", " 80${digit} "},
      {"digit", "3"},
      {"inner", "${ho${two}}"},
      {"two", "st"},
      {"home", "${env.HOME}/x"},
      {"or", "${env.OTHER-a}${env.NONE-b}${env.NONE:-c}${env.HOME:-d}"},
      {"temporary", "/tmp/${user.name}"},
  });
  EXPECT_EQ(configuration.get("address"), "node1: 803");
  EXPECT_EQ(configuration.get("inner"), "node1");
  EXPECT_EQ(configuration.get("home"), "/home/alice/x");
  EXPECT_EQ(configuration.get("or"), "ac/home/alice");
  EXPECT_EQ(configuration.get("temporary"), "/tmp/al");
}

TEST(Configuration, WhatNamesNothingOrItselfStaysAsItIs) {
  const Configuration configuration = configuration_with({
      {"nothing", "a${nobody}b${env.NOBODY}"},
      {"itself", "x${itself}"},
      {"one", "${two}"},
      {"two", "${one}${one}"},
      {"open", "${a"},
      {"empty", "${}"},
      {"closed", "}${"},
  });
  EXPECT_EQ(configuration.get("nothing"), "a${nobody}b${env.NOBODY}");
  EXPECT_EQ(configuration.get("itself"), "x${itself}");
  EXPECT_EQ(configuration.get("one"), "${two}");
  EXPECT_EQ(configuration.get("open"), "${a");
  EXPECT_EQ(configuration.get("empty"), "${}");
  EXPECT_EQ(configuration.get("closed"), "}${");
}

TEST(Configuration, AListHasNoEmptyParts) {
  const Configuration configuration = configuration_with({{"ids", " rm1, rm2 ,,"}});
  EXPECT_THAT(configuration.list("ids"), ElementsAre("rm1", "rm2"));
  EXPECT_TRUE(configuration.list("none").empty());
}

TEST(Configuration, ASwitchIsTrueOrFalse) {
  const Configuration configuration = configuration_with({{"t", "TRUE"}, {"f", "false"}});
  EXPECT_EQ(configuration.boolean("t", false), true);
  EXPECT_EQ(configuration.boolean("f", true), false);
  EXPECT_EQ(configuration.boolean("none", true), true);
}

TEST(Configuration, AWrongValueIsToldWithFileLineKeyAndValue) {
  const Configuration configuration = configuration_with({{"a", "many"}, {"loop", "${loop}"}});
  EXPECT_EQ(configuration.boolean("a", true).error().message,
            "yarn-site.xml:7: a is \"many\"; expected true or false");
  EXPECT_EQ(configuration.boolean("a", true).error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(configuration.boolean("loop", true).error().message, HasSubstr("${loop}"));
  EXPECT_EQ(configuration.error("none", "expected b").message, "none is not set; expected b");
}

class ConfigurationFolder : public testing::Test {
 protected:
  ConfigurationFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "configuration-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~ConfigurationFolder() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& properties) const {
    std::ofstream(folder_ + "/" + name) << "<configuration>" << properties << "</configuration>";
  }
  [[nodiscard]] std::string error() const {
    const auto loaded = load_configuration(folder_, {});
    return loaded.ok() ? "no error" : loaded.error().message;
  }

  std::string folder_;
};

TEST_F(ConfigurationFolder, TheFilesAreReadOneAfterTheOther) {
  write("core-site.xml",
        R"(<property name="a" value="core"/><property name="b" value="core" final="true"/>)");
  write("yarn-site.xml", R"(<property name="a" value="yarn"/><property name="b" value="yarn"/>)"
                         R"(<xi:include href="more.xml"/>)");
  write("more.xml", R"(<property name="c" value="${user.name}"/>)");
  const auto loaded = load_configuration(folder_, {{"user.name", "al"}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->get("a"), "yarn");
  EXPECT_EQ(loaded->get("b"), "core");
  EXPECT_EQ(loaded->get("c"), "al");
}

TEST_F(ConfigurationFolder, AFolderWithoutYarnIsRefused) {
  write("core-site.xml", "");
  EXPECT_EQ(error(),
            base::format("HADOOP_CONF_DIR: {} has no yarn-site.xml; expected the folder with the "
                         "cluster's core-site.xml and yarn-site.xml",
                         folder_));
}

TEST_F(ConfigurationFolder, WhatIsNoFolderIsRefused) {
  write("file", "");
  const auto file = load_configuration(folder_ + "/file", {});
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(
      file.error().message,
      HasSubstr(base::format("HADOOP_CONF_DIR: {}/file is not a folder; expected", folder_)));
  const auto missing = load_configuration(folder_ + "/none", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message,
              HasSubstr(base::format("there is no {}/none; expected", folder_)));
}

TEST_F(ConfigurationFolder, ABrokenFileIsNamedWithItsPath) {
  write("yarn-site.xml", "<property>");
  EXPECT_THAT(error(), testing::StartsWith(base::format("{}/yarn-site.xml:1: ", folder_)));
}

TEST(Configuration, TheEnvironmentOfThisProcessIsKnown) {
  ::setenv("GANGRUN_TEST_OF_VARIABLES", "a=b", 1);
  const auto variables = variables_of_this_process();
  ::unsetenv("GANGRUN_TEST_OF_VARIABLES");
  EXPECT_EQ(variables.at("env.GANGRUN_TEST_OF_VARIABLES"), "a=b");
  EXPECT_FALSE(variables.at("user.name").empty());
}

}  // namespace
}  // namespace gangrun::hadoop
