#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/compression.h"
#include "net/http.h"

namespace gangrun::net {

inline constexpr std::uint64_t kMaxFetchedBytes = std::uint64_t{64} * 1024 * 1024;

// A part of an open file that is sent as a body. The descriptor is borrowed; its position is
// neither used nor changed.
struct FileSlice {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A request to a server that is not ours.
struct FetchRequest {
  std::string method = "GET";
  std::string url;  // see parse_url()
  Headers headers;
  std::string body;
  std::optional<FileSlice> file;  // the body, instead of `body`
};

struct FetchOptions {
  base::Instant deadline;                            // for all of it
  base::Duration connect_limit = base::seconds(20);  // until the server has taken the connection
  // No byte may take longer than this to move. Tells a dead server from a long transfer.
  base::Duration idle_limit = base::seconds(60);
  std::uint64_t max_response_bytes = kMaxFetchedBytes;  // of the body, also where a sink takes it
  // The certificates of those who must vouch for a https:// server, in PEM form; empty: the
  // system's.
  std::string authorities_file;
  // Gets the body of an answer of success (2xx) piece by piece, instead of HttpResponse::body; an
  // error of its own ends the transfer and is returned.
  ByteSink sink;
  std::function<void(std::uint64_t sent)> progress;  // of FetchRequest::file, so far
  // Asked now and then while no answer has come, and may block a little: true where it is known
  // from elsewhere that the server has done all. Then the answer is not waited for and taken to be
  // an empty 202.
  std::function<bool()> is_done;
  // Asked now and then, once there is a connection, and may not block: true ends it with
  // kCancelled.
  std::function<bool()> is_cancelled{};
};

// One request on a connection of its own. Blocks, never beyond the deadline (see resolve() for
// names). Any complete answer is a value, whatever its status; redirects are not followed. Errors
// name method and address without the query, where there may be a token. kUnavailable: no such
// host, nobody listens, or the connection ended early; kUnauthenticated: nobody vouches for the
// server.
base::Result<HttpResponse> fetch(const FetchRequest& request, const FetchOptions& options);

}  // namespace gangrun::net
