#include "net/compression.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
// The size of zlib's largest window; 16 more is gzip's format, 32 more is either, as the header
// says.
constexpr int kWindowBits = 15;
constexpr int kGzip = 16;
constexpr int kZlibOrGzip = 32;
constexpr int kMemoryLevel = 8;

}  // namespace

// zlib wants its object to stay where it is.
struct ZlibState {
  z_stream stream{};
  std::vector<Bytef> piece = std::vector<Bytef>(kPieceBytes);
};

ByteSink append_to(std::string& out) {
  return [&out](std::string_view piece) -> base::Result<> {
    out += piece;
    return {};
  };
}

Inflater::Inflater() : state_(std::make_unique<ZlibState>()) {
  GANGRUN_CHECK(::inflateInit2(&state_->stream, kWindowBits + kZlibOrGzip) == Z_OK, "no memory");
}

Inflater::~Inflater() { ::inflateEnd(&state_->stream); }

base::Result<> Inflater::put(std::string_view compressed, const ByteSink& sink) {
  while (!compressed.empty()) {
    if (done_) return base::invalid_argument("something follows the end of what is compressed");
    // zlib only reads, but older ones do not say so.
    std::vector<Bytef> input(
        compressed.begin(),
        compressed.begin() + static_cast<std::ptrdiff_t>(std::min(compressed.size(), kPieceBytes)));
    state_->stream.next_in = input.data();
    state_->stream.avail_in = static_cast<uInt>(input.size());
    GANGRUN_TRY(run(sink));
    compressed.remove_prefix(input.size() - state_->stream.avail_in);
  }
  return {};
}

// Hands on all that comes of zlib's present input.
base::Result<> Inflater::run(const ByteSink& sink) {
  z_stream& stream = state_->stream;
  std::vector<Bytef>& piece = state_->piece;
  int status = Z_OK;
  do {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return base::invalid_argument("zlib cannot read what is compressed");
    }
    const std::size_t size = piece.size() - stream.avail_out;
    if (size > 0) GANGRUN_TRY(sink({reinterpret_cast<const char*>(piece.data()), size}));
  } while (status == Z_OK && stream.avail_out == 0);
  done_ = status == Z_STREAM_END;
  return {};
}

Gzip::Gzip(ByteSink sink) : state_(std::make_unique<ZlibState>()), sink_(std::move(sink)) {
  GANGRUN_CHECK(::deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                               kWindowBits + kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
                "no memory");
}

Gzip::~Gzip() { ::deflateEnd(&state_->stream); }

base::Result<> Gzip::put(std::string_view bytes) {
  while (!bytes.empty()) {
    std::vector<Bytef> input(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                bytes.size(), kPieceBytes)));
    state_->stream.next_in = input.data();
    state_->stream.avail_in = static_cast<uInt>(input.size());
    GANGRUN_TRY(run(Z_NO_FLUSH));
    bytes.remove_prefix(input.size());
  }
  return {};
}

base::Result<> Gzip::finish() { return run(Z_FINISH); }

base::Result<> Gzip::run(int flush) {
  z_stream& stream = state_->stream;
  int status = Z_OK;
  do {
    stream.next_out = state_->piece.data();
    stream.avail_out = static_cast<uInt>(state_->piece.size());
    status = ::deflate(&stream, flush);
    GANGRUN_CHECK(status != Z_STREAM_ERROR, flush);
    const std::size_t size = state_->piece.size() - stream.avail_out;
    if (size > 0) {
      GANGRUN_TRY(sink_({reinterpret_cast<const char*>(state_->piece.data()), size}));
    }
  } while (stream.avail_out == 0);
  return {};
}

}  // namespace gangrun::net
