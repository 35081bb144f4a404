#include "hadoop/web_hdfs_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace gangrun::hadoop {
namespace {

using base::Code;
using testing::HasSubstr;
using testing::Not;

net::HttpResponse answer(int status, std::string body,
                         std::string content_type = "application/json") {
  return {status, std::move(content_type), {}, std::move(body)};
}

net::HttpResponse exception(int status, std::string_view name, std::string_view message) {
  return answer(status, base::format(R"({{"RemoteException":{{"exception":"{}",)"
                                     R"("javaClassName":"x.{}","message":"{}"}}}})",
                                     name, name, message));
}

TEST(WebHdfsWire, TargetsAreEncoded) {
  EXPECT_EQ(webhdfs_target("/", "GETHOMEDIRECTORY", {}), "/webhdfs/v1/?op=GETHOMEDIRECTORY");
  EXPECT_EQ(webhdfs_target("/a b/ä?&#%+", "OPEN", {{"user.name", "a&b=c d"}}),
            "/webhdfs/v1/a%20b/%C3%A4%3F%26%23%25%2B?op=OPEN&user.name=a%26b%3Dc%20d");
}

TEST(WebHdfsWire, PathsAreCheckedBeforeTheyAreSent) {
  for (const std::string path : {"/", "/a", "/a/b.c", "/a b", "/ä", "/..a", "/a..", "/.a"}) {
    EXPECT_TRUE(check_path(path).ok()) << path;
  }
  for (const std::string path : {"", "a", "a/b", "//", "/a//b", "/a/", "/a/../b", "/..", "/.",
                                 "/a/./b", "/a:b", "/a\nb", "/\x7f", "/\xff"}) {
    EXPECT_EQ(check_path(path).error().code, Code::kInvalidArgument) << path;
  }
  EXPECT_FALSE(check_path(std::string_view("/a\0b", 4)).ok());
}

TEST(WebHdfsWire, AStatusAsARealNameNodeGivesIt) {
  const auto folder = parse_file_status(
      R"({"FileStatus":{"accessTime":0,"blockSize":0,"childrenNum":1,"fileId":16386,)"
      R"("group":"supergroup","length":0,"modificationTime":1795313467691,"owner":"root",)"
      R"("pathSuffix":"","permission":"1777","replication":0,"storagePolicy":0,)"
      R"("type":"DIRECTORY"}})");
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(*folder, (FileStatus{"", true, 0, 1795313467691, 01777}));
  const auto files = parse_list(
      R"({"FileStatuses":{"FileStatus":[
{"accessTime":1,"length":14888,"modificationTime":2,"owner":"o","group":"g","pathSuffix":"a b","permission":"640","type":"FILE"}
]}})");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(*files, (std::vector<FileStatus>{{"a b", false, 14888, 2, 0640}}));
  EXPECT_TRUE(parse_list(R"({"FileStatuses":{"FileStatus":[]}})")->empty());
}

TEST(WebHdfsWire, WhatIsNoStatusIsRefused) {
  for (const std::string body :
       {R"()", R"([])", R"({})", R"({"FileStatus":1})", R"({"FileStatus":{}})",
        R"({"FileStatus":{"type":"FILE","modificationTime":1}})",
        R"({"FileStatus":{"type":"FILE","modificationTime":1,"permission":"9"}})",
        R"({"FileStatus":{"type":"FILE","modificationTime":1,"permission":"77777"}})",
        R"({"FileStatus":{"type":"FILE","modificationTime":1,"permission":"","length":1}})",
        R"({"FileStatus":{"type":"FILE","modificationTime":1,"permission":"1","length":-1}})"}) {
    EXPECT_EQ(parse_file_status(body).error().code, Code::kInvalidArgument) << body;
  }
  for (const std::string body :
       {R"({"FileStatuses":[]})", R"({"FileStatuses":{}})", R"({"FileStatuses":{"FileStatus":{}}})",
        R"({"FileStatuses":{"FileStatus":[1]}})"}) {
    EXPECT_EQ(parse_list(body).error().code, Code::kInvalidArgument) << body;
  }
}

TEST(WebHdfsWire, AListedNameMustNotLeadElsewhere) {
  for (const std::string name : {"..", "a/../b", "/etc", "a:b"}) {
    const auto files = parse_list(
        base::format(R"({{"FileStatuses":{{"FileStatus":[{{"type":"FILE","modificationTime":1,)"
                     R"("permission":"644","pathSuffix":"{}"}}]}}}})",
                     name));
    EXPECT_EQ(files.error().code, Code::kInvalidArgument) << name;
  }
}

TEST(WebHdfsWire, SmallAnswers) {
  EXPECT_TRUE(*parse_boolean(R"({"boolean":true})"));
  EXPECT_FALSE(*parse_boolean(R"({"boolean":false})"));
  EXPECT_FALSE(parse_boolean(R"({"boolean":"true"})").ok());
  EXPECT_EQ(*parse_long(R"({"long":1320962673997})"), 1'320'962'673'997);
  EXPECT_FALSE(parse_long(R"({"long":"1"})").ok());
  EXPECT_EQ(*parse_path(R"({"Path":"/user/root"})"), "/user/root");
  EXPECT_FALSE(parse_path(R"({"Path":"user"})").ok());
  EXPECT_FALSE(parse_token(R"({"Token":null})")->has_value());
  EXPECT_EQ((*parse_token(R"({"Token":{"urlString":"abc"}})"))->reveal(), "abc");
  EXPECT_FALSE(parse_token(R"({"Token":{}})").ok());
}

