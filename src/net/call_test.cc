#include "net/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "net/test_calls_internal.h"

namespace gangrun::net {
namespace {

using base::Code;
using base::milliseconds;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

// Answers every connection with `bytes` and ends it.
TestPeer::Script saying(std::string bytes) {
  return [said = std::move(bytes)](TestTalk& talk) {
    talk.read_head();
    talk.write(said);
  };
}

TestPeer::Script saying_and_waiting(std::string bytes) {
  return [said = std::move(bytes)](TestTalk& talk) {
    talk.read_head();
    talk.write(said);
    EXPECT_TRUE(talk.ends());
  };
}

TEST(Call, AnyCompleteAnswerIsAValue) {
  std::string asked;
  const TestPeer peer([&asked](TestTalk& talk) {
    asked = talk.read_until("body");
    talk.write(
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nnone");
  });
  CallLoop calls;
  const auto answer = calls.ask(plain_remote(peer),
                                {"PATCH", "/a%20b?x=1", {{"Authorization", "Bearer t"}}, "body"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->content_type, "text/plain");
  EXPECT_EQ(answer->body, "none");
  EXPECT_EQ(asked, base::format("PATCH /a%20b?x=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                                "Connection: close\r\nContent-Length: 4\r\n"
                                "Authorization: Bearer t\r\n\r\nbody",
                                peer.port()));
}

TEST(Call, LargeBodiesGoBothWays) {
  const std::string large(3'000'000, 'l');
  const TestPeer peer([&large](TestTalk& talk) {
    talk.read_until("END");
    talk.write(base::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", large.size()));
    talk.write(large);
  });
  CallLoop calls;
  const auto answer = calls.ask(plain_remote(peer), {"POST", "/", {}, large + "END"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, large);
  CallOptions options = call_options();
  options.max_response_bytes = large.size() - 1;
  const auto too_large = calls.ask(plain_remote(peer), {"POST", "/", {}, "END"}, options);
  ASSERT_FALSE(too_large.ok());
  EXPECT_EQ(too_large.error().code, Code::kResourceExhausted);
}

TEST(Call, AnAnswerBeforeAllWasSentIsTheAnswer) {
  const TestPeer peer([](TestTalk& talk) {
    talk.read_head();
    talk.write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    talk.read_until("what never comes");
  });
  CallLoop calls;
  const auto answer = calls.ask(plain_remote(peer), {"POST", "/", {}, std::string(1 << 24, 'x')});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST(Call, AnAnswerThatEndsEarlyIsUnavailable) {
  for (const std::string bytes :
       {"", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha"}) {
    const TestPeer peer(saying(bytes));
    CallLoop calls;
    const auto answer = calls.ask(plain_remote(peer), {"GET", "/a?token=hidden", {}, {}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Code::kUnavailable);
    EXPECT_THAT(answer.error().message,
                HasSubstr(base::format("GET 127.0.0.1:{}/a: ", peer.port())));
    EXPECT_THAT(answer.error().message, Not(HasSubstr("hidden")));
  }
}

TEST(Call, ItsBodyTooHasToComeBeforeTheDeadline) {
  for (const std::string bytes : {"", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha"}) {
    const TestPeer peer(saying_and_waiting(bytes));
    CallLoop calls;
    const auto remote = plain_remote(peer);
    const auto answer = calls.ask(remote, {}, call_options(milliseconds(30)));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
    EXPECT_THAT(answer.error().message, HasSubstr("gave up waiting for the answer"));
  }
}

TEST(Call, WhatCannotBeAskedIsRefused) {
  const TestPeer peer(saying(""));
  CallLoop calls;
  for (const CallRequest& request :
       {CallRequest{"G T", "/", {}, {}}, CallRequest{"GET", "a", {}, {}},
        CallRequest{"GET", "/a b", {}, {}}, CallRequest{"GET", "/\r\nA:", {}, {}},
        CallRequest{"GET", "/", {{"A", "b\n"}}, {}}}) {
    const auto answer = calls.ask(plain_remote(peer), request);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, Code::kInvalidArgument);
  }
}

TEST(Call, IsEndedByItsDestruction) {
  const TestPeer peer(saying_and_waiting(""));
  EventLoop loop;
  bool posted = false;
  {
    Call call = net::call(loop, plain_remote(peer), {}, call_options(),
                          [](const CallResult&) { FAIL() << "nobody wants to know"; });
    EXPECT_TRUE(call.active());
    loop.run_until([] { return false; }, loop.now() + milliseconds(20));
    call.reset();
    EXPECT_FALSE(call.active());
  }
  loop.post([&posted] { posted = true; });
  EXPECT_TRUE(loop.run_until([&] { return posted; }, test_deadline()));
}

TEST(Call, ItsCallbackMayDestroyItAndBeginAnother) {
  const TestPeer peer(saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  EventLoop loop;
  const auto remote = plain_remote(peer);
  int answers = 0;
  Call current;
  std::function<void(CallResult)> on_done = [&](const CallResult& answer) {
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    if (++answers < 3) current = call(loop, remote, {}, call_options(), on_done);
    if (answers == 3) current.reset();
  };
  current = call(loop, remote, {}, call_options(), on_done);
  EXPECT_TRUE(loop.run_until([&] { return answers == 3; }, test_deadline()));
}

TEST(Stream, ComesInPieces) {
  const TestPeer peer(
      saying(std::string(kChunkedHead) + "2\r\n1\n\r\n2\r\n2\n\r\n2\r\n3\n\r\n0\r\n\r\n"));
  CallLoop calls;
  const auto answer = calls.listen(plain_remote(peer), call_options());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(calls.said, "<1\n2\n3\n");
}

TEST(Stream, GoesOnAfterTheDeadlineOfItsHead) {
  EventLoop loop;
  const CallOptions options = call_options(milliseconds(300));
  std::atomic<bool> goes_on = false;
  const TestPeer peer([&goes_on](TestTalk& talk) {
    talk.read_head();
    talk.write(std::string(kChunkedHead) + "1\r\na\r\n");
    goes_on.wait(false);
    talk.write("1\r\nb\r\n");
    EXPECT_TRUE(talk.ends());
  });
  std::string said;
  StreamCallbacks callbacks;
  callbacks.on_piece = [&said](std::string_view piece) { said += piece; };
  callbacks.on_end = [](const CallResult&) { FAIL() << "it goes on"; };
  const Call call = stream(loop, plain_remote(peer), {}, options, std::move(callbacks));
  loop.run_until([] { return false; }, options.deadline + milliseconds(1));
  goes_on = true;
  goes_on.notify_one();
  EXPECT_TRUE(loop.run_until([&] { return said == "ab"; }, test_deadline()));
}

TEST(Stream, ThatGoesSilentIsGivenUp) {
  const TestPeer peer(saying_and_waiting(std::string(kChunkedHead) + "1\r\na\r\n"));
  CallLoop calls;
  CallOptions options = call_options();
  options.idle_limit = milliseconds(30);
  const auto answer = calls.listen(plain_remote(peer), options);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(answer.error().message, HasSubstr("nothing has come for 30 ms"));
  EXPECT_EQ(calls.said, "<a");
}

TEST(Stream, WithoutAHeadIsGivenUpAtTheDeadline) {
  const TestPeer peer(saying_and_waiting(""));
  CallLoop calls;
  const auto remote = plain_remote(peer);
  const auto answer = calls.listen(remote, call_options(milliseconds(30)));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(calls.said, "");
}

TEST(Stream, ThatEndsEarlyIsUnavailable) {
  const TestPeer peer(saying(std::string(kChunkedHead) + "5\r\nab"));
  CallLoop calls;
  const auto answer = calls.listen(plain_remote(peer), call_options());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_EQ(calls.said, "<ab");
}

TEST(Stream, ThatIsRefusedSaysSoWhole) {
  const TestPeer peer(saying("HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone"));
  CallLoop calls;
  const auto answer = calls.listen(plain_remote(peer), call_options());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 410);
  EXPECT_EQ(answer->body, "gone");
  EXPECT_EQ(calls.said, "");
  CallOptions options = call_options();
  options.max_response_bytes = 3;
  const auto too_large = calls.listen(plain_remote(peer), options);
  ASSERT_FALSE(too_large.ok());
  EXPECT_EQ(too_large.error().code, Code::kResourceExhausted);
}

TEST(Stream, AnyCallbackMayDestroyIt) {
  const TestPeer peer(saying(std::string(kChunkedHead) + "1\r\na\r\n1\r\nb\r\n0\r\n\r\n"));
  EventLoop loop;
  const auto remote = plain_remote(peer);
  for (const std::string last : {">", "<", "a", "b", "."}) {
    std::string said;
    Call call;
    const auto say = [&said, &call, last](std::string_view what) {
      said += what;
      if (what == last) call.reset();
    };
    StreamCallbacks callbacks;
    callbacks.on_sent = [say] { say(">"); };
    callbacks.on_begin = [say] { say("<"); };
    callbacks.on_piece = [say](std::string_view piece) { say(piece); };
    callbacks.on_end = [say](const CallResult&) { say("."); };
    call = stream(loop, remote, {}, call_options(), std::move(callbacks));
    EXPECT_TRUE(loop.run_until([&] { return !call.active(); }, test_deadline()));
    bool later = false;
    loop.post([&later] { later = true; });
    EXPECT_TRUE(loop.run_until([&] { return later; }, test_deadline()));
    EXPECT_EQ(said, std::string("><ab.").substr(0, said.size()));
    EXPECT_EQ(said.substr(said.size() - 1), last);
  }
}

TEST(Stream, OverTlsComesInPieces) {
  const TestAuthority authority;
  const TestPeer peer(
      [](TestTalk& talk) {
        talk.read_head();
        talk.write(kChunkedHead);
        for (int i = 0; i < 1000; ++i)
          talk.write(base::format("64\r\n{}\r\n", std::string(100, 'x')));
        talk.write("0\r\n\r\n");
      },
      TestTls{authority.issue("server", "IP:127.0.0.1")});
  RemoteOptions options;
  options.url = base::format("https://127.0.0.1:{}", peer.port());
  options.authorities_pem = authority.certificate_pem();
  CallLoop calls;
  const auto answer = calls.listen(remote_of(options), call_options());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(calls.said, "<" + std::string(100'000, 'x'));
}

}  // namespace
}  // namespace gangrun::net
