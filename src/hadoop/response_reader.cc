#include "hadoop/response_reader.h"

#include <string>
#include <utility>

#include "base/format.h"

namespace gangrun::hadoop {

base::Result<std::optional<RpcResponse>> ResponseReader::next() {
  while (true) {
    net::FrameReader& reader = guard_ == nullptr ? outer_ : inner_;
    GANGRUN_ASSIGN(const std::optional<std::string> frame, reader.next());
    if (frame) {
      GANGRUN_ASSIGN(RpcResponse response, parse_response(*frame));
      return std::optional<RpcResponse>(std::move(response));
    }
    if (guard_ == nullptr) return std::optional<RpcResponse>();
    GANGRUN_ASSIGN(const std::optional<std::string> outer, outer_.next());
    if (!outer) return std::optional<RpcResponse>();
    GANGRUN_ASSIGN(RpcResponse response, parse_response(*outer));
    // The end of the connection is told without a guard, too.
    if (response.status != RpcResponse::Status::kSuccess) {
      return std::optional<RpcResponse>(std::move(response));
    }
    GANGRUN_ASSIGN(const SaslMessage message, parse_sasl(response.body));
    if (response.call_id != kSaslCallId || message.state != SaslMessage::State::kWrap) {
      return base::Error{base::Code::kDataLoss, "a response came without its guard"};
    }
    GANGRUN_ASSIGN(const std::string bytes, guard_->unwrap(message.token.value_or("")));
    inner_.feed(bytes);
  }
}

}  // namespace gangrun::hadoop
