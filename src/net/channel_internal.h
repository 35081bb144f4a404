#pragma once

#include "net/asio_internal.h"
//
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <string>

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

// Asks a server for a WebSocket at `target`; a refusal is an Error by code_of_status(). `done` is
// called once, later, or never when the returned function, which gives up, was called before.
std::function<void()> open_channel(EventLoop& loop, Stream stream, const ChannelOptions& options,
                                   const std::string& host, const std::string& target,
                                   const Headers& headers, ChannelDone done);

}  // namespace gangrun::net
