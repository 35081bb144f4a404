#include "zookeeper/wire.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "net/frames.h"

namespace gangrun::zookeeper {

namespace {

// ZooDefs.OpCode.
enum class Opcode : std::int32_t {
  kCreate = 1,
  kDelete = 2,
  kExists = 3,
  kSetData = 5,
  kPing = 11,
  kCreateContainer = 19,
  kAuth = 100,
  kSasl = 102,
  kCloseSession = -11,
};

// ZooDefs.Perms.
constexpr std::int32_t kRead = 1;
constexpr std::int32_t kAll = 31;

constexpr std::int32_t kAnyVersion = -1;
constexpr std::size_t kPasswordBytes = 16;

// KeeperException.Code: those that end a session.
constexpr std::int32_t kAuthFailed = -115;
constexpr std::int32_t kLoginDemanded = -124;  // SESSIONCLOSEDREQUIRESASLAUTH

// Those that mean something to us, with the reason of a failure; 0 is success.
struct Meaning {
  std::int32_t code;
  ServerAnswer::Code meaning;
  const char* reason = "";
};
constexpr std::array<Meaning, 12> kMeanings{{
    {-110, ServerAnswer::Code::kExists},     // NODEEXISTS
    {-101, ServerAnswer::Code::kMissing},    // NONODE
    {-111, ServerAnswer::Code::kNotEmpty},   // NOTEMPTY
    {-6, ServerAnswer::Code::kUnsupported},  // UNIMPLEMENTED
    {-4, ServerAnswer::Code::kLost},         // CONNECTIONLOSS
    {-7, ServerAnswer::Code::kLost},         // OPERATIONTIMEOUT
    {-112, ServerAnswer::Code::kLost},       // SESSIONEXPIRED
    {-118, ServerAnswer::Code::kLost},       // SESSIONMOVED
    {-127, ServerAnswer::Code::kLost},       // THROTTLEDOP
    {-102, ServerAnswer::Code::kFailed, "its ACL does not let the job do that"},    // NOAUTH
    {-114, ServerAnswer::Code::kFailed, "the server does not take the job's ACL"},  // INVALIDACL
    {-125, ServerAnswer::Code::kFailed, "a quota is exceeded"},                     // QUOTAEXCEEDED
}};

// A record; integers have the highest byte first.
class Writer {
 public:
  Writer& put(std::int32_t value) { return put_bytes(static_cast<std::uint32_t>(value), 4); }
  Writer& put(std::int64_t value) { return put_bytes(static_cast<std::uint64_t>(value), 8); }
  Writer& put(bool value) { return put_bytes(value ? 1U : 0U, 1); }
  Writer& put(std::string_view text) {
    put(static_cast<std::int32_t>(text.size()));
    record_ += text;
    return *this;
  }
  [[nodiscard]] std::string frame() const { return net::framed(record_); }

 private:
  Writer& put_bytes(std::uint64_t value, std::size_t count) {
    constexpr unsigned kByteBits = 8;
    for (std::size_t i = count; i-- > 0;) {
      record_ += static_cast<char>((value >> (i * kByteBits)) & 0xffU);
    }
    return *this;
  }

  std::string record_;
};

class Reader {
 public:
  explicit Reader(std::string_view record) : rest_(record) {}

