#include "net/fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "base/format.h"
#include "net/test_server_internal.h"

namespace gangrun::net {
namespace {

using base::Code;
using base::milliseconds;
using testing::HasSubstr;
using testing::Not;

FetchOptions options(base::Duration within = kTestLimit) {
  FetchOptions out;
  out.deadline = std::chrono::steady_clock::now() + within;
  return out;
}

// A plain server that answers with what it was asked.
struct PlainFixture {
  PlainFixture() : server(loop) {
    port = *server.listen_loopback(0);
    server.on_request([this](const HttpRequest& request, Responder responder) {
      seen = request;
      if (request.path == "/missing") return responder.answer({404, "text/plain", {}, "none"});
      responder.answer(text(request.path == "/large" ? large : request.body));
    });
  }

  [[nodiscard]] std::string url(const std::string& target) const {
    return base::format("http://127.0.0.1:{}{}", port, target);
  }

  base::Result<HttpResponse> ask(const FetchRequest& question, const FetchOptions& how) {
    base::Result<HttpResponse> answer = base::internal("not asked");
    run_beside(loop, [&] { answer = fetch(question, how); });
    return answer;
  }

  EventLoop loop;
  Server server;
  std::uint16_t port = 0;
  HttpRequest seen;
  std::string large = std::string(3'000'000, 'l');
};

// Answers one connection with `bytes`, then waits until the client has gone.
struct RawServer {
  explicit RawServer(std::string bytes) : socket(*ip_address("127.0.0.1", 0)) {
    thread = std::thread([this, answer = std::move(bytes)] {
      const base::UniqueFd fd(::accept(socket.fd.get(), nullptr, nullptr));
      EXPECT_EQ(::send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(answer.size()));
      char buffer[4096];
      while (::recv(fd.get(), buffer, sizeof buffer, 0) > 0) {
      }
    });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() { thread.join(); }

  [[nodiscard]] FetchRequest request() const {
    FetchRequest out;
    out.url = base::format("http://127.0.0.1:{}/x?delegation=secret", socket.port);
    return out;
  }

  DeafServer socket;
  std::thread thread;
};

struct FileOnDisk {
  explicit FileOnDisk(std::string_view content) {
    EXPECT_TRUE(base::write_private_file(path, content).ok());
    fd.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  }
  TestFolder folder;
  std::string path = folder / "file";
  base::UniqueFd fd;
};

TEST(Fetch, AnAnswerIsNotWaitedForWhenAllIsKnownToBeDone) {
  const RawServer server("");
  FetchOptions how = options();
  int looks = 0;
  how.is_done = [&looks] { return ++looks == 3; };
  const auto answer = fetch(server.request(), how);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 202);
  EXPECT_EQ(looks, 3);
}

TEST(Fetch, NobodyHasToWaitForIt) {
  const RawServer server("");
  FetchOptions how = options();
  int looks = 0;
  how.is_cancelled = [&looks] { return ++looks == 3; };
  const auto answer = fetch(server.request(), how);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kCancelled);
  EXPECT_EQ(looks, 3);
}

TEST(Fetch, WhatIsNeverDoneEndsWithTheDeadline) {
  const RawServer server("");
  FetchOptions how = options(milliseconds(50));
  how.is_done = [] { return false; };
  const auto answer = fetch(server.request(), how);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
}

TEST(Fetch, AnyCompleteAnswerIsAValue) {
  PlainFixture fixture;
  FetchRequest question{"POST", fixture.url("/a%20b?x=1"), {{"X-Own", "y"}}, "body", {}};
  const auto answer = fixture.ask(question, options());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "body");
  EXPECT_EQ(fixture.seen.path, "/a b");
  EXPECT_EQ(fixture.seen.query.at("x"), "1");
  EXPECT_EQ(fixture.seen.headers.get("x-own"), "y");
  EXPECT_EQ(fixture.seen.headers.get("host"), base::format("127.0.0.1:{}", fixture.port));
  question.url = fixture.url("/missing");
  const auto missing = fixture.ask(question, options());
  ASSERT_TRUE(missing.ok()) << missing.error().message;
  EXPECT_EQ(missing->status, 404);
  EXPECT_EQ(missing->body, "none");
}

