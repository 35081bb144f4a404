#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/frames.h"
#include "sasl/mechanism.h"

// The bytes of Hadoop's RPC (docs/protocols/hadoop-rpc.md), without a socket.
namespace gangrun::hadoop {

// As large as a stock server takes.
constexpr std::size_t kMaxFrameBytes = std::size_t{128} << 20U;

constexpr std::int32_t kSaslCallId = -33;

// One way to log in that a server offers.
struct SaslOffer {
  std::string method;     // "TOKEN", "KERBEROS", "SIMPLE"
  std::string mechanism;  // "DIGEST-MD5", "GSSAPI", ""
  // Named again as they were offered: absent is not empty.
  std::optional<std::string> protocol{};
  std::optional<std::string> server_id{};
  std::optional<std::string> challenge{};

  friend bool operator==(const SaslOffer&, const SaslOffer&) = default;
};

// Takes the protobuf message at the front of `bytes` without the length before it; none where they
// are too few.
std::optional<std::string_view> take_delimited(std::string_view& bytes);

std::string encode_preamble(bool with_sasl);
// `user` is left out where it is empty: after a token or a ticket the server knows it. `real_user`
// is who acts for it, where the server believes names; else empty.
std::string encode_context(std::string_view client_id, std::string_view protocol,
                           std::string_view user, std::string_view real_user);
// `request` is the request's message.
std::string encode_call(std::string_view client_id, std::int32_t call_id, std::string_view protocol,
                        std::string_view method, std::string_view request);

struct SaslMessage {
  enum class State {
    kSuccess = 0,
    kNegotiate = 1,
    kInitiate = 2,
    kChallenge = 3,
    kResponse = 4,
    kWrap = 5,
  };
  State state = State::kNegotiate;
  std::optional<std::string> token{};
  std::vector<SaslOffer> offers{};

  friend bool operator==(const SaslMessage&, const SaslMessage&) = default;
};

std::string encode_sasl(const SaslMessage& message);

struct RpcResponse {
  enum class Status { kSuccess, kError, kFatal };  // kFatal: the connection ends
  std::int32_t call_id = 0;
  Status status = Status::kSuccess;
  std::string exception_class{};
  std::string error_text{};  // with the stack trace
  std::string body{};        // the message, where it is a success
};

// kDataLoss where the frame is none of a server.
base::Result<RpcResponse> parse_response(std::string_view frame);
// The body of a response whose call is kSaslCallId.
base::Result<SaslMessage> parse_sasl(std::string_view body);

// Makes responses of what a server sends, however it is cut, guarded or not.
class ResponseReader {
 public:
  // From now on all that is fed goes through `guard`, which must outlive the reader.
  void set_guard(sasl::Mechanism& guard) { guard_ = &guard; }

  void feed(std::string_view bytes) { outer_.feed(bytes); }
  // The next whole response; none until more is fed.
  base::Result<std::optional<RpcResponse>> next();

 private:
  sasl::Mechanism* guard_ = nullptr;
  net::FrameReader outer_{kMaxFrameBytes};
  net::FrameReader inner_{kMaxFrameBytes};  // of what was guarded
};

}  // namespace gangrun::hadoop
