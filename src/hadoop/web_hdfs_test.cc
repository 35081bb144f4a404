#include "hadoop/web_hdfs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "hadoop/test_hdfs_internal.h"
#include "sasl/test_identity.h"

namespace gangrun::hadoop {
namespace {

using base::Code;
using testing::HasSubstr;
using testing::Not;

TEST(WebHdfs, AFileFromItsCreationToItsEnd) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  const std::string path = "/user/alice/a b/ä.txt";
  ASSERT_TRUE(client.create(path, "hello world", {.permission = 0600}, test_deadline()).ok());
  EXPECT_EQ(*client.read(path, 100, test_deadline()), "hello world");
  EXPECT_EQ(*client.read_range(path, 6, 3, test_deadline()), "wor");
  EXPECT_EQ(*client.read_range(path, 6, 300, test_deadline()), "world");
  EXPECT_EQ(*client.read_range(path, 6, 0, test_deadline()), "");
  const auto status = client.status(path, test_deadline());
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->length, 11U);
  EXPECT_EQ(status->permission, 0600U);
  ASSERT_TRUE(client.set_modification_time(path, 77, test_deadline()).ok());
  EXPECT_EQ(client.status(path, test_deadline())->modification_time, 77);
  ASSERT_TRUE(client.rename(path, "/user/alice/b", test_deadline()).ok());
  EXPECT_TRUE(*client.remove("/user/alice/b", false, test_deadline()));
  EXPECT_FALSE(*client.remove("/user/alice/b", false, test_deadline()));
  for (const auto& request : hdfs.seen()) EXPECT_EQ(request.query.at("user.name"), "alice");
}

TEST(WebHdfs, AFileIsReplacedWhole) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  ASSERT_TRUE(client.replace("/f/a", "first", 0600, test_deadline()).ok());
  EXPECT_EQ(hdfs.nodes()["/f/a"].permission, 0600U);
  ASSERT_TRUE(client.replace("/f/a", "second", 0640, test_deadline()).ok());
  ASSERT_TRUE(client.replace("/f/empty", "", 0600, test_deadline()).ok());
  const auto files = client.list("/f", test_deadline());
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ(*client.read("/f/a", 100, test_deadline()), "second");
}

// A DataNode that asks the NameNode too soon to close a file waits 0.4 s before it asks again.
TEST(WebHdfs, NobodyWaitsForADataNodeToCloseWhatIsThere) {
  FakeHdfs hdfs;
  hdfs.never_close();
  WebHdfs client = hdfs.client();
  ASSERT_TRUE(client.replace("/f/a", "content", 0600, test_deadline()).ok());
  EXPECT_EQ(*client.read("/f/a", 100, test_deadline()), "content");
}

// A full file system keeps the name of what it has no room for.
TEST(WebHdfs, WhatFoundNoRoomLeavesNoNameBehind) {
  FakeHdfs hdfs;
  hdfs.on_call([](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    const bool is_upload =
        request.query.at("op") == "CREATE" && !request.query.contains("noredirect");
    if (!is_upload) return std::nullopt;
    return exception_answer(403, "DSQuotaExceededException", "The DiskSpace quota is exceeded");
  });
  WebHdfs client = hdfs.client();
  const auto replaced = client.replace("/f/a", "content", 0600, test_deadline());
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().code, Code::kResourceExhausted);
  EXPECT_EQ(hdfs.count("DELETE"), 1);
  EXPECT_TRUE(hdfs.seen().back().path.starts_with("/webhdfs/v1/f/a.unfinished-"));
}

TEST(WebHdfs, FoldersAreListedByName) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  ASSERT_TRUE(client.make_folders("/f/b", 0700, test_deadline()).ok());
  ASSERT_TRUE(client.create("/f/a", "x", {}, test_deadline()).ok());
  const auto files = client.list("/f", test_deadline());
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].name, "a");
  EXPECT_FALSE((*files)[0].is_folder);
  EXPECT_EQ((*files)[1].name, "b");
  EXPECT_TRUE((*files)[1].is_folder);
  EXPECT_EQ(*client.home_folder(test_deadline()), "/user/alice");
}

