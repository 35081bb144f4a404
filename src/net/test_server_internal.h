#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "net/certificate.h"
#include "net/client.h"
#include "net/server.h"
#include "net/test_support_internal.h"

namespace gangrun::net {

inline HttpResponse text(std::string body) { return {200, "text/plain", {}, std::move(body)}; }

// A server on a Unix socket in a folder of its own.
struct ServerFixture {
  explicit ServerFixture(const ServerOptions& options = {}) : server(loop, options) {
    const auto listening = server.listen_unix(path);
    EXPECT_TRUE(listening.ok()) << listening.error().message;
    server.on_request([](HttpRequest request, Responder responder) {
      responder.answer(text(request.method + " " + request.path + " " + request.body));
    });
  }

  // The answer that a client reads after it has written `bytes`.
  std::string raw(const std::string& bytes) {
    std::string answer;
    run_beside(loop, [&] {
      RawClient client(*unix_address(path));
      client.write(bytes);
      answer = client.read_until();
    });
    return answer;
  }

  base::Result<HttpResponse> ask(const HttpRequest& question) {
    base::Result<HttpResponse> answer = base::internal("not asked");
    run_beside(loop, [&] { answer = request(Endpoint::on_unix(path), question, test_deadline()); });
    return answer;
  }

  // Lets the loop go on until nothing but the server is left.
  bool settle() {
    return loop.run_until([&] { return server.connections() == 0; }, test_deadline());
  }

  TestFolder folder;
  std::string path = folder / "socket";
  EventLoop loop;
  Server server;
};

using ChannelResult = base::Result<std::unique_ptr<Channel>>;

// A server on TLS that answers and echoes.
struct TlsFixture {
  TlsFixture() {
    auto listening = server.listen_tls("127.0.0.1", 0, certificate);
    EXPECT_TRUE(listening.ok()) << listening.error().message;
    port = *listening;
    server.on_request([this](const HttpRequest& request, Responder responder) {
      peer = request.peer;
      responder.answer({200, "text/plain", {}, "hello " + request.body});
    });
    server.on_channel([this](const HttpRequest&, std::unique_ptr<Channel> channel) {
      echo = std::move(channel);
      echo->on_message([this](std::string_view text) { echo->send(std::string(text)); });
    });
  }

  [[nodiscard]] Endpoint endpoint(const std::string& host = "127.0.0.1") const {
    return Endpoint::on_tls(host, port, certificate.fingerprint);
  }

  ChannelResult connect(const Endpoint& to, base::Duration within = kTestLimit) {
    std::optional<ChannelResult> result;
    const Call connecting =
        connect_channel(loop, to, "/c", {}, loop.now() + within,
                        [&](ChannelResult channel) { result.emplace(std::move(channel)); });
    EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
    return std::move(*result);
  }

  EventLoop loop;
  JobCertificate certificate = *make_job_certificate("job", std::chrono::hours(1));
  std::uint16_t port = 0;
  std::unique_ptr<Channel> echo;
  Server server{loop};
  Peer peer;
};

// A socket that listens and never accepts.
struct DeafServer {
  explicit DeafServer(const SocketAddress& address)
      : fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::bind(fd.get(), address.get(), address.size), 0);
    EXPECT_EQ(::listen(fd.get(), 0), 0);
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    if (address.family() != AF_UNIX) port = port_of(own);
  }
  base::UniqueFd fd;
  std::uint16_t port = 0;
};

}  // namespace gangrun::net
