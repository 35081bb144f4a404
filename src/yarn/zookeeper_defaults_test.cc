#include "yarn/zookeeper_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::yarn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

hadoop::Configuration configuration(const std::string& quorum, const std::string& root) {
  hadoop::Configuration configuration;
  if (!quorum.empty()) configuration.set("hadoop.registry.zk.quorum", quorum);
  if (!root.empty()) configuration.set("hadoop.registry.zk.root", root);
  return configuration;
}

TEST(ZooKeeperDefaults, WhatTheJobLeavesOpenHadoopSays) {
  const auto full = with_defaults_of({}, configuration("zk1:2181, zk2:2182", "/services"));
  ASSERT_TRUE(full.ok()) << full.error().message;
  EXPECT_THAT(full->hosts, ElementsAre("zk1:2181", "zk2:2182"));
  EXPECT_EQ(full->root, "/services");
}

TEST(ZooKeeperDefaults, WhatTheJobSaysCounts) {
  const job::ZooKeeper own{.hosts = {"mine:1"}, .root = "/mine", .readable_by_all = false};
  const auto full = with_defaults_of(own, configuration("zk1:2181", "/services"));
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(*full, own);
}

TEST(ZooKeeperDefaults, WithoutAnyHostTheErrorNamesBothPlaces) {
  const auto full = with_defaults_of({}, configuration("", ""));
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(full.error().message, HasSubstr("zookeeper.hosts"));
  EXPECT_THAT(full.error().message, HasSubstr("hadoop.registry.zk.quorum"));
}

TEST(ZooKeeperDefaults, AWrongValueOfHadoopsIsToldByItsName) {
  EXPECT_THAT(with_defaults_of({}, configuration("zk1:x", "")).error().message,
              HasSubstr("hadoop.registry.zk.quorum"));
  EXPECT_THAT(with_defaults_of({}, configuration("zk1", "registry")).error().message,
              HasSubstr("hadoop.registry.zk.root"));
}

// If the servers know no SASL, an ACL with it would be refused, and with it the node.
TEST(ZooKeeperDefaults, AdministratorsAreThoseOfHadoopsRegistry) {
  hadoop::Configuration site;
  EXPECT_THAT(registry_administrators(site, {}), testing::IsEmpty());
  site.set("hadoop.registry.system.acls",
           "sasl:yarn@, digest:ann:HASH=, sasl:x@R, world:anyone, :, sasl:");
  site.set("hadoop.registry.kerberos.realm", "EXAMPLE.COM");
  const mirror::Administrator ann{"digest", "ann:HASH="};
  EXPECT_THAT(registry_administrators(site, {}), ElementsAre(ann));
  site.set("hadoop.registry.secure", "true");
  EXPECT_THAT(registry_administrators(site, {}),
              ElementsAre(mirror::Administrator{"sasl", "yarn@EXAMPLE.COM"}, ann,
                          mirror::Administrator{"sasl", "x@R"}));
}

TEST(ZooKeeperDefaults, AJobThatLogsInShowsItselfToAdministratorsOfItsRealm) {
  hadoop::Configuration site;
  site.set("hadoop.registry.system.acls", "sasl:yarn@, sasl:x@R");
  EXPECT_THAT(registry_administrators(site, {.is_there = true, .realm = "MINE"}),
              ElementsAre(mirror::Administrator{"sasl", "yarn@MINE"},
                          mirror::Administrator{"sasl", "x@R"}));
  EXPECT_THAT(registry_administrators(site, {.is_there = true}),
              ElementsAre(mirror::Administrator{"sasl", "x@R"}));
}

// core-default.xml names system.acls; RegistryConstants, and so all of Hadoop, system.accounts.
TEST(ZooKeeperDefaults, AdministratorsAreThoseOfTheNameThatHadoopReads) {
  hadoop::Configuration site;
  site.set("hadoop.registry.secure", "true");
  site.set("hadoop.registry.kerberos.realm", "R");
  EXPECT_THAT(registry_administrators(site, {}),
              ElementsAre(mirror::Administrator{"sasl", "yarn@R"},
                          mirror::Administrator{"sasl", "mapred@R"},
                          mirror::Administrator{"sasl", "hdfs@R"},
                          mirror::Administrator{"sasl", "hadoop@R"}));
  site.set("hadoop.registry.system.acls", "sasl:documented@");
  EXPECT_THAT(registry_administrators(site, {}),
              ElementsAre(mirror::Administrator{"sasl", "documented@R"}));
  site.set("hadoop.registry.system.accounts", "sasl:read@");
  EXPECT_THAT(registry_administrators(site, {}),
              ElementsAre(mirror::Administrator{"sasl", "read@R"}));
}

}  // namespace
}  // namespace gangrun::yarn