TEST(Fetch, APartOfAFileIsSentAndItsProgressTold) {
  PlainFixture fixture;
  std::string content;
  for (int i = 0; i < 300'000; ++i) content += std::to_string(i % 10);
  const FileOnDisk file("skipped" + content + "not sent");
  FetchRequest question{"PUT", fixture.url("/f"), {}, {}, FileSlice{file.fd.get(), 7, 300'000}};
  FetchOptions how = options();
  std::vector<std::uint64_t> told;
  how.progress = [&](std::uint64_t sent) { told.push_back(sent); };
  const auto answer = fixture.ask(question, how);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, content);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 300'000U);
}

TEST(Fetch, AFileThatBecameShorterIsSaid) {
  PlainFixture fixture;
  const FileOnDisk file("short");
  const FetchRequest question{"PUT", fixture.url("/f"), {}, {}, FileSlice{file.fd.get(), 0, 6}};
  const auto answer = fixture.ask(question, options());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(answer.error().message, HasSubstr("it had 6 bytes, now it ends after 5"));
}

TEST(Fetch, ASinkGetsTheBodyInPieces) {
  PlainFixture fixture;
  FetchOptions how = options();
  std::string got;
  std::size_t largest = 0;
  how.sink = [&](std::string_view piece) -> base::Result<> {
    got += piece;
    largest = std::max(largest, piece.size());
    return {};
  };
  const auto answer = fixture.ask({"GET", fixture.url("/large"), {}, {}, {}}, how);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(got, fixture.large);
  EXPECT_LT(largest, 200'000U);
  // An answer that is no success goes to nobody's file.
  got.clear();
  const auto missing = fixture.ask({"GET", fixture.url("/missing"), {}, {}, {}}, how);
  EXPECT_EQ(missing->body, "none");
  EXPECT_EQ(got, "");
}

TEST(Fetch, AnErrorOfTheSinkEndsTheTransfer) {
  PlainFixture fixture;
  FetchOptions how = options();
  how.sink = [](std::string_view) -> base::Result<> { return base::not_found("no room"); };
  const auto answer = fixture.ask({"GET", fixture.url("/large"), {}, {}, {}}, how);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kNotFound);
  EXPECT_THAT(answer.error().message, HasSubstr("GET http://127.0.0.1"));
}

TEST(Fetch, AnAnswerHasALimitWithAndWithoutASink) {
  PlainFixture fixture;
  FetchOptions how = options();
  how.max_response_bytes = 2'999'999;
  const FetchRequest question{"GET", fixture.url("/large"), {}, {}, {}};
  EXPECT_EQ(fixture.ask(question, how).error().code, Code::kResourceExhausted);
  how.sink = [](std::string_view) -> base::Result<> { return {}; };
  EXPECT_EQ(fixture.ask(question, how).error().code, Code::kResourceExhausted);
  how.max_response_bytes = 3'000'000;
  EXPECT_TRUE(fixture.ask(question, how).ok());
}

TEST(Fetch, ChunkedAndUnmeasuredBodiesAreUnderstood) {
  const RawServer chunked(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  FetchOptions how = options();
  std::string got;
  how.sink = [&](std::string_view piece) -> base::Result<> {
    got += piece;
    return {};
  };
  ASSERT_TRUE(fetch(chunked.request(), how).ok());
  EXPECT_EQ(got, "abcde");
}

TEST(Fetch, AnAnswerBeforeAllWasSentIsTheAnswer) {
  const RawServer full("HTTP/1.1 507 Full\r\nContent-Length: 4\r\n\r\nfull");
  const FileOnDisk file(std::string(30'000'000, 'f'));
  FetchRequest question = full.request();
  question.method = "PUT";
  question.file = FileSlice{file.fd.get(), 0, 30'000'000};
  const auto answer = fetch(question, options());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 507);
  EXPECT_EQ(answer->body, "full");
}

TEST(Fetch, ABrokenAnswerIsAnErrorWithoutTheQuery) {
  for (const std::string bytes :
       {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"}) {
    const RawServer liar(bytes);
    const auto answer = fetch(liar.request(), options());
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().message, HasSubstr("not understood"));
    EXPECT_THAT(answer.error().message, Not(HasSubstr("secret")));
  }
}

TEST(Fetch, WhoDoesNotAnswerIsWaitedForUntilTheDeadline) {
  const RawServer half("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha");
  const auto answer = fetch(half.request(), options(milliseconds(50)));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(answer.error().message, HasSubstr("GET http://127.0.0.1"));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("secret")));
}

