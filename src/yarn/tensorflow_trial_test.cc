#include "yarn/tensorflow_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using testing::HasSubstr;

const std::string kUrl = "hdfs://nn:8020/user/ana/x";

cluster::Check check_of(const std::string& output, const std::string& missing = "",
                        int status = 0) {
  const auto checks = tensorflow_checks({kUrl}, {" from node1", "/py", status, output}, missing);
  EXPECT_EQ(checks.size(), 1U);
  return checks.empty() ? cluster::Check{} : checks.front();
}

TEST(TensorflowTrial, IsToldAmongWhatJavaSays) {
  const cluster::Check check = check_of("log4j: no appenders\ngangrun-trial {\"url\": \"" + kUrl +
                                        "\", \"version\": \"2.15.0\", \"error\": \"\"}\nbye\n");
  EXPECT_EQ(check, (cluster::Check{"TensorFlow hdfs://nn:8020 from node1", cluster::Verdict::kOk,
                                   "TensorFlow 2.15.0 wrote, read and removed a file"}));
  EXPECT_TRUE(has_tensorflow({check}));
}

TEST(TensorflowTrial, AnErrorSaysWhichVariablesAreMissing) {
  const cluster::Check check =
      check_of("gangrun-trial {\"url\": \"" + kUrl +
                   "\", \"version\": \"2.15.0\", \"error\": \"no libjvm.so\"}\n",
               "JAVA_HOME");
  EXPECT_EQ(check.verdict, cluster::Verdict::kWarning);
  EXPECT_EQ(check.found, "TensorFlow 2.15.0: no libjvm.so");
  EXPECT_EQ(check.to_do, "libhdfs needs more variables; not set: JAVA_HOME");
}

TEST(TensorflowTrial, WithoutThePluginNothingIsChecked) {
  const cluster::Check check =
      check_of("gangrun-trial {\"url\": \"" + kUrl +
               "\", \"version\": \"2.15.0\", \"error\": \"x\", \"unknown\": true}\n");
  EXPECT_EQ(check.verdict, cluster::Verdict::kNotChecked);
  EXPECT_THAT(check.to_do, HasSubstr("tensorflow-io"));
  EXPECT_FALSE(has_tensorflow({check}));
}

TEST(TensorflowTrial, WithoutTensorflowNothingIsChecked) {
  const cluster::Check check = check_of("gangrun-trial {\"missing\": true}\n");
  EXPECT_EQ(check, (cluster::Check{"TensorFlow from node1", cluster::Verdict::kNotChecked,
                                   "/py has no tensorflow"}));
  EXPECT_FALSE(has_tensorflow({check}));
}

TEST(TensorflowTrial, ACrashIsToldByItsLastLine) {
  const cluster::Check broken = check_of("gangrun-trial {\"broken\": \"ImportError: numpy\"}\n");
  EXPECT_EQ(broken.found, "/py: ImportError: numpy");
  const cluster::Check crashed = check_of("loading\nfatal: no JVM\n", "", 134);
  EXPECT_EQ(crashed.verdict, cluster::Verdict::kWarning);
  EXPECT_EQ(crashed.found, "/py ended with status 134: fatal: no JVM");
  EXPECT_THAT(check_of("gangrun-trial {\"url\": 3}\ngangrun-trial [", "", 1).found,
              HasSubstr("status 1"));
}

TEST(TensorflowTrial, EveryFileIsAWordOfTheProgram) {
  const auto argv = tensorflow_trial_argv("/py", {kUrl, "hdfs://other/x"});
  ASSERT_EQ(argv.size(), 5U);
  EXPECT_EQ(argv[0], "/py");
  EXPECT_EQ(argv[1], "-c");
  EXPECT_EQ(argv[4], "hdfs://other/x");
}

}  // namespace
}  // namespace gangrun::yarn
