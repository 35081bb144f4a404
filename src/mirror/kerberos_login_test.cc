#include "mirror/kerberos_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "base/files.h"

// With Kerberos itself: tests/integration/test_zookeeper_secured.py.
namespace gangrun::mirror {
namespace {

using testing::HasSubstr;

// In place of gangrun.
class KerberosLoginTest : public testing::Test {
 protected:
  KerberosLoginTest() {
    std::string pattern = testing::TempDir() + "kerberos_loginXXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~KerberosLoginTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<zookeeper::Login> begin(const std::string& script, const std::string& server) {
    const std::string path = folder_ + "/gangrun";
    EXPECT_TRUE(base::write_file_atomically(path, "#!/bin/sh\n" + script, 0700).ok());
    return kerberos_login(loop_, {.path = path, .keytab = "keys"}, server)("ZK1");
  }
  base::Result<std::string> respond(zookeeper::Login& login, const std::string& challenge) {
    std::optional<base::Result<std::string>> told;
    login.respond(challenge, [&](base::Result<std::string> token) { told = std::move(token); });
    EXPECT_TRUE(
        loop_.run_until([&] { return told.has_value(); }, loop_.now() + std::chrono::seconds(60)));
    return told.value_or(base::internal("no answer"));
  }

  net::EventLoop loop_;
  std::string folder_;
};

TEST_F(KerberosLoginTest, EachChallengeIsALineAndSoIsItsAnswer) {
  const auto login = begin(
      "read -r errand; read -r first; echo \"$errand\" >\"${0%/*}/errand\"\n"
      "echo '{\"token\":\"dGlja2V0\",\"is_last\":false}'\n"
      "read -r second; echo \"$first$second\" >\"${0%/*}/said\"\n"
      "echo '{\"token\":\"bGF5ZXI=\",\"is_last\":true}'\n",
      "");
  EXPECT_EQ(respond(*login, "").value(), "ticket");
  EXPECT_FALSE(login->has_answered());
  EXPECT_EQ(respond(*login, "server").value(), "layer");
  EXPECT_TRUE(login->has_answered());
  EXPECT_TRUE(login->finish("").ok());
  EXPECT_FALSE(login->finish("more").ok());
  EXPECT_THAT(base::read_file(folder_ + "/errand", 4096).value(),
              HasSubstr("\"server\":\"zookeeper/zk1\",\"principal\":\"\",\"keytab\":\"keys\""));
  EXPECT_EQ(base::read_file(folder_ + "/said", 4096).value(),
            "{\"challenge\":\"\"}{\"challenge\":\"c2VydmVy\"}\n");
}

TEST_F(KerberosLoginTest, WhatItSaysIsTold) {
  const auto login = begin("echo '{\"error\":\"no ticket; run kinit\"}'; read -r x", "a/_HOST@R");
  EXPECT_EQ(respond(*login, "").error().message, "no ticket; run kinit");
}

TEST_F(KerberosLoginTest, AProgramThatEndsOrIsMissingIsAnError) {
  EXPECT_THAT(respond(*begin("read -r x", ""), "").error().message, HasSubstr("gangrun ended"));
  const auto missing = kerberos_login(loop_, {.path = folder_ + "/none"}, "")("zk1");
  EXPECT_THAT(respond(*missing, "").error().message, HasSubstr("/none"));
}

TEST_F(KerberosLoginTest, OneThatWaitsEndsWithTheLogin) {
  auto login = begin(
      "read -r errand; read -r first\n"
      "echo \"{\\\"token\\\":\\\"$(printf %s $$ | base64)\\\",\\\"is_last\\\":false}\"\n"
      "exec sleep 1000\n",
      "");
  const pid_t pid = std::stoi(respond(*login, "").value());
  EXPECT_EQ(::kill(pid, 0), 0);
  login->respond("more", [](const base::Result<std::string>&) { FAIL() << "nobody is to hear"; });
  login.reset();
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace gangrun::mirror
