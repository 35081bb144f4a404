#include "net/frames.h"

#include <limits>

#include "base/check.h"
#include "base/format.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kFrameLengthBytes = 4;

}  // namespace

void put_number(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = bytes; i > 0; --i) {
    out.push_back(static_cast<char>((number >> (8 * (i - 1))) & 0xffU));
  }
}

std::uint64_t take_number(std::string_view& from, std::size_t bytes) {
  std::uint64_t number = 0;
  for (const char c : from.substr(0, bytes)) number = number << 8U | static_cast<unsigned char>(c);
  from.remove_prefix(bytes);
  return number;
}

std::string framed(std::string_view content) {
  GANGRUN_CHECK(content.size() <= std::numeric_limits<std::int32_t>::max(), content.size());
  std::string frame;
  frame.reserve(kFrameLengthBytes + content.size());
  put_number(frame, content.size(), kFrameLengthBytes);
  return frame.append(content);
}

base::Result<std::optional<std::string>> FrameReader::next() {
  std::string_view rest = std::string_view(buffer_).substr(taken_);
  std::size_t length = 0;
  const bool has_length = rest.size() >= kFrameLengthBytes;
  if (has_length) {
    length = take_number(rest, kFrameLengthBytes);
    if (length > max_frame_bytes_) {
      // A stream of another kind often is HTTP, whose first letters make a huge length.
      return base::Error{
          base::Code::kDataLoss,
          base::format("a frame announces {} bytes; {} are allowed", length, max_frame_bytes_)};
    }
  }
  if (!has_length || rest.size() < length) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    return std::optional<std::string>();
  }
  taken_ += kFrameLengthBytes + length;
  return std::optional<std::string>(rest.substr(0, length));
}

}  // namespace gangrun::net
