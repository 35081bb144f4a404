#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// The class path with which Java programs find Hadoop on a node. A Java virtual machine that is
// loaded as a library (libhdfs, and by it TensorFlow) expands no "*" in its class path, so each jar
// is named.
namespace gangrun::hadoop {

inline constexpr const char* kClassPathProperty = "yarn.application.classpath";
// The value that YARN takes if a cluster's configuration does not have the property.
inline constexpr std::string_view kDefaultClassPath =
    "$HADOOP_CONF_DIR,"
    "$HADOOP_COMMON_HOME/share/hadoop/common/*,$HADOOP_COMMON_HOME/share/hadoop/common/lib/*,"
    "$HADOOP_HDFS_HOME/share/hadoop/hdfs/*,$HADOOP_HDFS_HOME/share/hadoop/hdfs/lib/*,"
    "$HADOOP_YARN_HOME/share/hadoop/yarn/*,$HADOOP_YARN_HOME/share/hadoop/yarn/lib/*";
// Linux starts no program with a variable of 128 KiB.
inline constexpr std::size_t kMaxClassPathBytes = std::size_t{120} << 10U;

// A variable of the node; none where it is not set.
using NodeVariable = std::function<std::optional<std::string>(const std::string& name)>;

// CLASSPATH from the value of the property: the configuration's folder first, then each entry with
// its variables ($NAME, ${NAME} or {{NAME}}) and "/*" replaced. HADOOP_HOME stands in for the homes
// of Hadoop's parts. What the node does not have is left out; empty where no jar is left.
// kResourceExhausted where it would be too long for a variable.
base::Result<std::string> class_path(std::string_view property, const NodeVariable& variable);

// The folder of libjvm.so below JAVA_HOME, of Java 8 or later; none where there is none.
std::optional<std::string> jvm_library_folder(const std::string& java_home);

}  // namespace gangrun::hadoop
