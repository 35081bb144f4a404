#include "hadoop/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/configuration.h"

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Configuration file_system_with(const std::map<std::string, std::string>& values) {
  Configuration out;
  for (const auto& [name, value] : values) out.set(name, value);
  return out;
}

TEST(FileSystem, OneNameNode) {
  const auto plain = find_file_system(file_system_with({{"fs.defaultFS", "hdfs://nn:8021/"}}), "");
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_EQ(*plain, (FileSystem{"hdfs", "nn", 8021, {"http://nn:9870"}, true}));
  EXPECT_EQ(to_string(*plain), "hdfs://nn:8021");
  const auto everywhere =
      find_file_system(file_system_with({{"fs.defaultFS", "hdfs://nn"},
                                         {"dfs.namenode.http-address", "0.0.0.0:50070"}}),
                       "");
  EXPECT_EQ(*everywhere, (FileSystem{"hdfs", "nn", -1, {"http://nn:50070"}}));
  EXPECT_EQ(to_string(*everywhere), "hdfs://nn");
  const auto elsewhere = find_file_system(
      file_system_with({{"fs.defaultFS", "hdfs://nn"}, {"dfs.namenode.http-address", "web:1"}}),
      "");
  EXPECT_THAT(elsewhere->addresses, ElementsAre("http://web:1"));
}

TEST(FileSystem, TlsWhereNothingElseIsServed) {
  const auto found = find_file_system(file_system_with({{"fs.defaultFS", "hdfs://[::1]:8020"},
                                                        {"dfs.http.policy", "HTTPS_ONLY"},
                                                        {"dfs.namenode.http-address", "web:1"}}),
                                      "");
  EXPECT_EQ(*found, (FileSystem{"hdfs", "::1", 8020, {"https://[::1]:9871"}, true}));
  EXPECT_EQ(to_string(*found), "hdfs://[::1]:8020");
}

const std::map<std::string, std::string> kPair{
    {"fs.defaultFS", "hdfs://mine"},
    {"dfs.nameservices", "mine, other"},
    {"dfs.ha.namenodes.mine", "a,b"},
    {"dfs.namenode.http-address.mine.a", "one:9870"},
    {"dfs.namenode.http-address.mine.b", "0.0.0.0:50070"},
    {"dfs.namenode.rpc-address.mine.b", "two:8020"},
    {"dfs.namenode.rpc-address.other", "three:8020"},
};

// As users write it, and the documentation does.
TEST(FileSystem, AUrlWithoutAHostIsTheDefaultOnes) {
  EXPECT_EQ(*find_file_system(file_system_with(kPair), "hdfs:///user/ann/x"),
            *find_file_system(file_system_with(kPair), ""));
  const auto config =
      file_system_with({{"fs.defaultFS", "hdfs://nn"}, {"dfs.namenode.http-address", "web:1"}});
  EXPECT_EQ(*find_file_system(config, "hdfs:///x"),
            (FileSystem{"hdfs", "nn", -1, {"http://web:1"}}));
  EXPECT_FALSE(find_file_system({}, "hdfs:///x").ok());
}

TEST(FileSystem, AHighAvailabilityPair) {
  const auto found = find_file_system(file_system_with(kPair), "");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, (FileSystem{"hdfs", "mine", -1, {"http://one:9870", "http://two:50070"}}));
}

TEST(FileSystem, AnotherThanTheDefaultOne) {
  EXPECT_EQ(*find_file_system(file_system_with(kPair), "hdfs://other"),
            (FileSystem{"hdfs", "other", -1, {"http://three:9870"}}));
  // The configuration of its own NameNode does not count for another one.
  const auto config =
      file_system_with({{"fs.defaultFS", "hdfs://nn"}, {"dfs.namenode.http-address", "web:1"}});
  EXPECT_EQ(*find_file_system(config, "hdfs://far:8020/x"),
            (FileSystem{"hdfs", "far", 8020, {"http://far:9870"}, true}));
}

// The port counts too: two may live on one host.
TEST(FileSystem, AnotherNameNodeIsKnownByItsRpcAddress) {
  const auto config = file_system_with({{"fs.defaultFS", "hdfs://nn:8020"},
                                        {"dfs.namenode.rpc-address", "nn:8020"},
                                        {"dfs.namenode.http-address", "nn:9870"},
                                        {"dfs.namenode.rpc-address.far", "nn:8021"},
                                        {"dfs.namenode.http-address.far", "0.0.0.0:9871"}});
  EXPECT_THAT(find_file_system(config, "hdfs://nn:8021/x")->addresses,
              ElementsAre("http://nn:9871"));
  EXPECT_THAT(find_file_system(config, "hdfs://nn/x")->addresses, ElementsAre("http://nn:9870"));
  EXPECT_THAT(find_file_system(config, "hdfs://nn:8022/x")->addresses,
              ElementsAre("http://nn:9870"));
}

// One whose web port is another was refused although the configuration names it.
TEST(FileSystem, AnotherIsKnownByTheOnlyWebAddressOnItsHost) {
  auto values = std::map<std::string, std::string>{{"fs.defaultFS", "viewfs://all"},
                                                   {"dfs.namenode.http-address.far", "far:50070"},
                                                   {"dfs.namenode.http-address.b", "b:1"},
                                                   {"dfs.namenode.http-bind-host", "far"}};
  const auto found = find_file_system(file_system_with(values), "hdfs://far:8020/x");
  EXPECT_EQ(*found, (FileSystem{"hdfs", "far", 8020, {"http://far:50070"}}));
  values["dfs.namenode.http-address.second"] = "far:50071";
  const auto unsure = find_file_system(file_system_with(values), "hdfs://far:8020/x");
  EXPECT_EQ(*unsure, (FileSystem{"hdfs", "far", 8020, {"http://far:9870"}, true}));
}

TEST(FileSystem, AnHttpAddressOfItsOwn) {
  EXPECT_EQ(*find_file_system({}, "webhdfs://nn"),
            (FileSystem{"webhdfs", "nn", 9870, {"http://nn:9870"}}));
  EXPECT_EQ(*find_file_system({}, "http://nn:1"),
            (FileSystem{"webhdfs", "nn", 1, {"http://nn:1"}}));
  EXPECT_EQ(*find_file_system({}, "swebhdfs://nn"),
            (FileSystem{"swebhdfs", "nn", 9871, {"https://nn:9871"}}));
}

TEST(FileSystem, WhatIsNoHdfsIsSaid) {
  const auto none = find_file_system({}, "");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("fs.defaultFS is \"file:///\""));
  for (const std::string url : {"file:///x", "s3a://bucket/", "viewfs://x", "hdfs://", "nn:8020",
                                "hdfs://a b", "hdfs://nn:x"}) {
    EXPECT_EQ(find_file_system({}, url).error().code, base::Code::kInvalidArgument) << url;
  }
  const auto untold = find_file_system(
      file_system_with({{"fs.defaultFS", "hdfs://mine"}, {"dfs.nameservices", "mine"}}), "");
  ASSERT_FALSE(untold.ok());
  EXPECT_THAT(untold.error().message, HasSubstr("dfs.ha.namenodes.mine"));
}

}  // namespace
}  // namespace gangrun::hadoop
