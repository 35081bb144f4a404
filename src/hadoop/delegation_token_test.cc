#include "hadoop/delegation_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hadoop/configuration.h"

namespace gangrun::hadoop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kIssued = 1'700'000'000'000;
constexpr std::int64_t kEnds = kIssued + 604'800'000;

TokenLife life(std::int64_t issued, std::int64_t ends) {
  return {base::WallTime(base::milliseconds(issued)), base::WallTime(base::milliseconds(ends))};
}

Token hdfs_token(std::int64_t issued, std::int64_t ends) {
  std::string identifier(1, '\0');
  for (const std::string text : {"alice", "yarn", ""}) {
    append_variable_integer(identifier, std::ssize(text));
    identifier += text;
  }
  for (const std::int64_t number : {issued, ends, std::int64_t{7}, std::int64_t{2}}) {
    append_variable_integer(identifier, number);
  }
  return {.identifier = identifier,
          .password = base::Secret("p"),
          .kind = std::string(kHdfsTokenKind),
          .service = "10.0.0.1:8020"};
}

std::vector<std::string> token_addresses(const std::string& host) {
  if (host == "nn.example" || host == "rm1") return {"fd00::1", "10.0.0.1"};
  if (host == "rm2") return {"10.0.0.2"};
  return {};
}

FileSystem on(const std::string& host, std::int32_t port = -1) {
  FileSystem file_system;
  file_system.host = host;
  file_system.port = port;
  return file_system;
}

TEST(DelegationToken, TellsItsLife) {
  EXPECT_EQ(life_of(hdfs_token(kIssued, kEnds)), life(kIssued, kEnds));
  // issueDate is field 4, maxDate 5.
  Token manager;
  manager.kind = kManagerTokenKind;
  manager.identifier =
      "\x0a\x05"
      "alice\x20\x80\xd0\x95\xff\xbc\x31\x28\x81\xd0\x95\xff\xbc\x31";
  EXPECT_EQ(life_of(manager), life(1'700'000'000'000, 1'700'000'000'001));
}

TEST(DelegationToken, AnotherIdentifierTellsNothing) {
  Token token = hdfs_token(kIssued, kEnds);
  for (std::size_t size = 0; size + 14 < token.identifier.size(); ++size) {
    Token cut = token;
    cut.identifier.resize(size);
    EXPECT_EQ(life_of(cut), std::nullopt) << size;
  }
  EXPECT_EQ(life_of(hdfs_token(kEnds, kIssued)), std::nullopt);
  EXPECT_EQ(life_of(hdfs_token(kIssued, INT64_MAX)), std::nullopt);
  token.kind = "another";
  EXPECT_EQ(life_of(token), std::nullopt);
}

TEST(DelegationToken, OfSeveralTheFirstEndCounts) {
  Credentials credentials;
  EXPECT_EQ(life_of(credentials), std::nullopt);
  credentials.tokens["one"] = hdfs_token(kIssued, kEnds);
  credentials.tokens["two"] = hdfs_token(kIssued + 5, kEnds - 5);
  credentials.tokens["other"] = Token{};
  EXPECT_EQ(life_of(credentials), life(kIssued + 5, kEnds - 5));
}

TEST(DelegationToken, IsForAnAddressOrForAPair) {
  Configuration configuration;
  const FileSystem plain = on("nn.example", 9000);
  EXPECT_EQ(*token_service(configuration, plain, token_addresses), "10.0.0.1:9000");
  EXPECT_EQ(*token_service(configuration, on("nn.example"), token_addresses), "10.0.0.1:8020");
  EXPECT_EQ(token_service(configuration, on("unknown"), token_addresses).error().code,
            base::Code::kUnavailable);
  configuration.set("hadoop.security.token.service.use_ip", "false");
  EXPECT_EQ(*token_service(configuration, on("NN.Example"), token_addresses), "nn.example:8020");
  configuration.set("dfs.ha.namenodes.pair", "nn1,nn2");
  EXPECT_EQ(*token_service(configuration, on("pair"), token_addresses), "ha-hdfs:pair");
}

TEST(DelegationToken, OfTheResourceManagersAllAreNamed) {
  Configuration configuration;
  configuration.set("yarn.resourcemanager.ha.enabled", "true");
  configuration.set("yarn.resourcemanager.ha.rm-ids", "a,b");
  configuration.set("yarn.resourcemanager.hostname.a", "rm1");
  configuration.set("yarn.resourcemanager.address.b", "rm2:9999");
  EXPECT_EQ(*manager_token_service(configuration, token_addresses), "10.0.0.1:8032,10.0.0.2:9999");
  EXPECT_EQ(token_renewer(configuration).error().code, base::Code::kFailedPrecondition);
  configuration.set("yarn.resourcemanager.principal", "rm/_HOST@R");
  EXPECT_EQ(*token_renewer(configuration), "rm/rm1@R");
  configuration.set("yarn.resourcemanager.principal", "rm//@R");
  EXPECT_EQ(token_renewer(configuration).error().code, base::Code::kInvalidArgument);
}

std::vector<std::string> names(const Configuration& configuration,
                               const std::vector<std::string>& urls) {
  const auto found = token_file_systems(configuration, urls);
  if (!found.ok()) return {found.error().message};
  std::vector<std::string> out;
  for (const FileSystem& one : *found) out.push_back(to_string(one));
  return out;
}

TEST(DelegationToken, EachFileSystemIsNamedOnce) {
  Configuration configuration;
  configuration.set("fs.defaultFS", "hdfs://nn.example:9000");
  EXPECT_THAT(names(configuration, {"hdfs://other:8020/data", "hdfs://nn.example:9000/x",
                                    "file:///x", "s3a://bucket", "hdfs:///here"}),
              ElementsAre("hdfs://nn.example:9000", "hdfs://other:8020"));
}

TEST(DelegationToken, AViewGivesItsTargets) {
  Configuration configuration;
  configuration.set("fs.defaultFS", "viewfs://table/");
  configuration.set("fs.viewfs.mounttable.table.link./data", "hdfs://one:8020/data");
  configuration.set("fs.viewfs.mounttable.table.link./user", "hdfs://two:8020/user");
  configuration.set("fs.viewfs.mounttable.table.linkFallback", "hdfs://one:8020/");
  configuration.set("fs.viewfs.mounttable.table.homedir", "/home");
  configuration.set("fs.viewfs.mounttable.other.link./x", "hdfs://three:8020/");
  EXPECT_THAT(names(configuration, {}), ElementsAre("hdfs://one:8020", "hdfs://two:8020"));
  EXPECT_THAT(names(configuration, {"viewfs://other"}),
              ElementsAre("hdfs://one:8020", "hdfs://two:8020", "hdfs://three:8020"));
  EXPECT_THAT(names(configuration, {"viewfs://nothing"}),
              ElementsAre(HasSubstr("viewfs://nothing leads nowhere")));
}

TEST(DelegationToken, AViewOfItselfEnds) {
  Configuration configuration;
  configuration.set("fs.defaultFS", "viewfs://a/");
  configuration.set("fs.viewfs.mounttable.a.link./x", "viewfs://a/y");
  EXPECT_THAT(names(configuration, {}), ElementsAre(HasSubstr("leads nowhere")));
}

}  // namespace
}  // namespace gangrun::hadoop
