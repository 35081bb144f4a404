#include "hadoop/credentials.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "hadoop/messages_internal.h"
#include "hadoop/rpc_frames.h"
#include "net/digests.h"

namespace gangrun::hadoop {

namespace {

constexpr std::string_view kMagic = "HDTS";
constexpr char kWritable = 0;
constexpr char kProtobuf = 1;
constexpr int kSmallest = -112;         // that is its own byte
constexpr int kNegativeLengths = -120;  // first bytes below this: -120 - length, complemented
constexpr unsigned kBitsOfAByte = 8;

base::Error cut_off() {
  return base::Error{base::Code::kDataLoss, "Hadoop's credentials are cut off"};
}

base::Error malformed(std::string_view what) {
  return base::invalid_argument(base::format("these are no credentials of Hadoop: {}", what));
}

// Reads what is left of an image of version 0.
class WritableReader {
 public:
  explicit WritableReader(std::string_view bytes) : rest_(bytes) {}

  base::Result<std::int64_t> number() {
    const std::optional<std::int64_t> value = take_variable_integer(rest_);
    if (!value) return cut_off();
    return *value;
  }

  base::Result<std::string> bytes() {
    GANGRUN_ASSIGN(const std::int64_t size, number());
    if (size < 0) return malformed("a length is negative");
    if (size > std::ssize(rest_)) return cut_off();
    std::string taken(rest_.substr(0, static_cast<std::size_t>(size)));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return taken;
  }

  base::Result<Token> token() {
    Token token;
    GANGRUN_ASSIGN(token.identifier, bytes());
    GANGRUN_ASSIGN(std::string password, bytes());
    token.password = base::Secret(std::move(password));
    GANGRUN_ASSIGN(token.kind, bytes());
    GANGRUN_ASSIGN(token.service, bytes());
    return token;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

base::Result<Credentials> parse_writable(std::string_view bytes) {
  WritableReader reader(bytes);
  Credentials credentials;
  // The counts need no limit of their own: each round takes bytes, of which there are so many.
  GANGRUN_ASSIGN(const std::int64_t tokens, reader.number());
  for (std::int64_t i = 0; i < tokens; ++i) {
    GANGRUN_ASSIGN(const std::string alias, reader.bytes());
    GANGRUN_ASSIGN(credentials.tokens[alias], reader.token());
  }
  GANGRUN_ASSIGN(const std::int64_t secrets, reader.number());
  for (std::int64_t i = 0; i < secrets; ++i) {
    GANGRUN_ASSIGN(const std::string alias, reader.bytes());
    GANGRUN_ASSIGN(std::string value, reader.bytes());
    credentials.secrets[alias] = base::Secret(std::move(value));
  }
  if (tokens < 0 || secrets < 0) return malformed("a count is negative");
  return credentials;
}

base::Result<Credentials> parse_protobuf(std::string_view bytes) {
  const std::optional<std::string_view> image = take_delimited(bytes);
  if (!image) return cut_off();
  common::CredentialsProto message;
  if (!message.ParseFromArray(image->data(), static_cast<int>(image->size()))) {
    return malformed("their message cannot be read");
  }
  Credentials credentials;
  for (const common::CredentialsKVProto& entry : message.tokens()) {
    credentials.tokens[entry.alias()] = read(entry.token());
  }
  for (const common::CredentialsKVProto& entry : message.secrets()) {
    credentials.secrets[entry.alias()] = base::Secret(entry.secret());
  }
  return credentials;
}

void append_bytes(std::string& out, std::string_view bytes) {
  append_variable_integer(out, std::ssize(bytes));
  out += bytes;
}

void append_token(std::string& out, const Token& token) {
  append_bytes(out, token.identifier);
  append_bytes(out, token.password.reveal());
  append_bytes(out, token.kind);
  append_bytes(out, token.service);
}

}  // namespace

void append_variable_integer(std::string& out, std::int64_t value) {
  if (value >= kSmallest && value <= 127) {
    out += static_cast<char>(value);
    return;
  }
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? ~value : value);
  int length = 1;
  while (length < 8 && magnitude >> (static_cast<unsigned>(length) * kBitsOfAByte) != 0) ++length;
  out += static_cast<char>((negative ? kNegativeLengths : kSmallest) - length);
  for (int i = length - 1; i >= 0; --i) {
    out += static_cast<char>(magnitude >> (static_cast<unsigned>(i) * kBitsOfAByte));
  }
}

std::optional<std::int64_t> take_variable_integer(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto byte = static_cast<unsigned char>(bytes.front());
  const int first = byte < 128 ? byte : byte - 256;
  if (first >= kSmallest) {
    bytes.remove_prefix(1);
    return first;
  }
  const bool negative = first < kNegativeLengths;
  const auto length = static_cast<std::size_t>((negative ? kNegativeLengths : kSmallest) - first);
  if (bytes.size() < 1 + length) return std::nullopt;
  std::uint64_t magnitude = 0;
  for (const char digit : bytes.substr(1, length)) {
    magnitude = magnitude << kBitsOfAByte | static_cast<unsigned char>(digit);
  }
  bytes.remove_prefix(1 + length);
  return static_cast<std::int64_t>(negative ? ~magnitude : magnitude);
}

base::Result<Credentials> parse_credentials(std::string_view bytes) {
  if (bytes.size() > kMaxCredentialsBytes) {
    return base::Error{
        base::Code::kResourceExhausted,
        base::format("Hadoop's credentials have more than {} bytes", kMaxCredentialsBytes)};
  }
  if (!bytes.starts_with(kMagic.substr(0, std::min(kMagic.size(), bytes.size())))) {
    return malformed("they do not begin with HDTS");
  }
  if (bytes.size() <= kMagic.size()) return cut_off();
  const char version = bytes[kMagic.size()];
  const std::string_view body = bytes.substr(kMagic.size() + 1);
  if (version == kWritable) return parse_writable(body);
  if (version == kProtobuf) return parse_protobuf(body);
  return malformed(base::format("their version is {}; 0 and 1 are known", int{version}));
}

std::string encode_credentials(const Credentials& credentials) {
  std::string out(kMagic);
  out += kWritable;
  append_variable_integer(out, std::ssize(credentials.tokens));
  for (const auto& [alias, token] : credentials.tokens) {
    append_bytes(out, alias);
    append_token(out, token);
  }
  append_variable_integer(out, std::ssize(credentials.secrets));
  for (const auto& [alias, secret] : credentials.secrets) {
    append_bytes(out, alias);
    append_bytes(out, secret.reveal());
  }
  return out;
}

base::Secret to_url_text(const Token& token) {
  std::string bytes;
  append_token(bytes, token);
  std::string text = net::to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return base::Secret(std::move(text));
}

base::Result<Token> token_from_url_text(std::string_view text) {
  const std::optional<std::string> bytes = net::from_base64(text);
  if (!bytes || bytes->size() > kMaxCredentialsBytes) {
    return base::invalid_argument("this is not a token of Hadoop in the form of URLs");
  }
  WritableReader reader(*bytes);
  GANGRUN_ASSIGN(Token token, reader.token());
  if (!reader.at_end()) return malformed("more follows a token");
  return token;
}

}  // namespace gangrun::hadoop