  base::Result<std::int32_t> int32() {
    GANGRUN_ASSIGN(const std::uint64_t value, integer(4));
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  }
  base::Result<std::int64_t> int64() {
    GANGRUN_ASSIGN(const std::uint64_t value, integer(8));
    return static_cast<std::int64_t>(value);
  }
  base::Result<std::string_view> bytes() {
    GANGRUN_ASSIGN(const std::int32_t size, int32());
    // -1 stands for none.
    if (size < -1) return too_short();
    return take(static_cast<std::size_t>(std::max(size, 0)));
  }
  base::Result<std::string_view> take(std::size_t count) {
    if (rest_.size() < count) return too_short();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  static base::Error too_short() {
    return base::invalid_argument("it does not speak as ZooKeeper does: a record is cut short");
  }
  base::Result<std::uint64_t> integer(std::size_t count) {
    constexpr unsigned kByteBits = 8;
    GANGRUN_ASSIGN(const std::string_view bytes, take(count));
    std::uint64_t value = 0;
    for (const char byte : bytes) {
      value = (value << kByteBits) | static_cast<unsigned char>(byte);
    }
    return value;
  }

  std::string_view rest_;
};

Writer request(std::int32_t number, Opcode opcode) {
  Writer writer;
  writer.put(number).put(static_cast<std::int32_t>(opcode));
  return writer;
}

void put_acl(Writer& writer, Access access, const std::vector<Administrator>& administrators) {
  struct Entry {
    std::int32_t rights;
    std::string_view scheme;
    std::string_view id;
  };
  std::vector<Entry> entries;
  if (access != Access::kAnyone) {
    // Whoever this session has shown to be.
    entries.push_back({kAll, "auth", ""});
    for (const Administrator& each : administrators) {
      entries.push_back({kAll, each.scheme, each.id});
    }
  }
  if (access != Access::kOwner) {
    entries.push_back({access == Access::kAnyone ? kAll : kRead, "world", "anyone"});
  }
  writer.put(static_cast<std::int32_t>(entries.size()));
  for (const Entry& each : entries) writer.put(each.rights).put(each.scheme).put(each.id);
}

// CreateMode.toFlag().
std::int32_t flags_of(Kind kind) {
  switch (kind) {
    case Kind::kPersistent: return 0;
    case Kind::kEphemeral: return 1;
    case Kind::kContainer: return 4;
  }
  return 0;
}

// The record Stat of an answer to exists.
base::Result<std::int64_t> ephemeral_owner(std::string_view record) {
  // czxid, mzxid, ctime, mtime; version, cversion, aversion.
  constexpr std::size_t kBefore = 4 * 8 + 3 * 4;
  Reader reader(record);
  GANGRUN_TRY(reader.take(kBefore));
  return reader.int64();
}

}  // namespace

std::string connect_request(const SessionKey& session, std::chrono::milliseconds timeout,
                            std::int64_t last_transaction) {
  constexpr std::int32_t kProtocolVersion = 0;
  const std::string no_password(kPasswordBytes, '\0');
  Writer writer;
  writer.put(kProtocolVersion)
      .put(last_transaction)
      .put(static_cast<std::int32_t>(timeout.count()))
      .put(session.id)
      .put(std::string_view(session.id == 0 ? no_password : session.password.reveal()))
      .put(false);  // a server that may only be read is of no use
  return writer.frame();
}

std::string ping_request() { return request(kPingNumber, Opcode::kPing).frame(); }

std::string close_request(std::int32_t number) {
  return request(number, Opcode::kCloseSession).frame();
}

std::string credentials_request(const base::Secret& credentials) {
  constexpr std::int32_t kAuthType = 0;
  Writer writer = request(kCredentialsNumber, Opcode::kAuth);
  writer.put(kAuthType).put(std::string_view("digest")).put(std::string_view(credentials.reveal()));
  return writer.frame();
}

std::string login_request(std::int32_t number, std::string_view token) {
  Writer writer = request(number, Opcode::kSasl);
  writer.put(token);
  return writer.frame();
}

std::string operation_request(std::int32_t number, const Operation& operation,
                              const std::vector<Administrator>& administrators) {
  const Node& node = operation.node;
  const std::string_view path = node.path;
  const std::string_view data = node.data;
  Writer writer;
  switch (operation.verb) {
    case Operation::Verb::kCreate:
      writer = request(number,
                       node.kind == Kind::kContainer ? Opcode::kCreateContainer : Opcode::kCreate);
      writer.put(path).put(data);
      put_acl(writer, node.access, administrators);
      writer.put(flags_of(node.kind));
      break;
    case Operation::Verb::kSet:
      writer = request(number, Opcode::kSetData);
      writer.put(path).put(data).put(kAnyVersion);
      break;
    case Operation::Verb::kDelete:
      writer = request(number, Opcode::kDelete);
      writer.put(path).put(kAnyVersion);
      break;
    case Operation::Verb::kLook:
      writer = request(number, Opcode::kExists);
      writer.put(path).put(false);  // we watch nothing
      break;
  }
  return writer.frame();
}

base::Result<Welcome> parse_welcome(std::string_view frame) {
  Reader reader(frame);
  GANGRUN_TRY(reader.int32());  // the version of the protocol, which nobody looks at
  GANGRUN_ASSIGN(const std::int32_t timeout, reader.int32());
  Welcome welcome;
  GANGRUN_ASSIGN(welcome.session.id, reader.int64());
  GANGRUN_ASSIGN(const std::string_view password, reader.bytes());
  welcome.session.password = base::Secret(std::string(password));
  welcome.timeout = std::chrono::milliseconds(std::max(timeout, 0));
  return welcome;
}

base::Result<Reply> parse_reply(std::string_view frame) {
  Reader reader(frame);
  Reply reply;
  GANGRUN_ASSIGN(reply.number, reader.int32());
  GANGRUN_ASSIGN(reply.transaction, reader.int64());
  GANGRUN_ASSIGN(reply.code, reader.int32());
  reply.record = reader.rest();
  return reply;
}

base::Result<std::string> login_token_of(const Reply& reply) {
  Reader reader(reply.record);
  GANGRUN_ASSIGN(const std::string_view token, reader.bytes());
  return std::string(token);
}

std::string refusal_of(const Reply& reply) {
  switch (reply.code) {
    case kAuthFailed: return "it refuses the job's login";
    case kLoginDemanded:
      return "it demands a login by SASL, by a scheme that the job does not use (zookeeper.login)";
    default: return "";
  }
}

base::Result<ServerAnswer> answer_of(const Reply& reply, const Operation& operation,
                                     std::int64_t session) {
  if (reply.code == 0) {
    if (operation.verb != Operation::Verb::kLook) return ServerAnswer{};
    GANGRUN_ASSIGN(const std::int64_t owner, ephemeral_owner(reply.record));
    return ServerAnswer{.is_ours = owner == session};
  }
  const auto* const found = std::ranges::find(kMeanings, reply.code, &Meaning::code);
  if (found != kMeanings.end())
    return ServerAnswer{.code = found->meaning, .reason = found->reason};
  return ServerAnswer{.code = ServerAnswer::Code::kFailed,
                      .reason = base::format("the server says error {}", reply.code)};
}

}  // namespace gangrun::zookeeper
