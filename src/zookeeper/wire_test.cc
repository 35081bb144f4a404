#include "zookeeper/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "net/frames.h"

namespace gangrun::zookeeper {
namespace {

using namespace std::string_literals;
using Outcome = ServerAnswer::Code;
using Verb = Operation::Verb;

// The frame's record: its length is checked.
std::string record_of(const std::string& frame) {
  net::FrameReader reader(kMaxFrameBytes);
  reader.feed(frame);
  auto record = reader.next();
  EXPECT_TRUE(record.ok() && record->has_value());
  EXPECT_FALSE(reader.next()->has_value());
  return record.ok() && *record ? **record : "";
}

std::string reply(std::int32_t number, std::int32_t code, const std::string& record = "") {
  std::string text;
  const auto put = [&text](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) text += static_cast<char>((value >> (8 * i)) & 0xffU);
  };
  put(static_cast<std::uint32_t>(number), 4);
  put(77, 8);
  put(static_cast<std::uint32_t>(code), 4);
  return text + record;
}

// As kazoo and the servers write them.
TEST(Wire, RequestsAreThoseOfZooKeeper) {
  EXPECT_EQ(record_of(connect_request({}, std::chrono::seconds(30), 5)),
            "\0\0\0\0\0\0\0\0\0\0\0\5\0\0\x75\x30\0\0\0\0\0\0\0\0\0\0\0\x10"s +
                std::string(16, '\0') + "\0"s);
  EXPECT_EQ(record_of(ping_request()), "\xff\xff\xff\xfe\0\0\0\x0b"s);
  EXPECT_EQ(record_of(close_request(9)), "\0\0\0\x09\xff\xff\xff\xf5"s);
  EXPECT_EQ(record_of(credentials_request(base::Secret("a:b"))),
            "\xff\xff\xff\xfc\0\0\0\x64\0\0\0\0\0\0\0\6digest\0\0\0\3a:b"s);
  EXPECT_EQ(record_of(operation_request(1, {Verb::kDelete, {.path = "/x"}}, {})),
            "\0\0\0\1\0\0\0\2\0\0\0\2/x\xff\xff\xff\xff"s);
  EXPECT_EQ(record_of(operation_request(1, {Verb::kSet, {.path = "/x", .data = "d"}}, {})),
            "\0\0\0\1\0\0\0\5\0\0\0\2/x\0\0\0\1d\xff\xff\xff\xff"s);
  EXPECT_EQ(record_of(operation_request(1, {Verb::kLook, {.path = "/x"}}, {})),
            "\0\0\0\1\0\0\0\3\0\0\0\2/x\0"s);
}

TEST(Wire, ANodeIsMadeWithItsKindAndItsRights) {
  const Node node{.path = "/x", .data = "d", .kind = Kind::kEphemeral};
  EXPECT_EQ(record_of(operation_request(1, {Verb::kCreate, node}, {{"sasl", "ann"}})),
            "\0\0\0\1\0\0\0\1\0\0\0\2/x\0\0\0\1d\0\0\0\3"
            "\0\0\0\x1f\0\0\0\4auth\0\0\0\0"
            "\0\0\0\x1f\0\0\0\4sasl\0\0\0\3ann"
            "\0\0\0\1\0\0\0\5world\0\0\0\6anyone"
            "\0\0\0\1"s);
  const Node open{.path = "/x", .kind = Kind::kContainer, .access = Access::kAnyone};
  EXPECT_EQ(record_of(operation_request(1, {Verb::kCreate, open}, {{"sasl", "ann"}})),
            "\0\0\0\1\0\0\0\x13\0\0\0\2/x\0\0\0\0\0\0\0\1"
            "\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone"
            "\0\0\0\4"s);
}

TEST(Wire, AWelcomeHasTheSessionOrSaysThatThereIsNoneAnyMore) {
  const std::string frame = "\0\0\0\0\0\0\x07\xd0\0\0\0\0\0\0\0\x2a\0\0\0\3pwd\0"s;
  const auto welcome = parse_welcome(frame);
  ASSERT_TRUE(welcome.ok());
  EXPECT_EQ(welcome->session.id, 42);
  EXPECT_EQ(welcome->session.password.reveal(), "pwd");
  EXPECT_EQ(welcome->timeout, std::chrono::seconds(2));
  // Shown again, it is the same session.
  EXPECT_THAT(connect_request(welcome->session, welcome->timeout, 0),
              testing::HasSubstr("\x2a\0\0\0\3pwd"s));
  const auto over = parse_welcome("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s);
  ASSERT_TRUE(over.ok());
  EXPECT_EQ(over->timeout.count(), 0);
  for (std::size_t size = 0; size < frame.size() - 1; ++size) {
    EXPECT_FALSE(parse_welcome(frame.substr(0, size)).ok()) << size;
  }
}

ServerAnswer answer(std::int32_t code, Verb verb = Verb::kCreate, const std::string& record = "") {
  const std::string frame = reply(1, code, record);
  const auto parsed = parse_reply(frame);
  EXPECT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->number, 1);
  EXPECT_EQ(parsed->transaction, 77);
  const auto answer = answer_of(*parsed, {verb, {.path = "/x"}}, 42);
  EXPECT_TRUE(answer.ok());
  return *answer;
}

TEST(Wire, AnswersSayWhatBecameOfIt) {
  EXPECT_EQ(answer(0).code, Outcome::kDone);
  EXPECT_EQ(answer(-110).code, Outcome::kExists);
  EXPECT_EQ(answer(-101).code, Outcome::kMissing);
  EXPECT_EQ(answer(-111).code, Outcome::kNotEmpty);
  EXPECT_EQ(answer(-6).code, Outcome::kUnsupported);
  EXPECT_EQ(answer(-112).code, Outcome::kLost);
  EXPECT_EQ(answer(-102).reason, "its ACL does not let the job do that");
  EXPECT_EQ(answer(-9).reason, "the server says error -9");
}

TEST(Wire, ANodeIsOursIfOurSessionOwnsIt) {
  const std::string before(4 * 8 + 3 * 4, '\0');
  EXPECT_TRUE(answer(0, Verb::kLook, before + "\0\0\0\0\0\0\0\x2a"s).is_ours);
  EXPECT_FALSE(answer(0, Verb::kLook, before + "\0\0\0\0\0\0\0\x2b"s).is_ours);
  const std::string frame = reply(1, 0, before);
  EXPECT_FALSE(answer_of(*parse_reply(frame), {Verb::kLook, {.path = "/x"}}, 42).ok());
}

}  // namespace
}  // namespace gangrun::zookeeper
