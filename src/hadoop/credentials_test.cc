#include "hadoop/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace gangrun::hadoop {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

Credentials sample() {
  Credentials credentials;
  credentials.tokens[""] = {.identifier = "id\0entifier"s,
                            .password = base::Secret("pass\xff word"s),
                            .kind = std::string(kMasterTokenKind),
                            .service = ""};
  credentials.tokens["hdfs"] = {.identifier = std::string(300, 'i'),
                                .password = base::Secret("p"),
                                .kind = std::string(kHdfsTokenKind),
                                .service = "10.0.0.1:8020"};
  credentials.secrets["job.secret"] = base::Secret("hunter2");
  return credentials;
}

void expect_sample(const Credentials& credentials) {
  ASSERT_EQ(credentials.tokens.size(), 2U);
  EXPECT_EQ(credentials.tokens.at("").identifier, "id\0entifier"s);
  EXPECT_EQ(credentials.tokens.at("").password.reveal(), "pass\xff word");
  EXPECT_EQ(credentials.tokens.at("").kind, "YARN_AM_RM_TOKEN");
  EXPECT_EQ(credentials.tokens.at("hdfs").identifier, std::string(300, 'i'));
  EXPECT_EQ(credentials.tokens.at("hdfs").service, "10.0.0.1:8020");
  ASSERT_EQ(credentials.secrets.size(), 1U);
  EXPECT_EQ(credentials.secrets.at("job.secret").reveal(), "hunter2");
}

TEST(Credentials, ASecretAloneIsWrittenAsHadoopDoes) {
  Credentials credentials;
  credentials.secrets["job.secret"] = base::Secret("hunter2");
  EXPECT_EQ(encode_credentials(credentials), "HDTS\0\0\x01\x0ajob.secret\x07hunter2"s);
}

TEST(Credentials, WhatIsWrittenIsReadAgain) {
  const auto credentials = parse_credentials(encode_credentials(sample()));
  ASSERT_TRUE(credentials.ok()) << credentials.error().message;
  expect_sample(*credentials);
}

std::string field(char tag, std::string_view bytes) {
  std::string out(1, tag);
  if (bytes.size() > 127) out += static_cast<char>(bytes.size() % 128 | 128U);
  out += static_cast<char>(bytes.size() > 127 ? bytes.size() / 128 : bytes.size());
  return out.append(bytes);
}

TEST(Credentials, TheProtobufVersionIsReadToo) {
  const std::string first = field('\x0a', "id\0entifier"s) + field('\x12', "pass\xff word") +
                            field('\x1a', "YARN_AM_RM_TOKEN") + field('\x22', "");
  const std::string second = field('\x0a', std::string(300, 'i')) + field('\x12', "p") +
                             field('\x1a', "HDFS_DELEGATION_TOKEN") +
                             field('\x22', "10.0.0.1:8020");
  const std::string body = field('\x0a', field('\x0a', "") + field('\x12', first)) +
                           field('\x0a', field('\x0a', "hdfs") + field('\x12', second)) +
                           field('\x12', field('\x0a', "job.secret") + field('\x1a', "hunter2"));
  const auto credentials = parse_credentials("HDTS\x01"s + field('\0', body).substr(1));
  ASSERT_TRUE(credentials.ok()) << credentials.error().message;
  expect_sample(*credentials);
}

TEST(Credentials, APartIsToldToBeOneAtEveryLength) {
  const std::string whole = encode_credentials(sample());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto credentials = parse_credentials(std::string_view(whole).substr(0, length));
    ASSERT_FALSE(credentials.ok()) << length;
    EXPECT_EQ(credentials.error().code, base::Code::kDataLoss) << length;
  }
}

TEST(Credentials, WhatIsNoneIsRefused) {
  EXPECT_THAT(parse_credentials("token").error().message, HasSubstr("HDTS"));
  EXPECT_THAT(parse_credentials("HDTS\x02"s).error().message, HasSubstr("version is 2"));
  EXPECT_THAT(parse_credentials("HDTS\x01\x02\xff\xff"s).error().message, HasSubstr("message"));
  EXPECT_EQ(parse_credentials("HDTS\x01\x7f"s).error().code, base::Code::kDataLoss);
  EXPECT_THAT(parse_credentials("HDTS\0\xff\0"s).error().message, HasSubstr("negative"));
  EXPECT_THAT(parse_credentials("HDTS\0\x01\xff"s).error().message, HasSubstr("negative"));
  EXPECT_EQ(parse_credentials(std::string(kMaxCredentialsBytes + 1, 'x')).error().code,
            base::Code::kResourceExhausted);
}

TEST(Credentials, ATokenInAUrlIsBase64WithoutPadding) {
  // Made with Python's base64.urlsafe_b64encode(b"\x01\xfb\x02\xff\xfe\x01k\x03h:1").
  const Token token{
      .identifier = "\xfb", .password = base::Secret("\xff\xfe"), .kind = "k", .service = "h:1"};
  EXPECT_EQ(to_url_text(token).reveal(), "AfsC__4BawNoOjE");
  const auto again = token_from_url_text("AfsC__4BawNoOjE");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->identifier, token.identifier);
  EXPECT_EQ(again->password.reveal(), token.password.reveal());
  EXPECT_EQ(again->kind, "k");
  EXPECT_EQ(again->service, "h:1");
}

TEST(Credentials, WhatIsNoTokenInAUrlIsRefused) {
  EXPECT_EQ(token_from_url_text("!").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(token_from_url_text("").error().code, base::Code::kDataLoss);
  const std::string whole = "AfsC__4BawNoOjE";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(token_from_url_text(whole.substr(0, length)).ok()) << length;
  }
  EXPECT_THAT(token_from_url_text("AAAAAAA").error().message, HasSubstr("more follows"));
}

std::string encoded(std::int64_t value) {
  std::string out;
  append_variable_integer(out, value);
  return out;
}

TEST(VariableInteger, IsWrittenAsHadoopDoes) {
  EXPECT_EQ(encoded(0), std::string(1, '\0'));
  EXPECT_EQ(encoded(127), "\x7f");
  EXPECT_EQ(encoded(-112), "\x90");
  EXPECT_EQ(encoded(128), "\x8f\x80");
  EXPECT_EQ(encoded(300), "\x8e\x01\x2c");
  EXPECT_EQ(encoded(-113), "\x87\x70");
  EXPECT_EQ(encoded(-300), "\x86\x01\x2b");
}

TEST(VariableInteger, EveryLengthIsReadAsItWasWrittenAndNotBefore) {
  std::vector<std::int64_t> values{0, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()};
  for (unsigned bit = 0; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    values.insert(values.end(), {power, power - 1, -power, -power - 1});
  }
  for (const std::int64_t value : values) {
    const std::string bytes = encoded(value) + "x";
    std::string_view rest(bytes);
    EXPECT_EQ(take_variable_integer(rest), value);
    EXPECT_EQ(rest, "x");
    for (std::size_t length = 0; length + 1 < bytes.size(); ++length) {
      std::string_view cut = std::string_view(bytes).substr(0, length);
      EXPECT_EQ(take_variable_integer(cut), std::nullopt) << value;
    }
  }
}

}  // namespace
}  // namespace gangrun::hadoop
