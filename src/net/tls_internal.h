#pragma once

#include "net/asio_internal.h"
//
#include <array>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/certificate.h"

namespace gangrun::net {

using Sha256 = std::array<std::uint8_t, 32>;

// Memory for private keys: locked where the limit of the process allows so much, and in no core
// file. OpenSSL keeps the key that a handshake has made as long as its connection, in 32 bytes
// there, and takes keys from nowhere else: without room no handshake succeeds. Pages that nobody
// has written to cost nothing.
inline constexpr std::size_t kSecureHeapBytes = std::size_t{1} << 20U;

// Makes OpenSSL ready, without the configuration file of the machine: a static program could not
// load the modules that it names. Cheap when it has been done.
void initialise_openssl();

// The text of OpenSSL's first pending error; forgets all of them.
std::string take_openssl_error();

std::string to_hex(const Sha256& digest);

// TLS 1.3 and nothing older.
base::Result<std::shared_ptr<asio::ssl::context>> server_tls(const JobCertificate& certificate);
// For clients that compare the fingerprint themselves, after the handshake.
base::Result<std::shared_ptr<asio::ssl::context>> client_tls();
// For clients of servers that are not ours: TLS 1.2 and newer, and somebody must vouch for the
// server: those in `authorities_file` (PEM), or those whom the system trusts when it is empty.
base::Result<std::shared_ptr<asio::ssl::context>> authorities_tls(
    const std::string& authorities_file);
// The same with the authorities' certificates themselves (PEM); any of them may vouch, a root or
// not.
base::Result<std::shared_ptr<asio::ssl::context>> authorities_pem_tls(
    const std::string& authorities_pem);

// From now on the connections of `context`, all of them to one server, go on with the newest TLS
// session that one of them was given: that saves most of a handshake.
base::Result<> keep_session(SSL_CTX* context);
// Before the handshake of a client: offers the session that is kept, if there is one.
void continue_session(SSL* tls);

// SHA-256 of the certificate that the other side has shown; "" when it showed none.
std::string peer_fingerprint(SSL* tls);

}  // namespace gangrun::net
