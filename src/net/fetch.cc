#include "net/fetch.h"

#include "base/pause.h"
#include "net/asio_internal.h"
//
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"
#include "net/client.h"
#include "net/connector_internal.h"
#include "net/event_loop.h"
#include "net/exchange_internal.h"
#include "net/hosts.h"
#include "net/http_wire_internal.h"
#include "net/tls_internal.h"
#include "net/url.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kFetchedPieceBytes = std::size_t{256} * 1024;
// Between two looks whether the server has done all: the first one, doubled up to the other.
constexpr base::milliseconds kFirstLook{4};
constexpr base::milliseconds kLongestLook{250};

// Reads a part of a file piece by piece.
class FileReader {
 public:
  FileReader(const FileSlice& slice, const std::function<void(std::uint64_t)>& progress)
      : slice_(slice), progress_(progress) {}

  // Empty at the end. Called when all before has been sent.
  base::Result<std::string_view> next() {
    if (progress_ && read_ > 0) progress_(read_);
    const auto wanted = std::min<std::uint64_t>(kFetchedPieceBytes, slice_.length - read_);
    if (wanted == 0) return std::string_view();
    buffer_.resize(wanted);
    ssize_t size = -1;
    do {
      size = ::pread(slice_.fd, buffer_.data(), buffer_.size(),
                     static_cast<off_t>(slice_.offset + read_));
    } while (size < 0 && errno == EINTR);
    if (size < 0) return base::from_errno(errno, "read the file that is sent");
    if (size == 0) {
      return base::Error{base::Code::kFailedPrecondition,
                         base::format("the file that is sent became shorter: it had {} bytes, "
                                      "now it ends after {}",
                                      slice_.length, read_)};
    }
    read_ += static_cast<std::uint64_t>(size);
    return std::string_view(buffer_.data(), static_cast<std::size_t>(size));
  }

 private:
  const FileSlice slice_;
  const std::function<void(std::uint64_t)>& progress_;
  std::string buffer_;
  std::uint64_t read_ = 0;
};

base::Result<Stream> connect(EventLoop& loop, const Url& url, const FetchOptions& options) {
  Trust trust{Trust::Kind::kNone, nullptr};
  if (url.tls) {
    trust.kind = Trust::Kind::kAuthorities;
    GANGRUN_ASSIGN(trust.context, authorities_tls(options.authorities_file));
  }
  auto addresses = resolve(url.host, options.deadline);
  if (!addresses.ok()) {
    // kNotFound would be taken for what the server says of the path.
    base::Error error = std::move(addresses).error();
    if (error.code == base::Code::kNotFound) error.code = base::Code::kUnavailable;
    return error;
  }
  return connect_now(loop, Endpoint{{}, url.host, url.port, {}},
                     std::min(options.deadline, loop.now() + options.connect_limit),
                     std::move(trust), *std::move(addresses));
}

base::Result<HttpResponse> run(EventLoop& loop, Exchange& exchange, const FetchOptions& options) {
  exchange.start();
  const auto done = [&exchange] { return exchange.done(); };
  base::Pause pause(kFirstLook, kLongestLook);
  const bool has_looks = options.is_done || options.is_cancelled;
  base::Instant look = has_looks ? loop.now() + pause.next() : base::Instant::max();
  const auto limit = [&] {
    return std::min({options.deadline, exchange.moved() + options.idle_limit, look});
  };
  while (!loop.run_until(done, limit())) {
    const base::Instant now = loop.now();
    if (now >= look) {
      if (options.is_cancelled && options.is_cancelled()) {
        return base::Error{base::Code::kCancelled, "it was ended"};
      }
      if (options.is_done && options.is_done()) return HttpResponse{202, {}, {}, {}};
      look = loop.now() + pause.next();
    }
    if (now >= options.deadline) {
      return base::deadline_exceeded("gave up waiting for the whole answer");
    }
    if (now >= exchange.moved() + options.idle_limit) {
      return base::deadline_exceeded(
          base::format("gave up: nothing has moved for {}", base::to_words(options.idle_limit)));
    }
  }
  return exchange.take();
}

}  // namespace

base::Result<HttpResponse> fetch(const FetchRequest& request, const FetchOptions& options) {
  GANGRUN_ASSIGN(const Url url, parse_url(request.url));
  const std::string what = base::format("{} {}", request.method, without_query(url));
  const std::uint64_t length = request.file ? request.file->length : request.body.size();
  auto head = serialise_head({request.method, url.target, host_port(url.host, url.port)},
                             request.headers, length);
  if (!head.ok()) return std::move(head).error().context(what);

  EventLoop loop;
  auto stream = connect(loop, url, options);
  if (!stream.ok()) return std::move(stream).error().context(what);
  ExchangeOptions exchange_options{
      request.method == "HEAD", options.max_response_bytes, {}, options.sink};
  std::optional<FileReader> file;
  if (request.file) {
    file.emplace(*request.file, options.progress);
    exchange_options.more = [&file] { return file->next(); };
  } else {
    head->append(request.body);
  }
  const auto exchange =
      std::make_shared<Exchange>(std::move(*stream), std::move(*head), std::move(exchange_options));
  auto answer = run(loop, *exchange, options);
  exchange->close();
  return std::move(answer).context(what);
}

}  // namespace gangrun::net