TEST(WebHdfs, AFileOnDiskIsSentWithItsProgress) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  auto memory = base::memory_file("sent", std::string(700'000, 's') + "end");
  ASSERT_TRUE(memory.ok());
  std::uint64_t told = 0;
  const auto sent = client.create_from(
      "/f", {memory->get(), 0, 700'003}, {}, [&](std::uint64_t bytes) { told = bytes; },
      test_deadline());
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(told, 700'003U);
  std::string got;
  const auto read = client.read_to(
      "/f", 1'000'000,
      [&](std::string_view piece) -> base::Result<> {
        got += piece;
        return {};
      },
      test_deadline());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(got.size(), 700'003U);
  EXPECT_TRUE(got.ends_with("send"));
  EXPECT_EQ(client.read("/f", 700'002, test_deadline()).error().code, Code::kResourceExhausted);
}

TEST(WebHdfs, ErrorsNameCallPathAndAddress) {
  FakeHdfs hdfs;
  WebHdfs client = hdfs.client();
  const auto missing = client.status("/x/y", test_deadline());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message,
            "GETFILESTATUS /x/y at " + hdfs.address() + ": \"File does not exist: /x/y\"");
  ASSERT_TRUE(client.create("/x", "1", {}, test_deadline()).ok());
  const auto twice = client.create("/x", "2", {}, test_deadline());
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, Code::kAlreadyExists);
  EXPECT_TRUE(client.create("/x", "2", {.overwrite = true}, test_deadline()).ok());
  EXPECT_EQ(client.rename("/none", "/y", test_deadline()).error().code, Code::kNotFound);
  EXPECT_EQ(client.status("relative", test_deadline()).error().code, Code::kInvalidArgument);
  EXPECT_EQ(client.rename("/x", "y", test_deadline()).error().code, Code::kInvalidArgument);
}

TEST(WebHdfs, ADelegationTokenTakesTheNamesPlaceAndIsNeverShown) {
  FakeHdfs hdfs;
  WebHdfs client(hdfs.file_system(), {.user = "alice", .delegation = base::Secret("s3cr3t")});
  const auto missing = client.read("/x", 10, test_deadline());
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, Not(HasSubstr("s3cr3t")));
  const auto request = hdfs.seen().back();
  EXPECT_EQ(request.query.at("delegation"), "s3cr3t");
  EXPECT_FALSE(request.query.contains("user.name"));
  EXPECT_FALSE(request.headers.get("Authorization").has_value());
  // Not where the connection is refused either, nor where the DataNode breaks off.
  hdfs.on_call([](const net::HttpRequest&) {
    return json_answer(R"({"Location":"http://127.0.0.1:1/x?delegation=s3cr3t"})");
  });
  const auto refused = client.read("/x", 10, test_deadline());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("s3cr3t")));
}

TEST(WebHdfs, ATokenIsAskedForByWhoKnowsThemself) {
  FakeHdfs hdfs;
  Account account("alice");
  const auto identity = std::make_shared<sasl::TestIdentity>();
  account.identity = identity;
  WebHdfs client(hdfs.file_system(), web_hdfs_options(account));
  const auto token = client.get_delegation_token("yarn", "10.0.0.1:8020", test_deadline());
  ASSERT_TRUE(token.ok()) << token.error().message;
  ASSERT_TRUE(token->has_value());
  EXPECT_EQ((*token)->reveal(), "TKN");
  const auto request = hdfs.seen().back();
  EXPECT_EQ(request.headers.get("Authorization"), "Negotiate dGlja2V0");
  EXPECT_FALSE(request.query.contains("user.name"));
  EXPECT_EQ(identity->opened.front().first, "HTTP/127.0.0.1");
  EXPECT_EQ(request.query.at("service"), "10.0.0.1:8020");
  EXPECT_EQ(request.query.at("kind"), "HDFS_DELEGATION_TOKEN");
  hdfs.on_call([](const net::HttpRequest&) { return json_answer(R"({"Token":null})"); });
  EXPECT_EQ(*client.get_delegation_token("yarn", "x", test_deadline()), std::nullopt);
}

TEST(WebHdfs, AnotherTokenTakesThePlaceOfTheFirst) {
  FakeHdfs hdfs;
  WebHdfs client(hdfs.file_system(), {.user = "", .delegation = base::Secret("old")});
  (void)client.status("/", test_deadline());
  WebHdfs copy = client;
  client.set_delegation(base::Secret("new"));
  (void)copy.status("/", test_deadline());
  EXPECT_EQ(hdfs.seen().front().query.at("delegation"), "old");
  EXPECT_EQ(hdfs.seen().back().query.at("delegation"), "new");
}

TEST(WebHdfs, AProxyUserIsNamedBesideTheUser) {
  FakeHdfs hdfs;
  Account account("alice");
  account.real_user = "oozie";
  WebHdfs client(hdfs.file_system(), web_hdfs_options(account));
  (void)client.status("/", test_deadline());
  EXPECT_EQ(hdfs.seen().back().query.at("user.name"), "oozie");
  EXPECT_EQ(hdfs.seen().back().query.at("doas"), "alice");
}

TEST(WebHdfs, OfAPairTheActiveOneAnswersAndIsAskedFirstFromThenOn) {
  FakeHdfs standby;
  FakeHdfs active;
  standby.on_call([](const net::HttpRequest&) {
    return exception_answer(403, "StandbyException", "Operation category READ is not supported");
  });
  WebHdfs client({"hdfs", "pair", -1, {"http://127.0.0.1:1", standby.address(), active.address()}},
                 {.user = "alice"});
  const auto home = client.home_folder(test_deadline());
  ASSERT_TRUE(home.ok()) << home.error().message;
  ASSERT_TRUE(client.home_folder(test_deadline()).ok());
  EXPECT_EQ(standby.seen().size(), 1U);
  EXPECT_EQ(active.seen().size(), 2U);
}

TEST(WebHdfs, WithoutAnActiveNameNodeItIsUnavailable) {
  FakeHdfs standby;
  standby.on_call([](const net::HttpRequest&) {
    return exception_answer(403, "StandbyException", "Operation category READ is not supported");
  });
  WebHdfs client({"hdfs", "pair", -1, {standby.address(), "http://127.0.0.1:1"}}, {.user = "a"});
  for (int i = 0; i < 2; ++i) {
    const auto home = client.home_folder(test_deadline());
    ASSERT_FALSE(home.ok());
    EXPECT_EQ(home.error().code, Code::kUnavailable);
    EXPECT_THAT(home.error().message, HasSubstr("1 more NameNode"));
  }
  EXPECT_EQ(standby.seen().size(), 2U);
}

TEST(WebHdfs, AnAddressThatIsOnlyAssumedSaysWhichSettingIsMissing) {
  // Nobody listens at port 1.
  const auto said = [](bool is_assumed) {
    WebHdfs client({"hdfs", "127.0.0.1", 8020, {"http://127.0.0.1:1"}, is_assumed}, {});
    return client.status("/x", test_deadline()).error().message;
  };
  EXPECT_THAT(said(true), HasSubstr("Set dfs.namenode.http-address (HOST:PORT) in hdfs-site.xml, "
                                    "or name the file system webhdfs://127.0.0.1:PORT"));
  EXPECT_THAT(said(false), Not(HasSubstr("dfs.namenode.http-address")));
}

TEST(WebHdfs, WhatANameNodeRefusesNoOtherIsAsked) {
  FakeHdfs first;
  FakeHdfs second;
  first.on_call([](const net::HttpRequest&) {
    return exception_answer(403, "AccessControlException", "Permission denied: user=alice");
  });
  WebHdfs client({"hdfs", "pair", -1, {first.address(), second.address()}}, {.user = "alice"});
  EXPECT_EQ(client.home_folder(test_deadline()).error().code, Code::kPermissionDenied);
  EXPECT_TRUE(second.seen().empty());
}

TEST(WebHdfs, AServerThatRedirectsAnywayIsFollowedToTheDataNode) {
  FakeHdfs hdfs;
  hdfs.put("/f", {false, "bytes", 0644, 1});
  hdfs.on_call([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (!request.query.contains("noredirect")) return std::nullopt;
    net::HttpResponse answer = json_answer("", 307);
    answer.headers.add("Location", hdfs.address() + "/webhdfs/v1/f?op=OPEN&user.name=alice");
    return answer;
  });
  EXPECT_EQ(*hdfs.client().read("/f", 10, test_deadline()), "bytes");
}

TEST(WebHdfs, AnAnswerThatIsNoneIsAnError) {
  FakeHdfs hdfs;
  hdfs.on_call([](const net::HttpRequest&) { return json_answer("<html>"); });
  WebHdfs client = hdfs.client();
  for (const auto& error :
       {client.status("/x", test_deadline()).error(), client.list("/x", test_deadline()).error(),
        client.home_folder(test_deadline()).error(), client.read("/x", 9, test_deadline()).error(),
        client.make_folders("/x", 0700, test_deadline()).error()}) {
    EXPECT_EQ(error.code, Code::kInvalidArgument) << error.message;
  }
  hdfs.on_call([](const net::HttpRequest&) { return json_answer(R"({"boolean":false})"); });
  EXPECT_EQ(client.make_folders("/x", 0700, test_deadline()).error().code,
            Code::kFailedPrecondition);
}

}  // namespace
}  // namespace gangrun::hadoop
