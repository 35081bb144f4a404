#include "net/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>

#include "base/test_deadline.h"
#include "net/test_calls_internal.h"

namespace gangrun::net {
namespace {

// The words of a stream.
struct Heard {
  bool is_connected = false;
  std::string bytes;
  std::optional<base::Error> end;

  ByteStream::Callbacks callbacks() {
    return {.on_connected = [this] { is_connected = true; },
            .on_bytes = [this](std::string_view more) { bytes += more; },
            .on_closed = [this](const base::Error& error) { end = error; }};
  }
};

std::shared_ptr<const Remote> remote(const RemoteOptions& options) {
  auto made = Remote::make(options);
  EXPECT_TRUE(made.ok());
  return *made;
}

TestPeer::Script echo(std::size_t count) {
  return [count](TestTalk& talk) {
    talk.write(talk.read_exactly(count));
    EXPECT_TRUE(talk.ends());
  };
}

TEST(ByteStream, BytesGoBothWaysPlainAndByTls) {
  // More than the kernel takes at once.
  const std::string large(8'000'000, 'l');
  const TestAuthority authority;
  const TestIdentity server = authority.issue("server", "IP:127.0.0.1");
  for (const bool is_tls : {false, true}) {
    EventLoop loop;
    const TestPeer peer(echo(large.size()),
                        is_tls ? std::optional<TestTls>(TestTls{server}) : std::nullopt);
    Heard heard;
    {
      const auto target =
          remote({.url = base::format("http{}://127.0.0.1:{}", is_tls ? "s" : "", peer.port()),
                  .authorities_pem = authority.certificate_pem()});
      ByteStream stream(loop, target, base::soon(), heard.callbacks());
      ASSERT_TRUE(loop.run_until([&] { return heard.is_connected; }, base::soon()));
      stream.send(large);
      ASSERT_TRUE(loop.run_until([&] { return heard.bytes.size() == large.size(); }, base::soon()));
    }
    EXPECT_FALSE(heard.end);
  }
}

TEST(ByteStream, TheEndAndItsReasonAreTold) {
  EventLoop loop;
  const TestPeer peer([](TestTalk& talk) { talk.write("bye"); });
  Heard heard;
  const ByteStream stream(loop, plain_remote(peer), base::soon(), heard.callbacks());
  ASSERT_TRUE(loop.run_until([&] { return heard.end.has_value(); }, base::soon()));
  EXPECT_EQ(heard.bytes, "bye");
  EXPECT_EQ(heard.end->code, base::Code::kUnavailable);
  Heard nobody;
  const ByteStream other(loop, remote({.url = "http://127.0.0.1:1"}), base::soon(),
                         nobody.callbacks());
  ASSERT_TRUE(loop.run_until([&] { return nobody.end.has_value(); }, base::soon()));
  EXPECT_THAT(nobody.end->message, testing::HasSubstr("Connection refused"));
}

TEST(ByteStream, WhatWasSentBeforeItsEndArrives) {
  EventLoop loop;
  std::promise<std::string> got;
  const TestPeer peer([&got](TestTalk& talk) { got.set_value(talk.read_until("last word")); });
  Heard heard;
  {
    ByteStream stream(loop, plain_remote(peer), base::soon(), heard.callbacks());
    ASSERT_TRUE(loop.run_until([&] { return heard.is_connected; }, base::soon()));
    stream.send("last word");
  }
  auto arrived = got.get_future();
  ASSERT_EQ(arrived.wait_until(base::soon()), std::future_status::ready);
  EXPECT_EQ(arrived.get(), "last word");
}

TEST(ByteStream, ACallbackMayEndIt) {
  EventLoop loop;
  const TestPeer peer([](TestTalk& talk) {
    talk.write("bye");
    EXPECT_TRUE(talk.ends());
  });
  std::unique_ptr<ByteStream> stream;
  stream = std::make_unique<ByteStream>(
      loop, plain_remote(peer), base::soon(),
      ByteStream::Callbacks{.on_connected = [] {},
                            .on_bytes = [&](std::string_view) { stream.reset(); },
                            .on_closed = [](const base::Error&) { FAIL(); }});
  EXPECT_TRUE(loop.run_until([&] { return stream == nullptr; }, base::soon()));
}

}  // namespace
}  // namespace gangrun::net
