#include "net/asio_internal.h"
//
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ssl/error.hpp>
#include <optional>
#include <string>

#include "net/event_loop_internal.h"
#include "net/test_support_internal.h"
#include "net/tls_internal.h"
#include "net/tls_socket_internal.h"

namespace gangrun::net {
namespace {

constexpr int kSmallBuffer = 4096;

// One end of a connection, with what has become of its last operation.
struct End {
  End(EventLoop& loop, int fd, std::shared_ptr<asio::ssl::context> chosen)
      : socket(context_of(loop), asio::generic::stream_protocol(AF_UNIX, 0), fd),
        context(std::move(chosen)),
        tls(socket, *context) {
    EXPECT_EQ(::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSmallBuffer, sizeof kSmallBuffer), 0);
  }

  IoHandler keep() {
    error.reset();
    return IoHandler([this](const ErrorCode& found, std::size_t bytes) {
      error = found;
      size = bytes;
    });
  }

  Stream::Socket socket;
  std::shared_ptr<asio::ssl::context> context;
  TlsSocket tls;
  std::optional<ErrorCode> error;
  std::size_t size = 0;
};

struct TlsSocketFixture {
  TlsSocketFixture() {
    const auto certificate = make_job_certificate("job", std::chrono::hours(1));
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    server.emplace(loop, ends[0], *server_tls(*certificate));
    client.emplace(loop, ends[1], *client_tls());
  }

  bool shake_hands() {
    server->tls.handshake(Stream::Role::kServer, {}, server->keep());
    client->tls.handshake(Stream::Role::kClient, {}, client->keep());
    return run_until_ended(*server) && run_until_ended(*client) && !*server->error &&
           !*client->error;
  }

  bool run_until_ended(const End& end) {
    return loop.run_until([&] { return end.error.has_value(); }, test_deadline());
  }

  EventLoop loop;
  std::optional<End> server, client;
};

std::string numbered(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>(at * 31 / 7);
  return text;
}

WritePieces pieces_of(std::initializer_list<std::string_view> texts) {
  WritePieces pieces;
  for (const std::string_view text : texts) pieces.pieces[pieces.count++] = asio::buffer(text);
  return pieces;
}

// Sends all of a text, as often as it takes.
struct Sender {
  void go_on() {
    if (sent == text.size()) return;
    const std::string_view rest = std::string_view(text).substr(sent);
    end.tls.write_some(pieces_of({rest}), {},
                       IoHandler([this](const ErrorCode& error, std::size_t size) {
                         ASSERT_FALSE(error) << error.message();
                         sent += size;
                         go_on();
                       }));
  }
  End& end;
  std::string text;
  std::size_t sent = 0;
};

// Reads until so much has come.
struct Reader {
  void go_on() {
    if (got.size() == wanted) return;
    end.tls.read_some(asio::buffer(buffer), {},
                      IoHandler([this](const ErrorCode& error, std::size_t size) {
                        ASSERT_FALSE(error) << error.message();
                        got.append(buffer.data(), size);
                        go_on();
                      }));
  }
  End& end;
  std::size_t wanted;
  std::array<char, 3000> buffer{};
  std::string got{};
};

TEST(TlsSocket, CarriesBothWaysAtOnceMoreThanTheKernelHolds) {
  TlsSocketFixture fixture;
  ASSERT_TRUE(fixture.shake_hands());
  Sender question{*fixture.client, numbered(300'000)};
  Sender answer{*fixture.server, numbered(200'001)};
  Reader questions{*fixture.server, question.text.size()};
  Reader answers{*fixture.client, answer.text.size()};
  question.go_on();
  answer.go_on();
  EXPECT_EQ(question.sent, 0U) << "told by the loop only";
  questions.go_on();
  answers.go_on();
  ASSERT_TRUE(fixture.loop.run_until(
      [&] {
        return questions.got.size() == questions.wanted && answers.got.size() == answers.wanted;
      },
      test_deadline()));
  EXPECT_EQ(questions.got, question.text);
  EXPECT_EQ(answers.got, answer.text);
}

TEST(TlsSocket, ShortPiecesAreOneRecordAndALongFirstPieceIsNotCopied) {
  TlsSocketFixture fixture;
  ASSERT_TRUE(fixture.shake_hands());
  std::array<char, 64> target{};
  fixture.client->tls.write_some(pieces_of({"head ", "body"}), {}, fixture.client->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.client));
  EXPECT_EQ(fixture.client->size, 9U);
  fixture.server->tls.read_some(asio::buffer(target), {}, fixture.server->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.server));
  EXPECT_EQ(std::string_view(target.data(), fixture.server->size), "head body");

  const std::string long_one(9000, 'l');
  Reader reader{*fixture.server, long_one.size()};
  reader.go_on();
  fixture.client->tls.write_some(pieces_of({long_one, "next"}), {}, fixture.client->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.client));
  EXPECT_EQ(fixture.client->size, long_one.size());
  ASSERT_TRUE(
      fixture.loop.run_until([&] { return reader.got.size() == reader.wanted; }, test_deadline()));
}

TEST(TlsSocket, NothingToReadOrToWriteIsDoneAtOnce) {
  TlsSocketFixture fixture;
  ASSERT_TRUE(fixture.shake_hands());
  fixture.client->tls.read_some({}, {}, fixture.client->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.client));
  EXPECT_FALSE(*fixture.client->error);
  fixture.client->tls.write_some({}, {}, fixture.client->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.client));
  EXPECT_FALSE(*fixture.client->error);
}

