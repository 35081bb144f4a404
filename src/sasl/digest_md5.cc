#include "sasl/digest_md5.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/hex.h"
#include "base/strings.h"
#include "net/digests.h"

namespace gangrun::sasl {

namespace {

constexpr std::size_t kMaxChallengeBytes = std::size_t{64} << 10U;
constexpr std::size_t kMacBytes = 10;
constexpr std::string_view kMessageType("\x00\x01", 2);
constexpr std::size_t kSequenceBytes = 4;
constexpr std::size_t kTrailerBytes = kMacBytes + kMessageType.size() + kSequenceBytes;
// The bytes that a server takes at once if it names no limit, and the most that we take of its
// limit.
constexpr std::int64_t kDefaultMaxBuffer = 65536;
constexpr std::int64_t kMinMaxBuffer = 256;
constexpr std::string_view kNonceCount = "00000001";  // a login is done once for each connection
constexpr std::size_t kClientNonceBytes = 24;

base::Error wrong_digest(std::string_view what) {
  return base::Error{base::Code::kUnauthenticated, base::format("DIGEST-MD5: {}", what)};
}

// By the names of the levels ("qop").
constexpr std::array<std::pair<std::string_view, Protection>, 3> kLevels{
    {{"auth", Protection::kAuthentication},
     {"auth-int", Protection::kIntegrity},
     {"auth-conf", Protection::kPrivacy}}};

std::string_view name_of(Protection protection) {
  return std::ranges::find(kLevels, protection, &decltype(kLevels)::value_type::second)->first;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + '"';
}

std::string big_endian(std::uint32_t number) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
  return out;
}

// The value at the front of `text`, which goes on behind it.
base::Result<std::string> take_value(std::string_view& text) {
  std::string value;
  if (!text.starts_with('"')) {
    const std::size_t end = std::min(text.find(','), text.size());
    value = base::trim(text.substr(0, end));
    text.remove_prefix(end);
    return value;
  }
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && ++i == text.size()) break;
    value += text[i];
  }
  return wrong_digest("the challenge has an open quote");
}

void skip(std::string_view& text, std::string_view what) {
  text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
}

std::string directive_of(const std::map<std::string, std::string>& directives, const char* name) {
  const auto found = directives.find(name);
  return found == directives.end() ? "" : found->second;
}

bool has_word(std::string_view list, std::string_view word) {
  const std::vector<std::string> parts = base::split(list, ',');
  return std::ranges::any_of(parts,
                             [word](const std::string& part) { return base::trim(part) == word; });
}

}  // namespace

base::Result<std::map<std::string, std::string>> parse_digest_directives(std::string_view text) {
  if (text.size() > kMaxChallengeBytes) return wrong_digest("the challenge is too long");
  std::map<std::string, std::string> directives;
  while (true) {
    skip(text, ", \t\r\n");
    if (text.empty()) return directives;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      return wrong_digest("the challenge has a name without value");
    }
    std::string name(base::trim(text.substr(0, equals)));
    text.remove_prefix(equals + 1);
    skip(text, " \t\r\n");
    GANGRUN_ASSIGN(std::string value, take_value(text));
    directives.emplace(std::move(name), std::move(value));
  }
}

std::string DigestMd5::new_nonce() { return net::to_base64(net::random_bytes(kClientNonceBytes)); }

// The first level that the server offers: it knows what its cluster wants.
base::Result<> DigestMd5::choose_protection(const std::map<std::string, std::string>& challenge) {
  const std::string offered = challenge.contains("qop") ? challenge.at("qop") : "auth";
  const std::string cipher = directive_of(challenge, "cipher");
  for (const std::string& part : base::split(offered, ',')) {
    for (const auto& [name, protection] : kLevels) {
      const bool can = protection != Protection::kPrivacy || has_word(cipher, "rc4");
      if (base::trim(part) != name || !can) continue;
      protection_ = protection;
      return {};
    }
  }
  return wrong_digest(
      base::format("the server wants protection \"{}\" with cipher \"{}\"; known are auth, "
                   "auth-int and auth-conf with rc4",
                   offered, cipher));
}

void DigestMd5::derive_keys(std::string_view challenge_nonce, std::string_view realm) {
  nonce_ = challenge_nonce;
  const base::Secret user_hash(
      net::md5(base::format("{}:{}:{}", identity_.user, realm, identity_.password.reveal())));
  session_hash_ = base::Secret(
      net::md5(base::format("{}:{}:{}", user_hash.reveal(), nonce_, identity_.client_nonce)));
}

