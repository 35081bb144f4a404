#include "kubernetes/frames.h"

#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "kubernetes/refusal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kPortBytes = 2;
constexpr int kDataChannel = 0;
constexpr int kPortErrorsChannel = 1;

std::optional<int> exit_code_of(const base::Json& details) {
  for (const base::Json& cause : list_at(details, {"causes"})) {
    if (text_at(cause, {"reason"}) != "ExitCode") continue;
    const auto code = base::parse_integer(text_at(cause, {"message"}));
    if (code && *code >= 0 && *code <= 255) return static_cast<int>(*code);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Frame> read_frame(std::string_view message) {
  if (message.empty()) return std::nullopt;
  return Frame{static_cast<unsigned char>(message.front()), message.substr(1)};
}

base::Result<int> read_exit_status(std::string_view status) {
  GANGRUN_ASSIGN(const base::Json object, base::parse_json(status, kMaxStatusBytes));
  if (!object.is_object()) return base::unavailable("the command's end was told in no known way");
  if (text_at(object, {"status"}) == "Success") return 0;
  base::Json status_object = object;
  status_object["kind"] = "Status";  // which is left out here
  const Refusal refusal = *read_status(status_object);
  if (const auto code = exit_code_of(refusal.details)) return *code;
  if (refusal.status == 0) {
    return base::unavailable(refusal.message.empty() ? "the command's end was told without a reason"
                                                     : refusal.message);
  }
  return error_of(refusal);
}

base::Result<PortFrames::Event> PortFrames::take(std::string_view message) {
  const auto frame = read_frame(message);
  if (!frame) return Event{};
  if (frame->channel != kDataChannel && frame->channel != kPortErrorsChannel) {
    return base::Error{base::Code::kDataLoss,
                       base::format("bytes of an unknown stream, number {}", frame->channel)};
  }
  if (!is_open_[frame->channel]) {
    if (frame->bytes.size() != kPortBytes) {
      return base::Error{base::Code::kDataLoss, "a forwarded port did not begin with its number"};
    }
    const int port = static_cast<unsigned char>(frame->bytes[0]) +
                     256 * static_cast<unsigned char>(frame->bytes[1]);
    if (port != port_) {
      return base::Error{base::Code::kDataLoss,
                         base::format("port {} was forwarded instead of {}", port, port_)};
    }
    is_open_[frame->channel] = true;
    return Event{frame->channel == kDataChannel ? Kind::kOpen : Kind::kNothing, {}};
  }
  if (frame->bytes.empty()) return Event{};
  return Event{frame->channel == kDataChannel ? Kind::kBytes : Kind::kRefused, frame->bytes};
}

std::string make_port_frame(std::string_view bytes) {
  return std::string(1, static_cast<char>(kDataChannel)).append(bytes);
}

}  // namespace gangrun::kubernetes
