#include "ssh/frames.h"

#include <algorithm>

#include "base/format.h"
#include "base/overloaded.h"
#include "net/frames.h"

namespace gangrun::ssh {

namespace {

constexpr std::size_t kLengthBytes = 4;
// Bytes that were given are forgotten when there are so many.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;

constexpr char kMessage = 'M';
constexpr char kOpen = 'O';
constexpr char kStream = 'S';
constexpr char kLog = 'L';
constexpr char kFile = 'F';

using net::put_number;
using net::take_number;

base::Result<Frame> frame_of(char kind, std::string_view content) {
  const auto too_short = [&] {
    return base::invalid_argument(base::format("a frame '{}' is too short", kind));
  };
  switch (kind) {
    case kMessage: {
      GANGRUN_ASSIGN(base::Json message, base::parse_json(content, kMaxFrameBytes));
      return Frame(MessageFrame{std::move(message)});
    }
    case kOpen:
      if (content.size() != 4) return too_short();
      return Frame(OpenFrame{static_cast<std::uint32_t>(take_number(content, 4))});
    case kStream: {
      if (content.size() < 4) return too_short();
      const auto stream = static_cast<std::uint32_t>(take_number(content, 4));
      return Frame(StreamFrame{stream, content});
    }
    case kLog: {
      if (content.size() < 13) return too_short();
      LogFrame log;
      log.agent = static_cast<std::uint32_t>(take_number(content, 4));
      log.is_error = take_number(content, 1) != 0;
      log.offset = take_number(content, 8);
      log.content = content;
      return Frame(log);
    }
    case kFile: return Frame(FileFrame{content});
    default: break;
  }
  return base::invalid_argument(
      base::format("no frame has the kind {}", static_cast<int>(static_cast<unsigned char>(kind))));
}

}  // namespace

Frame to_frame(const net::RelayFrame& frame) {
  return std::visit([](const auto& each) { return Frame(each); }, frame);
}

std::string to_bytes(const Frame& frame) {
  std::string out(kLengthBytes, '\0');
  std::visit(base::Overloaded{
                 [&out](const MessageFrame& each) {
                   out += kMessage;
                   out += base::dump_json(each.message);
                 },
                 [&out](const OpenFrame& each) {
                   out += kOpen;
                   put_number(out, each.stream, 4);
                 },
                 [&out](const StreamFrame& each) {
                   out += kStream;
                   put_number(out, each.stream, 4);
                   out += each.content;
                 },
                 [&out](const LogFrame& each) {
                   out += kLog;
                   put_number(out, each.agent, 4);
                   put_number(out, each.is_error ? 1 : 0, 1);
                   put_number(out, each.offset, 8);
                   out += each.content;
                 },
                 [&out](const FileFrame& each) {
                   out += kFile;
                   out += each.content;
                 },
             },
             frame);
  std::string length;
  put_number(length, out.size() - kLengthBytes, kLengthBytes);
  out.replace(0, kLengthBytes, length);
  return out;
}

base::Result<std::optional<Frame>> FrameReader::next() {
  if (begin_ == buffer_.size() || begin_ > kKeptBytes) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < kLengthBytes) return {std::nullopt};
  const std::size_t length = take_number(rest, kLengthBytes);
  if (length == 0 || length > kMaxFrameBytes) {
    return base::invalid_argument(
        base::format("a frame of {} bytes; allowed: 1 to {}", length, kMaxFrameBytes));
  }
  if (rest.size() < length) return {std::nullopt};
  begin_ += kLengthBytes + length;
  GANGRUN_ASSIGN(Frame frame, frame_of(rest.front(), rest.substr(1, length - 1)));
  return {std::move(frame)};
}

}  // namespace gangrun::ssh
