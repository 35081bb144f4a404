#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubernetes/api_url.h"
#include "kubernetes/core.h"
#include "kubernetes/login.h"
#include "net/call.h"
#include "net/channel.h"

namespace gangrun::kubernetes {

// The request that opens a WebSocket.
struct OpeningRequest {
  std::string path;
  Query query;
  std::vector<std::string> subprotocols;  // the first that the server takes
  base::Instant deadline;
};

// A WebSocket to the server, opened once; twice where the login has run out. Destroying it gives
// up.
class Opening {
 public:
  using Result = base::Result<std::unique_ptr<net::Channel>>;

  // `on_done` comes later, never inside the constructor, and may destroy this. Errors as of
  // Client::request().
  Opening(Core& core, OpeningRequest request, std::function<void(Result)> on_done);
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

 private:
  void open(const Way& way);
  void on_channel(Result channel);
  void finish(Result channel);

  Core& core_;
  const OpeningRequest request_;
  const std::function<void(Result)> on_done_;
  Entry entry_;
  net::Timer start_;
  net::Timer limit_;  // of the login
  net::Call call_;
};

// The error of a refused WebSocket, whose message is the answer's body.
base::Error error_of_refused_channel(const base::Error& error);

}  // namespace gangrun::kubernetes
