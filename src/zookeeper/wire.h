#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "zookeeper/node.h"

// The packets between a client and a ZooKeeper server (org.apache.zookeeper.proto, its records in
// the encoding "jute"): frames of a length and a record. Texts and records only, no socket.
namespace gangrun::zookeeper {

// More than any answer to what we ask for has.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20U;

// A server knows a session again by it.
struct SessionKey {
  std::int64_t id = 0;  // 0: a new one
  base::Secret password{};
};

// Numbers of requests that are no operations: none of ours has one of them.
inline constexpr std::int32_t kPingNumber = -2;
inline constexpr std::int32_t kCredentialsNumber = -4;
inline constexpr std::int32_t kNoticeNumber = -1;

// Requests, each as a whole frame.
std::string connect_request(const SessionKey& session, std::chrono::milliseconds timeout,
                            std::int64_t last_transaction);
std::string ping_request();
std::string close_request(std::int32_t number);
// Shows "user:password" by the scheme "digest".
std::string credentials_request(const base::Secret& credentials);
// A step of a login by SASL; the reply has the server's token.
std::string login_request(std::int32_t number, std::string_view token);
std::string operation_request(std::int32_t number, const Operation& operation,
                              const std::vector<Administrator>& administrators);

// The first frame of a connection.
struct Welcome {
  SessionKey session{};
  std::chrono::milliseconds timeout{};  // 0: there is no such session any more
};
base::Result<Welcome> parse_welcome(std::string_view frame);

// Any later one.
struct Reply {
  std::int32_t number = 0;
  std::int64_t transaction = 0;  // the newest that the server knows; not of pings and notices
  std::int32_t code = 0;         // ZooKeeper's KeeperException.Code; 0: done
  std::string_view record{};     // of the frame
};
base::Result<Reply> parse_reply(std::string_view frame);
// The token of a reply to a step of a login that the server has not refused; empty: none.
base::Result<std::string> login_token_of(const Reply& reply);
// The meaning of a refusal that ends the session, as a sentence without its subject; empty: it is
// none.
std::string refusal_of(const Reply& reply);
// The outcome of an operation; `session` is our own. An error: it is no answer to that.
base::Result<ServerAnswer> answer_of(const Reply& reply, const Operation& operation,
                                     std::int64_t session);

}  // namespace gangrun::zookeeper