TEST(WebHdfsWire, ALocationIsInTheBodyOrARedirection) {
  EXPECT_EQ(*parse_location(answer(200, R"({"Location":"http://dn:1/x"})")), "http://dn:1/x");
  EXPECT_EQ(*parse_location(answer(200, R"({"Location":"http://dn:1/ä%20?x=y"})")),
            "http://dn:1/%C3%A4%20?x=y")
      << "a real NameNode leaves the letter as it is";
  net::HttpResponse redirection = answer(307, "");
  EXPECT_FALSE(parse_location(redirection).ok());
  redirection.headers.add("Location", "http://dn:2/y");
  EXPECT_EQ(*parse_location(redirection), "http://dn:2/y");
  EXPECT_FALSE(parse_location(answer(200, "{}")).ok());
}

TEST(WebHdfsWire, WhereNoDataNodeIsFoundItIsToldWhyThatMayBe) {
  const base::Error error = error_of_answer(
      exception(403, "IOException", "Failed to find datanode, suggest to check it."));
  EXPECT_EQ(error.code, Code::kUnavailable);
  EXPECT_EQ(error.message,
            "\"Failed to find datanode, suggest to check it.\" (no DataNode is alive, or none has "
            "room)");
}

TEST(WebHdfsWire, JavaExceptionsBecomeCodes) {
  const std::vector<std::tuple<int, std::string, std::string, Code>> rows{
      {404, "FileNotFoundException", "File does not exist: /x", Code::kNotFound},
      {403, "AccessControlException", "Permission denied: user=bob", Code::kPermissionDenied},
      {403, "FileAlreadyExistsException", "/x for client", Code::kAlreadyExists},
      {403, "StandbyException", "Operation category READ is not supported", Code::kUnavailable},
      {403, "RemoteException", "Operation category READ is not supported in state standby",
       Code::kUnavailable},
      {403, "SafeModeException", "Cannot create file/x. Name node is in safe mode.",
       Code::kUnavailable},
      {403, "RetriableException", "Name node is in safe mode.", Code::kUnavailable},
      {403, "NSQuotaExceededException", "The NameSpace quota", Code::kResourceExhausted},
      {403, "DSQuotaExceededException", "The DiskSpace quota", Code::kResourceExhausted},
      {403, "IOException",
       "File /x could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s)",
       Code::kResourceExhausted},
      {403, "PathIsNotEmptyDirectoryException", "`/x is non empty'", Code::kFailedPrecondition},
      {403, "SomethingElse", "what", Code::kFailedPrecondition},
      {403, "InvalidToken", "token (owner=x) can't be found in cache", Code::kUnauthenticated},
      {401, "SecurityException", "Failed to obtain user group information", Code::kUnauthenticated},
      {400, "IllegalArgumentException", "Invalid value", Code::kInvalidArgument},
      {500, "RuntimeException", "what", Code::kFailedPrecondition},
  };
  for (const auto& [status, name, message, code] : rows) {
    const base::Error error = error_of_answer(exception(status, name, message));
    EXPECT_EQ(error.code, code) << name << ": " << message;
    EXPECT_EQ(error.message, "\"" + message + "\"");
  }
}

TEST(WebHdfsWire, OfAJavaStackOnlyTheFirstLineIsShown) {
  const base::Error error =
      error_of_answer(exception(403, "IOException", R"( it broke\n\tat x.y.Z(Z.java:1)\n)"));
  EXPECT_EQ(error.message, "\"it broke\"");
  EXPECT_LT(error_of_answer(exception(403, "IOException", std::string(5000, 'x'))).message.size(),
            600U);
  EXPECT_EQ(error_of_answer(exception(403, "IOException", "")).message, "\"IOException\"");
  EXPECT_EQ(error_of_answer(exception(403, "", "")).message, "HTTP 403 Forbidden");
}

TEST(WebHdfsWire, WhatIsNoAnswerOfWebHdfsIsToldByItsStatus) {
  const base::Error page =
      error_of_answer(answer(404, "<html><h1>Not here</h1></html>", "text/html"));
  EXPECT_EQ(page.code, Code::kNotFound);
  EXPECT_EQ(page.message, "HTTP 404 Not Found");
  EXPECT_EQ(error_of_answer(answer(503, "busy\nx", "text/plain")).message,
            "HTTP 503 Service Unavailable: \"busy\"");
  const base::Error unknown = error_of_answer(answer(401, "<html>", "text/html"));
  EXPECT_EQ(unknown.code, Code::kUnauthenticated);
  EXPECT_THAT(unknown.message, HasSubstr("Kerberos"));
}

TEST(WebHdfsWire, AStandbyIsKnownByItsException) {
  EXPECT_TRUE(is_standby(exception(403, "StandbyException", "x")));
  EXPECT_TRUE(is_standby(exception(403, "RemoteException",
                                   "org.apache.hadoop.ipc.StandbyException: Operation category")));
  EXPECT_FALSE(is_standby(exception(403, "AccessControlException", "x")));
  EXPECT_FALSE(is_standby(answer(200, R"({"boolean":true})")));
  EXPECT_FALSE(is_standby(answer(403, "StandbyException", "text/html")));
}

}  // namespace
}  // namespace gangrun::hadoop
