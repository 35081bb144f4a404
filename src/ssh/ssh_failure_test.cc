#include "ssh/ssh_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::ssh {
namespace {

using testing::HasSubstr;

std::string sentence(std::string_view said) {
  return failure_sentence("gpu1", said, "ssh exited with status 255");
}

TEST(SshFailure, NamesTheCommandThatHelps) {
  EXPECT_EQ(sentence("Host key verification failed.\r\n"),
            "the key of host gpu1 is not known; run `ssh gpu1` once and accept it, or add it to "
            "~/.ssh/known_hosts (ssh: Host key verification failed.)");
  EXPECT_THAT(sentence("me@10.0.0.2: Permission denied (publickey,password).\r\n"),
              HasSubstr("run `ssh-copy-id gpu1` once"));
}

TEST(SshFailure, SaysWhoSaidSoOnce) {
  EXPECT_EQ(sentence("ssh: connect to host 10.0.0.2 port 22: Connection refused\r\n"),
            "host gpu1 runs no sshd at its port (ssh: connect to host 10.0.0.2 port 22: Connection "
            "refused)");
}

// They come where ssh's own words do.
TEST(SshFailure, WordsOfABannerOrALoginAreNotTakenForThoseOfSsh) {
  constexpr std::string_view kBanner =
      "Access by permission only: Permission denied (by policy) to all others.\r\n"
      "Connection refused, No route to host, Host key verification failed\r\n"
      "bash: /opt/env: Permission denied (os error 13)\n";
  EXPECT_EQ(sentence(kBanner),
            "host gpu1 ended the connection: ssh exited with status 255; it said \"bash: /opt/env: "
            "Permission denied (os error 13)\"");
  EXPECT_FALSE(may_pass(kBanner));
  const std::string both =
      std::string(kBanner) + "ssh: connect to host 10.0.0.2 port 22: No route to host\r\n";
  EXPECT_EQ(sentence(both),
            "no network leads to host gpu1 (ssh: connect to host 10.0.0.2 port 22: No route to "
            "host)");
  EXPECT_TRUE(may_pass(both));
  EXPECT_THAT(sentence(std::string(kBanner) + "me@10.0.0.2: Permission denied (publickey).\r\n"),
              HasSubstr("(ssh: me@10.0.0.2: Permission denied (publickey).)"));
  // An older ssh.
  EXPECT_THAT(sentence("Permission denied (publickey,gssapi-with-mic).\r\n"),
              HasSubstr("run `ssh-copy-id gpu1` once"));
}

// The host's sshd was blamed.
TEST(SshFailure, AWayThatDoesNotWorkIsNamed) {
  EXPECT_EQ(sentence("/bin/sh: 1: exec: nosuchprog: not found\r\n"
                     "kex_exchange_identification: Connection closed by remote host\r\n"),
            "what leads to host gpu1 (ProxyCommand, ProxyJump) ended before there was a "
            "connection; it said \"/bin/sh: 1: exec: nosuchprog: not found\"");
  EXPECT_THAT(sentence("kex_exchange_identification: Connection closed by remote host\r\n"),
              HasSubstr("MaxStartups"));
}

// The hint was to copy a key that ssh does not use.
TEST(SshFailure, AKeyThatOthersMayReadIsNamed) {
  EXPECT_EQ(sentence("@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\r\n"
                     "Load key \"/home/me/.ssh/id\": bad permissions\r\n"
                     "me@gpu1: Permission denied (publickey).\r\n"),
            "ssh takes no private key that others may read; run `chmod 600` on its file (ssh: "
            "Load key \"/home/me/.ssh/id\": bad permissions)");
}

TEST(SshFailure, AHostThatHasNoKeyForUsIsNamed) {
  EXPECT_THAT(
      sentence("Unable to negotiate with 10.0.0.2 port 22: no matching host key type found. "
               "Their offer: ssh-dss\r\n"),
      HasSubstr("host gpu1 has no kind of key that this ssh accepts"));
}

TEST(SshFailure, AChangedKeyIsNotAnUnknownOne) {
  const std::string text = sentence(
      "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n"
      "Host key for gpu1 has changed and you have requested strict checking.\r\n"
      "Host key verification failed.\r\n");
  EXPECT_THAT(text, HasSubstr("is another one than ~/.ssh/known_hosts has"));
  EXPECT_THAT(text, HasSubstr("`ssh-keygen -R gpu1`"));
}

TEST(SshFailure, SaysWhatIsWrongWithAJumpHost) {
  const std::string text = sentence(
      "ssh: Could not resolve hostname jump.invalid: Name or service not known\r\n"
      "kex_exchange_identification: Connection closed by remote host\r\n");
  EXPECT_EQ(text,
            "the way to host gpu1 leads over another one: there is no host jump.invalid: its name "
            "is not known (ssh: Could not resolve hostname jump.invalid: Name or service not "
            "known)");
  EXPECT_FALSE(
      may_pass("ssh: Could not resolve hostname jump.invalid: Name or service not known\n"
               "kex_exchange_identification: Connection closed by remote host\n"));
}

// Nothing is known yet of the host at the end of the way: nobody has to copy a key to it.
TEST(SshFailure, AJumpHostIsNamedAsTheOneThatFails) {
  const std::string early =
      "kex_exchange_identification: Connection closed by remote host\r\n"
      "Connection closed by UNKNOWN port 65535\r\n";
  const std::string way = "the way to host gpu1 leads over another one: ";
  EXPECT_THAT(sentence("ssh: connect to host jump port 22: Connection refused\r\n" + early),
              HasSubstr(way + "host jump runs no sshd at its port"));
  EXPECT_THAT(sentence("me@10.0.0.9: Permission denied (publickey).\r\n" + early),
              HasSubstr(way + "host 10.0.0.9 lets nobody in without a password; run `ssh-copy-id "
                              "10.0.0.9` once"));
  EXPECT_THAT(sentence("No ED25519 host key is known for jump and you have requested strict "
                       "checking.\r\nHost key verification failed.\r\n" +
                       early),
              HasSubstr(way + "the key of host jump is not known; run `ssh jump` once"));
  EXPECT_THAT(sentence("kex_exchange_identification: Connection closed by remote host\r\n"
                       "Connection closed by 10.0.0.9 port 22\r\n" +
                       early),
              HasSubstr(way + "host 10.0.0.9 closed the connection"));
  EXPECT_EQ(sentence("Host key verification failed.\r\n" + early),
            "what leads to host gpu1 (ProxyJump, ProxyCommand) failed (ssh: Host key verification "
            "failed.)");
  // An older ssh.
  EXPECT_THAT(sentence("Permission denied (publickey).\r\n"
                       "ssh_exchange_identification: Connection closed by remote host\r\n"),
              HasSubstr("what leads to host gpu1"));
}

TEST(SshFailure, WhatAJumpHostSaysOfTheHostIsOfTheHost) {
  const std::string early =
      "stdio forwarding failed\r\n"
      "kex_exchange_identification: Connection closed by remote host\r\n"
      "Connection closed by UNKNOWN port 65535\r\n";
  EXPECT_THAT(sentence("channel 0: open failed: connect failed: Connection refused\r\n" + early),
              testing::StartsWith("host gpu1 runs no sshd at its port"));
  EXPECT_THAT(
      sentence("channel 0: open failed: connect failed: Name or service not known\r\n" + early),
      testing::StartsWith("there is no host gpu1: the host on the way to it"));
  EXPECT_THAT(
      sentence("channel 0: open failed: administratively prohibited: open failed\r\n" + early),
      testing::StartsWith("a host on the way to host gpu1 lets no connection through"));
  // The end of a direct connection.
  EXPECT_THAT(sentence("kex_exchange_identification: read: Connection reset by peer\r\n"
                       "Connection reset by 10.0.0.2 port 22\r\n"),
              testing::StartsWith("host gpu1 closes connections"));
}

TEST(SshFailure, AnotherProgramAtThePortIsNoBusySshd) {
  for (const char* said :
       {"kex_exchange_identification: banner line contains invalid characters\r\n",
        "kex_exchange_identification: banner line too long\r\n",
        "kex_exchange_identification: No SSH version received in first 1024 lines "
        "from server\r\n",
        "Protocol major versions differ: 2 vs. 1\r\n"}) {
    EXPECT_THAT(sentence(said), HasSubstr("what listens at the port of host gpu1 is no sshd"));
    EXPECT_FALSE(may_pass(said));
  }
  EXPECT_THAT(sentence("kex_exchange_identification: Connection closed by remote host\r\n"),
              HasSubstr("(MaxStartups), or something else listens at its port"));
}

TEST(SshFailure, NothingThatIsSaidDoesMoreThanShowItself) {
  EXPECT_EQ(sentence("\x1b]52;c;cm0=\x07\x1b[2Jno\rgangrun: x succeeded\x1b(B"),
            "host gpu1 ended the connection: ssh exited with status 255; it said \"no gangrun: x "
            "succeeded\"");
  EXPECT_LT(sentence(std::string(1 << 20, 'x')).size(), 500U);
}

// A question has no end of a line, and may be on standard error.
TEST(SshFailure, ALoginsQuestionIsAmongItsWords) {
  EXPECT_EQ(login_words("Welcome\nenter your one-time code: ", ""),
            "Welcome\nenter your one-time code:");
  const std::string_view known =
      "Warning: Permanently added 'a' (ED25519) to the list of known "
      "hosts.\r\n";
  EXPECT_EQ(login_words("\n", std::string(known) + "enter your code:"), "enter your code:");
  EXPECT_EQ(login_words("Welcome\n", "code:\n"), "Welcome\ncode:");
  EXPECT_EQ(login_words("", ""), "");
}

TEST(SshFailure, FindsTheOptionThatAnOlderSshDoesNotKnow) {
  EXPECT_EQ(unknown_option("command-line: line 0: Bad configuration option: stdinnull\r\n"),
            "stdinnull");
  EXPECT_EQ(unknown_option("/home/me/.ssh/config: line 3: Bad configuration option: usekeychain\n"),
            "");
  EXPECT_EQ(unknown_option("Permission denied (publickey)."), "");
  // A host's own words come behind ssh's, or alone.
  EXPECT_EQ(unknown_option("Welcome!\ncommand-line: line 0: Bad configuration option: x\n"), "");
}

TEST(SshFailure, KnowsWhatMayPass) {
  EXPECT_TRUE(may_pass("kex_exchange_identification: Connection closed by remote host\n"));
  EXPECT_TRUE(may_pass("ssh: connect to host 10.0.0.2 port 22: Connection refused\n"));
  EXPECT_TRUE(may_pass("Timeout, server 10.0.0.2 not responding.\n"));
  EXPECT_TRUE(may_pass("Connection to 10.0.0.2 closed by remote host.\n"));
  EXPECT_FALSE(may_pass("root@h: Permission denied (publickey).\n"));
  EXPECT_FALSE(may_pass(""));
}

TEST(SshFailure, WhatIsNotKnownIsToldAsSshDoes) {
  EXPECT_EQ(sentence("something new\r\n\n"),
            "host gpu1 ended the connection: ssh exited with status 255; it said \"something "
            "new\"");
  EXPECT_EQ(sentence(""), "host gpu1 ended the connection: ssh exited with status 255");
}

}  // namespace
}  // namespace gangrun::ssh
