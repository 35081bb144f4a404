#include "net/tunnel_flow.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::net {

namespace {

// The first byte of a message.
constexpr char kOpened = 'o';
constexpr char kData = 'd';
constexpr char kEnd = 'e';
constexpr char kTaken = 't';

base::Error wrong_frame(std::string_view what) {
  return base::invalid_argument(base::format("the other side of the tunnel {}", what));
}

}  // namespace

std::size_t TunnelFlow::may_send() const {
  if (has_ended_) return 0;
  return std::min(kMaxTunnelDataBytes, kTunnelWindowBytes - on_the_way_);
}

std::string TunnelFlow::opened() { return {kOpened}; }

std::string TunnelFlow::data(std::string_view bytes) {
  GANGRUN_CHECK(!bytes.empty() && bytes.size() <= may_send(), bytes.size(), on_the_way_);
  on_the_way_ += bytes.size();
  std::string message(1, kData);
  message += bytes;
  return message;
}

std::string TunnelFlow::end() {
  GANGRUN_CHECK(!has_ended_, on_the_way_);
  has_ended_ = true;
  return {kEnd};
}

std::optional<std::string> TunnelFlow::taken(std::size_t bytes) {
  passed_on_ += bytes;
  GANGRUN_CHECK(passed_on_ <= arrived_, passed_on_, arrived_);
  const bool is_last = other_has_ended_ && passed_on_ == arrived_;
  if (passed_on_ == 0 || (passed_on_ < tell_taken_ && !is_last)) return std::nullopt;
  arrived_ -= passed_on_;
  std::string message(1, kTaken);
  message += std::to_string(passed_on_);
  passed_on_ = 0;
  return message;
}

base::Result<TunnelMessage> TunnelFlow::on_message(std::string_view message) {
  if (message.empty()) return wrong_frame("sends an empty message");
  const std::string_view rest = message.substr(1);
  switch (message.front()) {
    case kData: return on_data(rest);
    case kTaken: return on_taken(rest);
    case kOpened:
    case kEnd: break;
    default: return wrong_frame("sends a message of an unknown kind");
  }
  if (!rest.empty()) return wrong_frame("sends a message that is too long");
  if (message.front() == kOpened) return TunnelMessage(TunnelOpened{});
  if (other_has_ended_) return wrong_frame("ends twice");
  other_has_ended_ = true;
  return TunnelMessage(TunnelEnd{});
}

base::Result<TunnelMessage> TunnelFlow::on_data(std::string_view bytes) {
  if (bytes.empty()) return wrong_frame("sends no bytes");
  if (other_has_ended_) return wrong_frame("goes on after its end");
  if (bytes.size() > kMaxTunnelDataBytes || bytes.size() > kTunnelWindowBytes - arrived_) {
    return wrong_frame("sends more than it may");
  }
  arrived_ += bytes.size();
  return TunnelMessage(TunnelData{bytes});
}

base::Result<TunnelMessage> TunnelFlow::on_taken(std::string_view number) {
  const auto bytes = base::parse_integer(number);
  if (!bytes || *bytes < 1 || static_cast<std::size_t>(*bytes) > on_the_way_) {
    return wrong_frame("takes what was not sent");
  }
  on_the_way_ -= static_cast<std::size_t>(*bytes);
  return TunnelMessage(TunnelTaken{});
}

}  // namespace gangrun::net
