#include "net/frames.h"

#include <limits>

#include "base/check.h"
#include "base/format.h"

namespace gangrun::net {

namespace {

constexpr std::size_t kFrameLengthBytes = 4;

}  // namespace

std::string framed(std::string_view content) {
  GANGRUN_CHECK(content.size() <= std::numeric_limits<std::int32_t>::max(), content.size());
  std::string frame;
  frame.reserve(kFrameLengthBytes + content.size());
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>(content.size() >> static_cast<unsigned>(shift));
  }
  return frame.append(content);
}

base::Result<std::optional<std::string>> FrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  std::size_t length = 0;
  if (rest.size() >= kFrameLengthBytes) {
    for (const char byte : rest.substr(0, kFrameLengthBytes)) {
      length = length << 8U | static_cast<unsigned char>(byte);
    }
    if (length > max_frame_bytes_) {
      // A stream of another kind often is HTTP, whose first letters make a huge length.
      return base::Error{
          base::Code::kDataLoss,
          base::format("a frame announces {} bytes; {} are allowed", length, max_frame_bytes_)};
    }
  }
  if (rest.size() < kFrameLengthBytes || rest.size() - kFrameLengthBytes < length) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    return std::optional<std::string>();
  }
  taken_ += kFrameLengthBytes + length;
  return std::optional<std::string>(rest.substr(kFrameLengthBytes, length));
}

}  // namespace gangrun::net
