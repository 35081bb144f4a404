#include "kubernetes/node/pod_master_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <string>
#include <vector>

namespace gangrun::kubernetes::node {
namespace {

using testing::HasSubstr;

constexpr std::array kVariables = {"GANGRUN_POD_NAME", "GANGRUN_POD_UID", "GANGRUN_POD_IP"};

class PodMasterOptionsTest : public testing::Test {
 protected:
  PodMasterOptionsTest() {
    for (const char* name : kVariables) ::setenv(name, name, 1);
  }
  ~PodMasterOptionsTest() override {
    for (const char* name : kVariables) ::unsetenv(name);
  }
  static base::Result<PodMasterOptions> read(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return pod_master_options_from(static_cast<int>(argv.size()), argv.data());
  }
};

TEST_F(PodMasterOptionsTest, AreTheFoldersAndThePod) {
  const auto options = read({"--config", "/c", "--run", "/r"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->config_folder, "/c");
  EXPECT_EQ(options->run_folder, "/r");
  EXPECT_EQ(options->journal_folder, "/gangrun/journal");
  EXPECT_EQ(options->port, 17403);
  EXPECT_EQ(options->pod_name, "GANGRUN_POD_NAME");
  EXPECT_EQ(options->pod_uid, "GANGRUN_POD_UID");
  EXPECT_EQ(options->pod_address, "GANGRUN_POD_IP");
  EXPECT_TRUE(options->make_client);
}

TEST_F(PodMasterOptionsTest, OthersAreErrors) {
  EXPECT_THAT(read({"--config", "/c"}).error().message, HasSubstr("--run must be given"));
  EXPECT_THAT(read({"--config", "/c", "--run"}).error().message, HasSubstr("--run is no flag"));
  EXPECT_THAT(read({"--walk", "/c"}).error().message, HasSubstr("--walk is no flag"));
  for (const char* name : kVariables) {
    ::unsetenv(name);
    EXPECT_THAT(read({"--config", "/c", "--run", "/r"}).error().message,
                HasSubstr(std::string(name) + " must be set: this is no pod of a job"));
    ::setenv(name, name, 1);
  }
}

}  // namespace
}  // namespace gangrun::kubernetes::node
