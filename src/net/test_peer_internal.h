#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "net/test_authority_internal.h"
#include "net/test_server_internal.h"

namespace gangrun::net {

// How a TestPeer greets.
struct TestTls {
  TestIdentity identity;
  std::string clients_authority_pem{};  // who must vouch for clients; empty: they are not asked
  int newest = TLS1_3_VERSION;
};

// One connection of a TestPeer, on its thread; what blocks does so for kTestLimit at most.
class TestTalk {
 public:
  TestTalk(base::UniqueFd fd, SSL* tls) : fd_(std::move(fd)), tls_(tls) {}

  // All that has come until `wanted` has, or until the end of the connection.
  std::string read_until(std::string_view wanted) {
    std::string all;
    while (all.find(wanted) == std::string::npos) {
      const std::string more = read_some();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  std::string read_head() { return read_until("\r\n\r\n"); }
  std::string read_exactly(std::size_t count) {
    std::string all;
    while (all.size() < count) {
      const std::string more = read_some();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  // Whether the other side has closed the connection, having said nothing more.
  bool ends() { return read_some().empty(); }

  void write(std::string_view text) {
    while (!text.empty()) {
      const auto size = tls_ != nullptr
                            ? SSL_write(tls_, text.data(), static_cast<int>(text.size()))
                            : ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (size <= 0) return;  // it has gone, as it may
      text.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  // Hands on what both sides say until one of them has gone, as a proxy does.
  void carry(int other) {
    std::array<pollfd, 2> ends{pollfd{fd_.get(), POLLIN, 0}, pollfd{other, POLLIN, 0}};
    std::array<char, 4096> buffer{};
    while (::poll(ends.data(), ends.size(), static_cast<int>(kTestLimit / base::milliseconds(1))) >
           0) {
      for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].revents == 0) continue;
        const ssize_t size = ::recv(ends[i].fd, buffer.data(), buffer.size(), 0);
        if (size <= 0) return;
        ::send(ends[1 - i].fd, buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
      }
    }
  }

  [[nodiscard]] bool is_resumed() const { return SSL_session_reused(tls_) == 1; }
  [[nodiscard]] std::string server_name() const {
    const char* const name = SSL_get_servername(tls_, TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? name : "";
  }

 private:
  std::string read_some() {
    std::string buffer(4096, 0);
    const auto size = tls_ != nullptr
                          ? SSL_read(tls_, buffer.data(), static_cast<int>(buffer.size()))
                          : ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    buffer.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return buffer;
  }

  base::UniqueFd fd_;
  SSL* tls_;
};

// A server on 127.0.0.1 that says what a test tells it to, to one connection after the other.
class TestPeer {
 public:
  using Script = std::function<void(TestTalk&)>;

  explicit TestPeer(Script script, std::optional<TestTls> tls = {})
      : listener_(*ip_address("127.0.0.1", 0)), script_(std::move(script)) {
    if (tls) context_ = make_context(*tls);
    thread_ = std::thread([this] { serve(); });
  }
  TestPeer(const TestPeer&) = delete;
  TestPeer& operator=(const TestPeer&) = delete;
  ~TestPeer() {
    ::shutdown(listener_.fd.get(), SHUT_RDWR);  // ends the thread's accept()
    thread_.join();
    SSL_CTX_free(context_);
  }

  [[nodiscard]] std::uint16_t port() const { return listener_.port; }

 private:
  static SSL_CTX* make_context(const TestTls& tls) {
    SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_max_proto_version(context, tls.newest);
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>("t"), 1);
    EXPECT_EQ(SSL_CTX_use_certificate(context, certificate(tls.identity.certificate_pem).get()), 1);
    const std::string& key_pem = tls.identity.key_pem.reveal();
    const Bio text(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
    const Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context, key.get()), 1);
    if (tls.clients_authority_pem.empty()) return context;
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context),
                        certificate(tls.clients_authority_pem).get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    return context;
  }

  static Certificate certificate(const std::string& pem) {
    const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  }

  void serve() {
    // OpenSSL writes to connections that have gone.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    while (true) {
      base::UniqueFd fd(::accept4(listener_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (fd.get() < 0) return;
      const timeval limit{kTestLimit / base::seconds(1), 0};
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      if (context_ == nullptr) {
        TestTalk talk(std::move(fd), nullptr);
        script_(talk);
        continue;
      }
      const Tls tls(SSL_new(context_));
      SSL_set_fd(tls.get(), fd.get());
      TestTalk talk(std::move(fd), tls.get());
      if (SSL_accept(tls.get()) == 1) script_(talk);
    }
  }

  DeafServer listener_;
  const Script script_;
  SSL_CTX* context_ = nullptr;
  std::thread thread_;
};

}  // namespace gangrun::net
