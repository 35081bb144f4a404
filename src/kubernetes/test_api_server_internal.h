#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/test_websocket.h"

namespace gangrun::kubernetes {

inline constexpr base::Duration kTestLimit = base::seconds(20);

// One connection to a TestApiServer, with its one request.
class TestTalk {
 public:
  TestTalk(net::EventLoop& loop, base::UniqueFd fd, std::function<void(TestTalk&)> on_request)
      : fd_(std::move(fd)), on_request_(std::move(on_request)) {
    readable_ = loop.watch_readable(fd_.get(), [this] { read(); });
  }

  std::string method;
  std::string path;
  std::map<std::string, std::string> query;
  std::string target;  // as it came
  std::string head;
  std::string body;
  std::vector<std::string> messages;  // on a WebSocket

  // The value of a header field; empty: there is none.
  [[nodiscard]] std::string field(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

  void write(std::string_view text) const {
    ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  void answer(int status, const std::string& text, const std::string& fields = "") {
    write(base::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n{}", status, text.size(),
                       fields, text));
    close();
  }
  void answer(const base::Json& json) { answer(200, json.dump()); }
  void refuse(int status, const std::string& reason, const std::string& message,
              const std::string& fields = "") {
    const base::Json object = {{"kind", "Status"},
                               {"status", "Failure"},
                               {"message", message},
                               {"reason", reason},
                               {"code", status}};
    answer(status, object.dump(), fields);
  }
  void begin() const { write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
  void piece(const std::string& text) const {
    write(base::format("{:x}\r\n{}\r\n", text.size(), text));
  }
  void end() {
    write("0\r\n\r\n");
    close();
  }
  void close() {
    readable_.reset();
    fd_.reset();
  }
  [[nodiscard]] bool is_open() const { return fd_.get() >= 0; }

  void accept_channel(const std::string& subprotocol) {
    write(net::websocket_consent(head, subprotocol));
    is_channel_ = true;
  }
  // A binary message of less than 64 KiB.
  void message(const std::string& bytes) const {
    std::string out = "\x82\x7e";
    out += static_cast<char>(bytes.size() >> 8U);
    out += static_cast<char>(bytes.size() & 255U);
    if (bytes.size() < 126) out = {'\x82', static_cast<char>(bytes.size())};
    write(out + bytes);
  }

 private:
  void read() {
    char buffer[4096];
    const ssize_t size = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size <= 0) return close();
    read_.append(buffer, static_cast<std::size_t>(size));
    if (is_channel_) return read_messages();
    const std::size_t end = read_.find("\r\n\r\n");
    if (end == std::string::npos || !head.empty()) return;
    const std::size_t at = read_.find("Content-Length: ");
    const std::size_t length =
        at < end ? static_cast<std::size_t>(std::stoul(read_.substr(at + 16))) : 0;
    if (read_.size() < end + 4 + length) return;
    head = read_.substr(0, end + 2);
    body = read_.substr(end + 4);
    read_.clear();
    const auto words = base::split(head.substr(0, head.find('\r')), ' ');
    method = words[0];
    target = words[1];
    const auto parsed = net::parse_target(target);
    ASSERT_TRUE(parsed.ok()) << target;
    path = parsed->path;
    query = parsed->query;
    on_request_(*this);
  }

  void read_messages() {
    while (read_.size() >= 6) {
      const auto byte = [this](std::size_t i) { return static_cast<unsigned char>(read_[i]); };
      const std::size_t small = byte(1) & 127U;
      const std::size_t header = small == 126 ? 4 : 2;
      if (read_.size() < header + 4) return;
      const std::size_t size = small == 126 ? byte(2) * 256U + byte(3) : small;
      if (read_.size() < header + 4 + size) return;
      std::string text = read_.substr(header + 4, size);
      for (std::size_t i = 0; i < size; ++i) text[i] ^= read_[header + i % 4];
      if ((byte(0) & 15U) == 2) messages.push_back(std::move(text));
      read_.erase(0, header + 4 + size);
    }
  }

  base::UniqueFd fd_;
  const std::function<void(TestTalk&)> on_request_;
  std::string read_;
  bool is_channel_ = false;
  net::Watch readable_;
};

// A server on 127.0.0.1 in the test's own loop, and a client of it. `on_request` gets one request
// after the other; its connection stays until the end of the test.
class TestApiServer {
 public:
  TestApiServer() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listening_.get(), any, size), 0);
    EXPECT_EQ(::listen(listening_.get(), 100), 0);
    EXPECT_EQ(::getsockname(listening_.get(), any, &size), 0);
    access.remote.url = base::format("http://127.0.0.1:{}", ntohs(address.sin_port));
    access.source = "the test";
    accepting_ = loop.watch_readable(listening_.get(), [this] {
      base::UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      talks.push_back(std::make_unique<TestTalk>(loop, std::move(fd), [this](TestTalk& talk) {
        ++requests;
        on_request(talk);
      }));
    });
  }

  Client& client() {
    if (client_ == nullptr) {
      auto made = Client::make(loop, *logger, access, run_plugin);
      EXPECT_TRUE(made.ok()) << made.error().message;
      client_ = std::move(*made);
    }
    return *client_;
  }

  [[nodiscard]] base::Instant deadline() const { return loop.now() + kTestLimit; }
  bool wait(const std::function<bool()>& done) { return loop.run_until(done, deadline()); }

  net::EventLoop loop;
  std::unique_ptr<base::Logger> logger = base::stderr_logger("test", base::LogLevel::kWarning);
  Access access;
  PluginRunner run_plugin;
  std::function<void(TestTalk&)> on_request;
  int requests = 0;
  std::vector<std::unique_ptr<TestTalk>> talks;

 private:
  base::UniqueFd listening_;
  net::Watch accepting_;
  std::unique_ptr<Client> client_;
};

}  // namespace gangrun::kubernetes
