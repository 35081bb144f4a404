#include "feed/message.h"

#include <cstring>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::feed {

namespace {

constexpr std::uint32_t kMessageMark = 0x46475247;  // "GRGF" as it lies in memory
constexpr std::uint16_t kVersion = 1;

struct Head {
  std::uint32_t mark;
  std::uint16_t version;
  std::uint16_t type;
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
};
static_assert(sizeof(Head) + kMaxTextBytes == kMaxMessageBytes);

}  // namespace

std::string encode(const Message& message) {
  const Head head{.mark = kMessageMark,
                  .version = kVersion,
                  .type = static_cast<std::uint16_t>(message.type),
                  .a = message.a,
                  .b = message.b,
                  .c = message.c};
  std::string bytes(sizeof head, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes + (message.text.size() <= kMaxTextBytes
                      ? message.text
                      : base::shorten(message.text, kMaxTextBytes));
}

base::Result<Message> decode(std::string_view bytes) {
  Head head{};
  if (bytes.size() < sizeof head || bytes.size() > kMaxMessageBytes) {
    return base::Error{base::Code::kDataLoss,
                       base::format("a message of {} bytes is none of the feed", bytes.size())};
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.mark != kMessageMark)
    return base::Error{base::Code::kDataLoss, "no message of the feed"};
  if (head.version != kVersion) {
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("the peer speaks version {} of the feed, here it is {}",
                                    head.version, kVersion)};
  }
  if (head.type < static_cast<std::uint16_t>(MessageType::kHello) ||
      head.type > static_cast<std::uint16_t>(MessageType::kEnd)) {
    return base::Error{base::Code::kDataLoss,
                       base::format("an unknown message, number {}", head.type)};
  }
  return Message{.type = static_cast<MessageType>(head.type),
                 .a = head.a,
                 .b = head.b,
                 .c = head.c,
                 .text = std::string(bytes.substr(sizeof head))};
}

}  // namespace gangrun::feed
