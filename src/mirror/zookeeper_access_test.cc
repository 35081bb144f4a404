#include "mirror/zookeeper_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// With real servers: tests/integration/test_zookeeper_secured.py.
namespace gangrun::mirror {
namespace {

using testing::HasSubstr;

TEST(ZooKeeperAccess, TheSessionHasWhatTheJobSays) {
  net::EventLoop loop;
  job::ZooKeeper plain{.hosts = {"zk1"}, .root = ""};
  const auto open = session_options(loop, plain, {});
  EXPECT_THAT(open.servers, testing::ElementsAre("zk1"));
  EXPECT_FALSE(open.tls.has_value());
  EXPECT_FALSE(open.login);
  job::ZooKeeper secured = plain;
  secured.tls = true;
  secured.login = job::ZooKeeperLogin::kDigest;
  const auto options =
      session_options(loop, secured, {.files = {.authorities_pem = "ca", .certificate_pem = "c"}});
  EXPECT_EQ(options.tls->authorities_pem, "ca");
  EXPECT_EQ(options.tls->certificate_pem, "c");
  EXPECT_TRUE(options.login);
}

TEST(ZooKeeperAccess, WhoStopsWaitingIsNotKept) {
  net::EventLoop loop;
  const job::ZooKeeper zookeeper{.hosts = {"127.0.0.1:1"}, .root = ""};
  int asked = 0;
  const auto tried = try_zookeeper(loop, zookeeper, {}, [&asked] { return ++asked > 5; });
  EXPECT_EQ(tried.error().code, base::Code::kCancelled);
}

TEST(ZooKeeperAccess, ServersThatAreAwayAreNotWaitedForLong) {
  net::EventLoop loop;
  const job::ZooKeeper zookeeper{.hosts = {"127.0.0.1:1", "localhost:1"}, .root = ""};
  const auto tried = try_zookeeper(loop, zookeeper, {}, [] { return false; });
  EXPECT_EQ(tried.error().code, base::Code::kUnavailable);
  EXPECT_THAT(tried.error().message, testing::StartsWith("ZooKeeper (127.0.0.1:1,localhost:1) "));
}

TEST(ZooKeeperAccess, WhatCannotBeUsedIsAnError) {
  net::EventLoop loop;
  const job::ZooKeeper none{.hosts = {}, .root = ""};
  EXPECT_FALSE(try_zookeeper(loop, none, {}, [] { return false; }).ok());
}

}  // namespace
}  // namespace gangrun::mirror
