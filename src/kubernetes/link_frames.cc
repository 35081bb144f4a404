#include "kubernetes/link_frames.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kNumberBytes = 4;

constexpr char kHere = 'H';
constexpr char kCarry = 'C';
constexpr char kPing = 'P';
constexpr char kAnswer = 'A';
constexpr char kHint = 'T';
constexpr char kOpen = 'O';
constexpr char kStream = 'S';

base::Error wrong_link_frame(std::string_view why) {
  return base::Error{base::Code::kDataLoss,
                     base::format("the other side of the stream to a pod has sent {}", why)};
}

std::string with_number(char kind, std::uint32_t number, std::string_view rest = {}) {
  std::string out(1, kind);
  net::put_number(out, number, kNumberBytes);
  return out.append(rest);
}

}  // namespace

LinkFrame to_frame(const net::RelayFrame& frame) {
  return std::visit([](const auto& each) { return LinkFrame(each); }, frame);
}

std::string to_bytes(const LinkFrame& frame) {
  return net::framed(std::visit(
      base::Overloaded{
          [](const HereFrame& each) { return std::string(1, kHere).append(each.address); },
          [](const CarryFrame&) { return std::string(1, kCarry); },
          [](const PingFrame&) { return std::string(1, kPing); },
          [](const AnswerFrame&) { return std::string(1, kAnswer); },
          [](const HintFrame& each) { return with_number(kHint, each.attempt, each.address); },
          [](const net::OpenFrame& each) { return with_number(kOpen, each.stream); },
          [](const net::StreamFrame& each) {
            return with_number(kStream, each.stream, each.content);
          },
      },
      frame));
}

base::Result<std::optional<LinkFrame>> LinkReader::next() {
  GANGRUN_ASSIGN(auto frame, frames_.next());
  if (!frame) return std::optional<LinkFrame>();
  current_ = *std::move(frame);
  if (current_.empty()) return wrong_link_frame("an empty frame");
  const char kind = current_.front();
  std::string_view content = std::string_view(current_).substr(1);
  if (kind == kHere) return std::optional<LinkFrame>(HereFrame{content});
  if (kind == kCarry && content.empty()) return std::optional<LinkFrame>(CarryFrame{});
  if (kind == kPing && content.empty()) return std::optional<LinkFrame>(PingFrame{});
  if (kind == kAnswer && content.empty()) return std::optional<LinkFrame>(AnswerFrame{});
  if ((kind != kHint && kind != kOpen && kind != kStream) || content.size() < kNumberBytes) {
    return wrong_link_frame(base::format("a wrong frame of {} bytes", current_.size()));
  }
  const auto number = static_cast<std::uint32_t>(net::take_number(content, kNumberBytes));
  if (kind == kHint) return std::optional<LinkFrame>(HintFrame{number, content});
  if (kind == kStream) return std::optional<LinkFrame>(net::StreamFrame{number, content});
  if (!content.empty()) return wrong_link_frame("a connection with a content");
  return std::optional<LinkFrame>(net::OpenFrame{number});
}

}  // namespace gangrun::kubernetes
