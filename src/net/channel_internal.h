#pragma once

#include "net/asio_internal.h"
//
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.h"
#include "net/event_loop.h"
#include "net/stream_internal.h"

namespace gangrun::net {

using ChannelDone = std::function<void(base::Result<std::unique_ptr<Channel>>)>;

// Answers a client's wish for a WebSocket and makes the channel, which keeps `guard` while its
// connection exists. `done` is called once, later.
void accept_channel(EventLoop& loop, Stream stream, const ChannelOptions& options,
                    const boost::beast::http::request<boost::beast::http::string_body>& request,
                    std::shared_ptr<void> guard, ChannelDone done);

struct ChannelRequest {
  std::string host;  // for the field of that name
  std::string target;
  Headers headers;
  // The server has to take one of them; empty: none is spoken of.
  std::vector<std::string> subprotocols{};
  // Makes an error of a refusal (its status and body).
  std::function<base::Error(const HttpResponse&)> on_refusal = error_of;
};

// Asks a server for a WebSocket. `done` is called once, later, or never when the returned function,
// which gives up, was called before. There is no limit of time until then.
std::function<void()> open_channel(EventLoop& loop, Stream stream, const ChannelOptions& options,
                                   ChannelRequest request, ChannelDone done);

}  // namespace gangrun::net
