#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/unique_fd.h"
#include "kubernetes/link_frames.h"
#include "kubernetes/proof.h"
#include "net/event_loop.h"

// For tests.
namespace gangrun::kubernetes::node {

// A port of this machine that nobody has.
inline std::uint16_t free_port() {
  const base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd.get(), any, size), 0);
  EXPECT_EQ(::getsockname(fd.get(), any, &size), 0);
  return ntohs(address.sin_port);
}

// A connection to a port of this machine, as a socket that does not block.
inline base::UniqueFd connected_to(std::uint16_t port) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// The client's end of a stream to a door, with the proof done as soon as it can be.
class TestClient {
 public:
  TestClient(net::EventLoop& loop, std::uint16_t port, const base::Secret& secret,
             std::string_view greeting)
      : socket(connected_to(port)), proof_(secret, greeting, Proof::Side::kClient) {
    readable_ = loop.watch_readable(socket.get(), [this] { read(); });
  }

  void send(const LinkFrame& frame) const { write(to_bytes(frame)); }
  [[nodiscard]] bool is_proven() const { return proof_.is_done(); }

  base::UniqueFd socket;
  std::vector<std::string> frames;  // as they came
  bool is_closed = false;

 private:
  void write(const std::string& bytes) const {
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  void read() {
    char buffer[4096];
    const ssize_t size = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size <= 0) {
      is_closed = true;
      return readable_.reset();
    }
    const std::string_view bytes(buffer, static_cast<std::size_t>(size));
    if (proof_.is_done()) return take(bytes);
    const auto out = proof_.take(bytes);
    if (!out.ok()) return readable_.reset();
    if (!out->empty()) write(*out);
    if (proof_.is_done()) take(proof_.rest());
  }
  void take(std::string_view bytes) {
    reader_.add(bytes);
    for (auto frame = reader_.next(); frame.ok() && *frame; frame = reader_.next()) {
      frames.push_back(to_bytes(**frame));
    }
  }

  Proof proof_;
  LinkReader reader_;
  net::Watch readable_;
};

}  // namespace gangrun::kubernetes::node
