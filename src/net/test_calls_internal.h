#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/format.h"
#include "net/call.h"
#include "net/test_peer_internal.h"

namespace gangrun::net {

using CallResult = base::Result<HttpResponse>;

inline CallOptions call_options(base::Duration within = kTestLimit) {
  CallOptions options;
  options.deadline = std::chrono::steady_clock::now() + within;
  return options;
}

inline std::shared_ptr<const Remote> remote_of(const RemoteOptions& options) {
  auto remote = Remote::make(options);
  EXPECT_TRUE(remote.ok()) << remote.error().message;
  return *remote;
}

inline std::shared_ptr<const Remote> plain_remote(const TestPeer& peer) {
  RemoteOptions options;
  options.url = base::format("http://127.0.0.1:{}", peer.port());
  return remote_of(options);
}

// The outcomes of calls.
struct CallLoop {
  CallResult ask(std::shared_ptr<const Remote> remote, CallRequest request = {},
                 const CallOptions& options = call_options()) {
    std::optional<CallResult> result;
    const Call under_way =
        call(loop, std::move(remote), std::move(request), options,
             [&result](CallResult answer) { result.emplace(std::move(answer)); });
    EXPECT_FALSE(result) << "called back inside call()";
    EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
    return std::move(*result);
  }

  CallResult listen(std::shared_ptr<const Remote> remote, const CallOptions& options,
                    CallRequest request = {}) {
    std::optional<CallResult> result;
    StreamCallbacks callbacks;
    callbacks.on_begin = [this] { said += "<"; };
    callbacks.on_piece = [this](std::string_view piece) { said += piece; };
    callbacks.on_end = [&result](CallResult answer) { result.emplace(std::move(answer)); };
    const Call under_way =
        stream(loop, std::move(remote), std::move(request), options, std::move(callbacks));
    EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }, test_deadline()));
    return std::move(*result);
  }

  EventLoop loop;
  std::string said;  // by streams: "<" where one begins, then its pieces
};

}  // namespace gangrun::net
