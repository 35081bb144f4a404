#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/format.h"
#include "net/answer_internal.h"

namespace gangrun::net {
namespace {

using base::Code;
using testing::HasSubstr;

constexpr std::size_t kLimit = 1000;
constexpr std::string_view kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n"
    "3\r\nabc\r\n2;extension=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n";

AnswerOptions whole(bool is_head = false) { return {is_head, kLimit, {}, {}}; }

struct Read {
  std::optional<HttpResponse> response;  // none: it is not complete
  std::optional<base::Error> error;
};

// `bytes` in two parts, the second of which begins at `split`; an empty part is not put.
Read read(AnswerOptions options, std::string_view bytes, std::size_t split = 0) {
  AnswerReader reader(std::move(options));
  for (const std::string_view part : {bytes.substr(0, split), bytes.substr(split)}) {
    if (part.empty()) continue;
    auto complete = reader.put(part);
    if (!complete.ok()) return {{}, std::move(complete).error()};
    if (*complete) return {reader.take(), {}};
  }
  return {};
}

TEST(Answer, IsTheSameWhereverItIsSplit) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
  const std::string bytes = interim + std::string(kChunked);
  for (std::size_t split = 0; split < bytes.size(); ++split) {
    const Read got = read(whole(), bytes, split);
    ASSERT_TRUE(got.response) << split;
    EXPECT_EQ(got.response->status, 200);
    EXPECT_EQ(got.response->body, "abcde") << split;
    EXPECT_EQ(got.response->content_type, "text/plain");
    EXPECT_EQ(got.response->headers.get("transfer-encoding"), "chunked");
    EXPECT_FALSE(got.response->headers.get("trailer"));
  }
}

TEST(Answer, OfSuccessComesPieceByPiece) {
  for (std::size_t split = 0; split < kChunked.size(); ++split) {
    std::vector<std::string> said;
    const Read got = read({false, 0, [&] { said.emplace_back("begin"); },
                           [&](std::string_view piece) { said.emplace_back(piece); }},
                          kChunked, split);
    ASSERT_TRUE(got.response) << split;
    EXPECT_EQ(got.response->body, "");
    ASSERT_FALSE(said.empty());
    EXPECT_EQ(said.front(), "begin");
    said.erase(said.begin());
    EXPECT_EQ(base::format("{}", base::join(said, "")), "abcde") << split;
  }
}

TEST(Answer, OfRefusalIsWholeAlsoWherePiecesAreWanted) {
  const auto never = [] { FAIL() << "it is not a success"; };
  const Read got = read({false, kLimit, never, [&](std::string_view) { never(); }},
                        "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_TRUE(got.response);
  EXPECT_EQ(got.response->status, 403);
  EXPECT_EQ(got.response->body, "no");
}

TEST(Answer, WithoutABodyIsCompleteAtOnce) {
  EXPECT_TRUE(read(whole(), "HTTP/1.1 204 No Content\r\n\r\n").response);
  EXPECT_TRUE(read(whole(), "HTTP/1.1 101 Switching Protocols\r\n\r\n").response);
  EXPECT_TRUE(read(whole(true), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").response);
  EXPECT_FALSE(read(whole(), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234").response);
}

TEST(Answer, OfUnknownLengthIsCompleteAtTheEndOnly) {
  AnswerReader unmeasured(whole());
  EXPECT_FALSE(*unmeasured.put("HTTP/1.1 200 OK\r\n\r\nabc"));
  EXPECT_TRUE(unmeasured.put_end());
  EXPECT_EQ(unmeasured.take().body, "abc");
  AnswerReader silent(whole());
  EXPECT_FALSE(silent.put_end());
  AnswerReader cut(whole());
  EXPECT_FALSE(*cut.put(kChunked.substr(0, kChunked.size() - 1)));
  EXPECT_FALSE(cut.put_end());
}

TEST(Answer, HasLimits) {
  const auto with = [](std::size_t length) {
    return base::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", length,
                        std::string(length, 'x'));
  };
  EXPECT_TRUE(read(whole(), with(kLimit)).response);
  const Read large = read(whole(), with(kLimit + 1));
  ASSERT_TRUE(large.error);
  EXPECT_EQ(large.error->code, Code::kResourceExhausted);
  EXPECT_THAT(large.error->message, HasSubstr("more than 1000 bytes"));
  const std::string announced = "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nx";
  ASSERT_TRUE(read(whole(), announced).error);
  EXPECT_EQ(read(whole(), announced).error->code, Code::kResourceExhausted);
  EXPECT_FALSE(read(whole(true), announced).error) << "it has no body";

  const std::string head = "HTTP/1.1 200 OK\r\nA: " + std::string(40'000, 'a');
  ASSERT_TRUE(read(whole(), head).error);
  EXPECT_EQ(read(whole(), head).error->code, Code::kResourceExhausted);
  const std::string chunk =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=" + std::string(70'000, 'a');
  ASSERT_TRUE(read(whole(), chunk).error);
  EXPECT_EQ(read(whole(), chunk).error->code, Code::kResourceExhausted);
}

TEST(Answer, ThatIsNoneIsAnError) {
  for (const std::string_view bytes :
       {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nq\r\n"}) {
    const Read got = read(whole(), bytes);
    ASSERT_TRUE(got.error) << bytes;
    EXPECT_EQ(got.error->code, Code::kInvalidArgument);
    EXPECT_THAT(got.error->message, HasSubstr("not understood"));
  }
}

}  // namespace
}  // namespace gangrun::net