DigestMd5::Guard DigestMd5::guard(std::string_view direction) const {
  Guard guard;
  guard.signing_key = base::Secret(net::md5(base::format(
      "{}Digest session key to {} signing key magic constant", session_hash_.reveal(), direction)));
  if (protection_ == Protection::kPrivacy) {
    const base::Secret sealing(net::md5(base::format(
        "{}Digest H(A1) to {} sealing key magic constant", session_hash_.reveal(), direction)));
    guard.cipher.emplace(sealing.reveal());
  }
  return guard;
}

// The proof that the password is known: with "AUTHENTICATE" to the server, without to the client.
std::string DigestMd5::proof(std::string_view verb) const {
  std::string what = base::format("{}:{}", verb, identity_.digest_uri);
  if (protection_ != Protection::kAuthentication) what += ":" + std::string(32, '0');
  return base::to_hex(net::md5(
      base::format("{}:{}:{}:{}:{}:{}", base::to_hex(session_hash_.reveal()), nonce_, kNonceCount,
                   identity_.client_nonce, name_of(protection_), base::to_hex(net::md5(what)))));
}

base::Result<std::string> DigestMd5::respond(std::string_view challenge) {
  if (responded_) return wrong_digest("the server asks again");
  GANGRUN_TRY(net::check_md5());
  GANGRUN_ASSIGN(const auto directives, parse_digest_directives(challenge));
  const std::string nonce = directive_of(directives, "nonce");
  if (nonce.empty()) return wrong_digest("the challenge has no nonce");
  if (directive_of(directives, "algorithm") != "md5-sess") {
    return wrong_digest(base::format("the algorithm is \"{}\"; md5-sess is known",
                                     directive_of(directives, "algorithm")));
  }
  GANGRUN_TRY(choose_protection(directives));
  const std::int64_t max_buffer =
      base::parse_integer(directive_of(directives, "maxbuf")).value_or(kDefaultMaxBuffer);
  max_piece_bytes_ = static_cast<std::size_t>(
      std::clamp(max_buffer, kMinMaxBuffer, kDefaultMaxBuffer) - std::ssize(kMessageType) -
      static_cast<std::int64_t>(kMacBytes + kSequenceBytes));
  const std::string realm = directive_of(directives, "realm");
  derive_keys(nonce, realm);
  outgoing_ = guard("client-to-server");
  incoming_ = guard("server-to-client");
  responded_ = true;
  return base::format(
      "charset=utf-8,username={},realm={},nonce={},nc={},cnonce={},digest-uri={},maxbuf={},"
      "response={},qop={}{}",
      in_quotes(identity_.user), in_quotes(realm), in_quotes(nonce), kNonceCount,
      in_quotes(identity_.client_nonce), in_quotes(identity_.digest_uri), kDefaultMaxBuffer,
      proof("AUTHENTICATE"), name_of(protection_),
      protection_ == Protection::kPrivacy ? ",cipher=\"rc4\"" : "");
}

base::Result<> DigestMd5::finish(std::string_view token) {
  if (!responded_) return wrong_digest("the server is content without an answer");
  GANGRUN_ASSIGN(const auto directives, parse_digest_directives(token));
  const base::Secret expected(proof(""));
  if (!expected.matches(directive_of(directives, "rspauth"))) {
    return wrong_digest("the server does not prove that it knows the secret");
  }
  return {};
}

base::Result<std::string> DigestMd5::wrap(std::string_view piece) {
  const std::string sequence = big_endian(outgoing_.sequence++);
  const std::string mac =
      net::hmac_md5(outgoing_.signing_key.reveal(), sequence + std::string(piece))
          .substr(0, kMacBytes);
  std::string guarded = std::string(piece) + mac;
  if (outgoing_.cipher) guarded = outgoing_.cipher->apply(guarded);
  return guarded.append(kMessageType).append(sequence);
}

base::Result<std::string> DigestMd5::unwrap(std::string_view token) {
  if (token.size() < kTrailerBytes) return wrong_digest("a guarded piece is too short");
  const std::string sequence = big_endian(incoming_.sequence++);
  const std::string_view trailer = token.substr(token.size() - kTrailerBytes + kMacBytes);
  if (trailer != std::string(kMessageType) + sequence) {
    return wrong_digest("a guarded piece is out of its order");
  }
  std::string guarded(token.substr(0, token.size() - trailer.size()));
  if (incoming_.cipher) guarded = incoming_.cipher->apply(guarded);
  const std::string mac = guarded.substr(guarded.size() - kMacBytes);
  guarded.resize(guarded.size() - kMacBytes);
  const base::Secret expected(
      net::hmac_md5(incoming_.signing_key.reveal(), sequence + guarded).substr(0, kMacBytes));
  if (!expected.matches(mac)) return wrong_digest("a guarded piece was changed on its way");
  return guarded;
}

}  // namespace gangrun::sasl