TEST(TlsSocket, AnEndWithAFarewellIsToldFromOneWithout) {
  for (const bool farewell : {true, false}) {
    TlsSocketFixture fixture;
    ASSERT_TRUE(fixture.shake_hands());
    if (farewell) {
      EXPECT_GE(SSL_shutdown(fixture.client->tls.native()), 0);
    }
    std::array<char, 8> target{};
    fixture.server->tls.read_some(asio::buffer(target), {}, fixture.server->keep());
    fixture.client.reset();
    ASSERT_TRUE(fixture.run_until_ended(*fixture.server));
    const ErrorCode expected =
        farewell ? ErrorCode(asio::error::eof) : ErrorCode(asio::ssl::error::stream_truncated);
    EXPECT_EQ(*fixture.server->error, expected);
  }
}

TEST(TlsSocket, AWriteToAClosedConnectionIsAnErrorAndNoSignal) {
  TlsSocketFixture fixture;
  ASSERT_TRUE(fixture.shake_hands());
  fixture.client.reset();
  fixture.server->tls.write_some(pieces_of({"any"}), {}, fixture.server->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.server));
  EXPECT_EQ(*fixture.server->error, ErrorCode(EPIPE, boost::system::system_category()));
}

TEST(TlsSocket, ClosingEndsAReadAndItsOwnerIsLetGo) {
  TlsSocketFixture fixture;
  ASSERT_TRUE(fixture.shake_hands());
  std::array<char, 8> target{};
  const auto owner = std::make_shared<int>(1);
  fixture.server->tls.read_some(asio::buffer(target), owner, fixture.server->keep());
  EXPECT_EQ(owner.use_count(), 2);
  fixture.server->socket.close();
  EXPECT_FALSE(fixture.server->error.has_value()) << "told by the loop only";
  ASSERT_TRUE(fixture.run_until_ended(*fixture.server));
  EXPECT_EQ(*fixture.server->error, asio::error::operation_aborted);
  EXPECT_EQ(owner.use_count(), 1);
  fixture.server->tls.read_some(asio::buffer(target), {}, fixture.server->keep());
  ASSERT_TRUE(fixture.run_until_ended(*fixture.server));
  EXPECT_EQ(*fixture.server->error, ErrorCode(EBADF, boost::system::system_category()));
}

TEST(TlsSocket, WhoSpeaksNoTlsIsRefused) {
  TlsSocketFixture fixture;
  fixture.server->tls.handshake(Stream::Role::kServer, {}, fixture.server->keep());
  const std::string_view plain = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(fixture.client->socket.native_handle(), plain.data(), plain.size(), 0),
            static_cast<ssize_t>(plain.size()));
  ASSERT_TRUE(fixture.run_until_ended(*fixture.server));
  EXPECT_EQ(fixture.server->error->category(), asio::error::get_ssl_category());
}

}  // namespace
}  // namespace gangrun::net
