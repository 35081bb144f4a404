#include "hadoop/class_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace gangrun::hadoop {
namespace {

using testing::HasSubstr;

// A node: files below a folder, and variables.
class ClassPath : public testing::Test {
 protected:
  ClassPath() {
    std::string name = (std::filesystem::temp_directory_path() / "gangrun-class-path-XXXXXX");
    if (::mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~ClassPath() override {
    std::error_code ignored;
    if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
  }

  void file(const std::string& path) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << "x";
  }
  // With "R" for the folder of the node.
  base::Result<std::string> path_of(const std::string& property) {
    return class_path(property, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return root_ + found->second;
    });
  }
  std::string shown(const std::string& property) {
    const auto path = path_of(property);
    if (!path.ok()) return path.error().message;
    std::string text = *path;
    for (std::size_t at = text.find(root_); at != std::string::npos; at = text.find(root_)) {
      text.replace(at, root_.size(), "R");
    }
    return text;
  }

  std::string root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ClassPath, NamesEachJarInOrderAndTheConfigurationFirst) {
  for (const char* jar : {"b.jar", "a.jar", "c.JAR", "notes.txt", "lib/d.jar"}) {
    file(std::string("/hadoop/") + jar);
  }
  file("/conf/core-site.xml");
  variables_ = {{"HADOOP_COMMON_HOME", "/hadoop"}, {"HADOOP_CONF_DIR", "/conf"}};
  EXPECT_EQ(shown("$HADOOP_COMMON_HOME/*, ${HADOOP_COMMON_HOME}/lib/*,$HADOOP_CONF_DIR,"
                  "{{HADOOP_COMMON_HOME}}/lib/d.jar"),
            "R/conf:R/hadoop/a.jar:R/hadoop/b.jar:R/hadoop/c.JAR:R/hadoop/lib/d.jar");
}

TEST_F(ClassPath, OfTheDefaultIsWhatAnInstallationHas) {
  file("/h/share/hadoop/common/common.jar");
  file("/h/share/hadoop/common/lib/guava.jar");
  file("/h/share/hadoop/hdfs/hdfs.jar");
  variables_ = {{"HADOOP_HOME", "/h"}};
  EXPECT_EQ(shown(std::string(kDefaultClassPath)),
            "R/h/share/hadoop/common/common.jar:R/h/share/hadoop/common/lib/guava.jar:"
            "R/h/share/hadoop/hdfs/hdfs.jar");
}

TEST_F(ClassPath, IsEmptyWhereTheNodeHasNoHadoop) {
  file("/conf/core-site.xml");
  variables_ = {{"HADOOP_CONF_DIR", "/conf"}, {"HADOOP_HOME", "/none"}};
  EXPECT_EQ(shown(std::string(kDefaultClassPath)), "");
  EXPECT_EQ(shown("$UNKNOWN/*,$,${,{{,/*"), "");
}

TEST_F(ClassPath, ThatIsTooLongForAVariableIsRefused) {
  for (int i = 0; i < 600; ++i) file("/h/" + std::string(200, 'x') + std::to_string(i) + ".jar");
  variables_ = {{"HADOOP_HOME", "/h"}};
  const auto path = path_of("$HADOOP_HOME/*");
  ASSERT_FALSE(path.ok());
  EXPECT_EQ(path.error().code, base::Code::kResourceExhausted);
  EXPECT_THAT(path.error().message, HasSubstr("yarn.application.classpath"));
}

TEST_F(ClassPath, TheVirtualMachineIsFoundInOldAndNewInstallations) {
  file("/java8/jre/lib/amd64/server/libjvm.so");
  file("/java17/lib/server/libjvm.so");
  EXPECT_EQ(jvm_library_folder(root_ + "/java8"), root_ + "/java8/jre/lib/amd64/server");
  EXPECT_EQ(jvm_library_folder(root_ + "/java17"), root_ + "/java17/lib/server");
  EXPECT_EQ(jvm_library_folder(root_), std::nullopt);
}

}  // namespace
}  // namespace gangrun::hadoop
