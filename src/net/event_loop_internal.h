#pragma once

#include "net/asio_internal.h"
#include "net/event_loop.h"

namespace gangrun::net {

// The io_context of a loop, for sockets.
asio::io_context& context_of(EventLoop& loop);

}  // namespace gangrun::net
