#include "hadoop/rpc_frames.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>
#include <proto/hadoop/rpc.pb.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace gangrun::hadoop {

namespace {

namespace common = ::hadoop::common;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr char kIpcVersion = 9;
constexpr char kServiceClass = 0;
constexpr char kSimple = 0;
constexpr auto kSasl = static_cast<char>(0xdf);
constexpr std::int32_t kContextCallId = -3;
constexpr std::size_t kMaxVarintBytes = 10;
constexpr std::uint64_t kProtocolVersion = 1;
constexpr std::size_t kMaxOffers = 16;

base::Error garbled(std::string_view what) {
  return base::Error{base::Code::kDataLoss, base::format("{} cannot be read", what)};
}

void append_delimited(std::string& out, std::string_view bytes) {
  std::array<std::uint8_t, kMaxVarintBytes> length{};
  const std::uint8_t* const begin = length.data();
  const std::uint8_t* const end =
      CodedOutputStream::WriteVarint64ToArray(bytes.size(), length.data());
  out.append(begin, end);
  out += bytes;
}

void append_delimited(std::string& out, const google::protobuf::MessageLite& message) {
  append_delimited(out, message.SerializeAsString());
}

bool parse(google::protobuf::MessageLite& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string framed(std::string_view content) {
  GANGRUN_CHECK(content.size() <= kMaxFrameBytes, content.size());
  return net::framed(content);
}

std::string header(std::int32_t call_id, std::string_view client_id, std::int32_t retry_count) {
  common::RpcRequestHeaderProto message;
  message.set_rpckind(common::RPC_PROTOCOL_BUFFER);
  message.set_rpcop(common::RpcRequestHeaderProto::RPC_FINAL_PACKET);
  message.set_callid(call_id);
  message.set_clientid(std::string(client_id));
  message.set_retrycount(retry_count);
  std::string out;
  append_delimited(out, message);
  return out;
}

}  // namespace

std::optional<std::string_view> take_delimited(std::string_view& bytes) {
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  std::uint64_t length = 0;
  if (!stream.ReadVarint64(&length)) return std::nullopt;
  const auto begin = static_cast<std::size_t>(stream.CurrentPosition());
  if (length > bytes.size() - begin) return std::nullopt;
  const std::string_view message = bytes.substr(begin, length);
  bytes.remove_prefix(begin + length);
  return message;
}

std::string encode_preamble(bool with_sasl) {
  std::string out = "hrpc";
  out += kIpcVersion;
  out += kServiceClass;
  out += with_sasl ? kSasl : kSimple;
  return out;
}

std::string encode_context(std::string_view client_id, std::string_view protocol,
                           std::string_view user, std::string_view real_user) {
  std::string content = header(kContextCallId, client_id, -1);
  common::IpcConnectionContextProto message;
  if (!user.empty()) message.mutable_userinfo()->set_effectiveuser(std::string(user));
  if (!real_user.empty()) message.mutable_userinfo()->set_realuser(std::string(real_user));
  message.set_protocol(std::string(protocol));
  append_delimited(content, message);
  return framed(content);
}

std::string encode_call(std::string_view client_id, std::int32_t call_id, std::string_view protocol,
                        std::string_view method, std::string_view request) {
  std::string content = header(call_id, client_id, 0);
  common::RequestHeaderProto message;
  message.set_methodname(std::string(method));
  message.set_declaringclassprotocolname(std::string(protocol));
  message.set_clientprotocolversion(kProtocolVersion);
  append_delimited(content, message);
  append_delimited(content, request);
  return framed(content);
}

std::string encode_sasl(const SaslMessage& message) {
  common::RpcSaslProto sasl;
  sasl.set_state(static_cast<common::RpcSaslProto::SaslState>(message.state));
  if (message.token) sasl.set_token(*message.token);
  for (const SaslOffer& offer : message.offers) {
    common::RpcSaslProto::SaslAuth& entry = *sasl.add_auths();
    entry.set_method(offer.method);
    entry.set_mechanism(offer.mechanism);
    if (offer.protocol) entry.set_protocol(*offer.protocol);
    if (offer.server_id) entry.set_serverid(*offer.server_id);
    if (offer.challenge) entry.set_challenge(*offer.challenge);
  }
  std::string content = header(kSaslCallId, "", -1);
  append_delimited(content, sasl);
  return framed(content);
}

base::Result<RpcResponse> parse_response(std::string_view frame) {
  const std::optional<std::string_view> bytes = take_delimited(frame);
  common::RpcResponseHeaderProto message;
  if (!bytes || !parse(message, *bytes)) return garbled("a response's header");
  RpcResponse response;
  response.call_id = static_cast<std::int32_t>(message.callid());
  response.exception_class = message.exceptionclassname();
  response.error_text = message.errormsg();
  switch (message.status()) {
    case common::RpcResponseHeaderProto::SUCCESS: break;
    case common::RpcResponseHeaderProto::ERROR:
      response.status = RpcResponse::Status::kError;
      return response;
    case common::RpcResponseHeaderProto::FATAL:
      response.status = RpcResponse::Status::kFatal;
      return response;
  }
  const std::optional<std::string_view> body = take_delimited(frame);
  if (!body) return garbled("a response");
  response.body = *body;
  return response;
}

base::Result<SaslMessage> parse_sasl(std::string_view body) {
  common::RpcSaslProto sasl;
  if (!parse(sasl, body)) return garbled("a SASL message");
  SaslMessage message;
  message.state = static_cast<SaslMessage::State>(sasl.state());
  if (sasl.has_token()) message.token = sasl.token();
  for (const common::RpcSaslProto::SaslAuth& entry : sasl.auths()) {
    if (message.offers.size() == kMaxOffers) break;
    SaslOffer offer{.method = entry.method(), .mechanism = entry.mechanism()};
    if (entry.has_protocol()) offer.protocol = entry.protocol();
    if (entry.has_serverid()) offer.server_id = entry.serverid();
    if (entry.has_challenge()) offer.challenge = entry.challenge();
    message.offers.push_back(std::move(offer));
  }
  return message;
}

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
