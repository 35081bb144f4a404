#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "hadoop/rpc_frames.h"
#include "net/frames.h"

// The servers that the tests of connections talk to: a real socket, and a script in place of a
// daemon.
namespace gangrun::hadoop {

inline constexpr int kPatienceMilliseconds = 10'000;

// One accepted connection, in the script's thread.
class TestPeer {
 public:
  explicit TestPeer(base::UniqueFd fd) : fd_(std::move(fd)) {}

  // Exactly `count` bytes, fewer where the other side closes or says nothing for too long.
  std::string take(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) {
      pollfd entry{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&entry, 1, kPatienceMilliseconds) != 1) break;
      std::string piece(count - bytes.size(), '\0');
      const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
      if (got <= 0) break;
      bytes.append(piece, 0, static_cast<std::size_t>(got));
    }
    return bytes;
  }
  // The content of a frame.
  std::string take_frame() {
    std::size_t length = 0;
    for (const char byte : take(4)) length = length << 8U | static_cast<unsigned char>(byte);
    return take(length);
  }
  void give(const std::string& bytes) {
    // The other side may have closed: then the test sees it there.
    (void)::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  base::UniqueFd fd_;
};

// Runs `script` for each connection, one after the other, in a thread that ends with the object.
class TestServer {
 public:
  using Script = std::function<void(TestPeer&)>;

  explicit TestServer(Script script) : script_(std::move(script)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const native = reinterpret_cast<sockaddr*>(&address);
    ::bind(listener_.get(), native, size);
    ::listen(listener_.get(), 8);
    ::getsockname(listener_.get(), native, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept()
    thread_.join();
  }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void serve() {
    while (true) {
      base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) return;
      ++connections_;
      TestPeer peer(std::move(fd));
      script_(peer);
    }
  }

  Script script_;
  base::UniqueFd listener_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

inline std::string varint(std::uint64_t number) {
  std::string out;
  for (; number > 127; number >>= 7U) out += static_cast<char>((number & 127U) | 128U);
  return out + static_cast<char>(number);
}

inline std::string delimited(const std::string& bytes) { return varint(bytes.size()) + bytes; }

// callId and status of RpcResponseHeaderProto.
inline std::string response_header(std::int32_t call_id, RpcResponse::Status status) {
  return "\x08" + varint(static_cast<std::uint32_t>(call_id)) + "\x10" + static_cast<char>(status);
}

inline std::string success_frame(std::int32_t call_id, const std::string& body) {
  return net::framed(delimited(response_header(call_id, RpcResponse::Status::kSuccess)) +
                     delimited(body));
}

inline std::string error_frame(std::int32_t call_id, RpcResponse::Status status,
                               const std::string& name, const std::string& text) {
  return net::framed(delimited(response_header(call_id, status) + "\x22" + delimited(name) +
                               "\x2a" + delimited(text)));
}

// A SASL message as a server sends it: a client's, with a server's header in place of its own.
inline std::string sasl_frame(const SaslMessage& message) {
  const std::string as_client = encode_sasl(message);
  const std::size_t header_length = static_cast<unsigned char>(as_client[4]);
  return net::framed(delimited(response_header(kSaslCallId, RpcResponse::Status::kSuccess)) +
                     as_client.substr(5 + header_length));
}

}  // namespace gangrun::hadoop