TEST(Fetch, WhereNothingMovesTheWaitEndsEarlier) {
  const RawServer half("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha");
  FetchOptions how = options();
  how.idle_limit = milliseconds(50);
  const auto answer = fetch(half.request(), how);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(answer.error().message, HasSubstr("nothing has moved for 50 ms"));
}

TEST(Fetch, NobodyThereIsUnavailable) {
  std::uint16_t port = 0;
  {
    const DeafServer gone(*ip_address("127.0.0.1", 0));
    port = gone.port;
  }
  const auto answer =
      fetch({"GET", base::format("http://127.0.0.1:{}/", port), {}, {}, {}}, options());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  const auto nowhere = fetch({"GET", "http://no.such.invalid/", {}, {}, {}}, options());
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Code::kUnavailable);
  EXPECT_THAT(nowhere.error().message, HasSubstr("no.such.invalid"));
}

TEST(Fetch, WhatCannotBeAskedIsRefused) {
  EXPECT_EQ(fetch({"GET", "ftp://h/", {}, {}, {}}, options()).error().code, Code::kInvalidArgument);
  EXPECT_EQ(fetch({"G T", "http://127.0.0.1:1/", {}, {}, {}}, options()).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(fetch({"GET", "http://127.0.0.1:1/", {{"A", "b\n"}}, {}, {}}, options()).error().code,
            Code::kInvalidArgument);
}

// A server on TLS whose certificate is for "localhost", and the file that vouches for it.
struct VouchedFixture {
  VouchedFixture() : server(loop) {
    port = *server.listen_tls("127.0.0.1", 0, certificate);
    server.on_request([](const HttpRequest&, Responder responder) { responder.answer(text("x")); });
    EXPECT_TRUE(base::write_private_file(authorities, certificate.certificate_pem).ok());
  }

  base::Result<HttpResponse> ask(const std::string& host, const std::string& file) {
    base::Result<HttpResponse> answer = base::internal("not asked");
    run_beside(loop, [&] {
      FetchOptions how = options();
      how.authorities_file = file;
      answer = fetch({"GET", base::format("https://{}:{}/", host, port), {}, {}, {}}, how);
    });
    return answer;
  }

  TestFolder folder;
  std::string authorities = folder / "authorities.pem";
  JobCertificate certificate = *make_job_certificate("localhost", std::chrono::hours(1));
  EventLoop loop;
  Server server;
  std::uint16_t port = 0;
};

TEST(Fetch, OverTlsSomebodyVouchesForTheServer) {
  VouchedFixture fixture;
  const auto answer = fixture.ask("localhost", fixture.authorities);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "x");
}

TEST(Fetch, OverTlsTheNameMustBeTheServers) {
  VouchedFixture fixture;
  const auto answer = fixture.ask("127.0.0.1", fixture.authorities);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnauthenticated);
  EXPECT_THAT(answer.error().message, HasSubstr("mismatch"));
}

TEST(Fetch, OverTlsAStrangerIsRefused) {
  VouchedFixture fixture;
  const auto answer = fixture.ask("localhost", "");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnauthenticated);
  EXPECT_THAT(answer.error().message, HasSubstr("self-signed certificate"));
  const auto none = fixture.ask("localhost", fixture.folder / "absent.pem");
  EXPECT_EQ(none.error().code, Code::kInvalidArgument);
  EXPECT_THAT(none.error().message, HasSubstr("absent.pem"));
}

}  // namespace
}  // namespace gangrun::net
