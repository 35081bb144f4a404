#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// A stream of frames, as many protocols of Java's servers have it: four bytes with the length, the
// highest first, and then so many bytes.
namespace gangrun::net {

// So many bytes of a number, the highest first.
void put_number(std::string& out, std::uint64_t number, std::size_t bytes);
// The number that `from` begins with, which it has no more afterwards. It has so many bytes.
std::uint64_t take_number(std::string_view& from, std::size_t bytes);

// `content` with its length before it.
std::string framed(std::string_view content);

// Takes a stream apart into frames.
class FrameReader {
 public:
  // A frame that announces more is refused before it comes.
  explicit FrameReader(std::size_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next whole frame without its length; none until more is fed. kDataLoss: what comes is no
  // such stream.
  base::Result<std::optional<std::string>> next();

 private:
  std::size_t max_frame_bytes_;
  std::string buffer_;
  std::size_t taken_ = 0;
};

}  // namespace gangrun::net
