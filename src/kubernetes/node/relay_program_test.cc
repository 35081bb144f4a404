#include "kubernetes/node/relay_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/test_folder.h"

namespace gangrun::kubernetes::node {
namespace {

base::Result<RelayOptions> options_from(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return relay_options_from(static_cast<int>(argv.size()), argv.data());
}

TEST(RelayMain, OptionsAreReadFromFlagsAndThePodsVariable) {
  ASSERT_EQ(::setenv(kPodAddressVariable, "10.0.0.7", 1), 0);
  const auto options =
      options_from({"--port", "4000", "--client-port", "4001", "--token-file", "/t"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->agents_port, 4000);
  EXPECT_EQ(options->client_port, 4001);
  EXPECT_EQ(options->token_file, "/t");
  EXPECT_EQ(options->host, "10.0.0.7");
  EXPECT_FALSE(options_from({"--port", "4000", "--client-port", "4001"}).ok());
  EXPECT_FALSE(options_from({"--port", "4000", "--token-file", "/t"}).ok());
  for (const char* port : {"0", "65536", "x", ""}) {
    EXPECT_FALSE(
        options_from({"--port", port, "--client-port", "4001", "--token-file", "/t"}).ok());
  }
  EXPECT_FALSE(options_from({"--port"}).ok());
  EXPECT_FALSE(options_from({"--more", "1"}).ok());
  ASSERT_EQ(::unsetenv(kPodAddressVariable), 0);
  const auto lost = options_from({"--port", "4000", "--client-port", "4001", "--token-file", "/t"});
  ASSERT_FALSE(lost.ok());
  EXPECT_THAT(lost.error().message, testing::HasSubstr("GANGRUN_POD_IP"));
}

TEST(RelayMain, ATokenIsLongEnoughNotToBeGuessed) {
  const base::TestFolder folder;
  const std::string path = folder.path() + "/token";
  ASSERT_TRUE(base::write_private_file(path, std::string(64, 'a') + "\n").ok());
  const auto token = token_in(path);
  ASSERT_TRUE(token.ok()) << token.error().message;
  EXPECT_TRUE(token->matches(std::string(64, 'a')));
  const std::string other = folder.path() + "/short";
  ASSERT_TRUE(base::write_private_file(other, std::string(31, 'a') + "\n").ok());
  EXPECT_FALSE(token_in(other).ok());
  EXPECT_FALSE(token_in(folder.path() + "/none").ok());
}

}  // namespace
}  // namespace gangrun::kubernetes::node
