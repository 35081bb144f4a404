#pragma once

#include <openssl/sha.h>

#include <string>

#include "base/format.h"
#include "net/digests.h"

// For tests.
namespace gangrun::net {

// The answer of a server to a wish for a WebSocket (RFC 6455, 1.3), which has these fields.
inline std::string websocket_consent(const std::string& wish, const std::string& subprotocol) {
  const std::string name = "Sec-WebSocket-Key: ";
  const std::size_t begin = wish.find(name) + name.size();
  const std::string key =
      wish.substr(begin, wish.find('\r', begin) - begin) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::string digest(SHA_DIGEST_LENGTH, 0);
  SHA1(reinterpret_cast<const unsigned char*>(key.data()), key.size(),
       reinterpret_cast<unsigned char*>(digest.data()));
  const std::string chosen =
      subprotocol.empty() ? "" : "Sec-WebSocket-Protocol: " + subprotocol + "\r\n";
  return base::format(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: {}\r\n{}\r\n",
      to_base64(digest), chosen);
}

}  // namespace gangrun::net
