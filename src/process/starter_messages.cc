#include "process/starter_messages.h"

#include "base/described_json.h"
#include "base/json.h"
#include "process/packet_socket.h"

namespace gangrun::process::starter {

namespace {

constexpr std::string_view kTag = "what";

template <typename Message>
base::Result<Message> message_from(std::string_view text) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxPacketBytes));
  return base::tagged_from<Message>(kTag, json);
}

}  // namespace

std::string to_text(const Order& order) { return base::dump_json(base::tagged_json(kTag, order)); }

std::string to_text(const Report& report) {
  return base::dump_json(base::tagged_json(kTag, report));
}

base::Result<Order> order_from(std::string_view text) { return message_from<Order>(text); }

base::Result<Report> report_from(std::string_view text) { return message_from<Report>(text); }

}  // namespace gangrun::process::starter
