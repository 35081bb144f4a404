#include "sasl/failure.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::sasl {

namespace {

using base::Code;

// The beginning of MIT's table of errors: -1765328384.
constexpr std::uint32_t kFirstCode = 0x96c73a00U;
constexpr std::uint32_t kCodes = 256;
// The part of a major status that says what went wrong in the call itself.
constexpr std::uint32_t kRoutineMask = 0xff0000U;
constexpr std::uint32_t kCredentialsExpired = 11U << 16U;
constexpr std::size_t kMaxTextBytes = 300;

enum class Kind {
  // About the user.
  kNoTicket,
  kExpired,
  kUnknownClient,
  kOldPassword,
  kLocked,
  kWrongKey,
  // About the place.
  kSkew,
  kUnknownServer,
  kServerKey,
  kNoConfiguration,
  kNobodyAnswers,
  kBadCache,
  kOther,
};

struct Row {
  std::uint32_t code;      // from kFirstCode
  std::string_view words;  // in the text, where the code is not the library's own
  Kind kind;
};

// SPNEGO and a library that numbers errors by itself give codes of their own: then the words tell.
constexpr std::array<Row, 23> kRows{{
    {32, "Ticket expired", Kind::kExpired},
    {37, "Clock skew too great", Kind::kSkew},
    {148, "Clock skew too great in KDC reply", Kind::kSkew},
    {33, "Ticket not yet valid", Kind::kSkew},
    {1, "Client's entry in database has expired", Kind::kLocked},
    {18, "Client's credentials have been revoked", Kind::kLocked},
    {6, "not found in Kerberos database while getting initial credentials", Kind::kUnknownClient},
    {7, "Server not found in Kerberos database", Kind::kUnknownServer},
    {23, "Password has expired", Kind::kOldPassword},
    {24, "Preauthentication failed", Kind::kWrongKey},
    {31, "Decrypt integrity check failed", Kind::kWrongKey},
    {41, "Message stream modified", Kind::kServerKey},
    {154, "Cannot find KDC for", Kind::kNoConfiguration},
    {156, "Cannot contact any KDC", Kind::kNobodyAnswers},
    {220, "Cannot resolve network address for KDC", Kind::kNobodyAnswers},
    {224, "does not specify default realm", Kind::kNoConfiguration},
    {217, "Cannot determine realm for", Kind::kNoConfiguration},
    {135, "Can't open/find Kerberos configuration file", Kind::kNoConfiguration},
    {136, "Improper format of Kerberos configuration file", Kind::kNoConfiguration},
    {194, "Credentials cache permissions incorrect", Kind::kBadCache},
    {199, "Bad format in credentials cache", Kind::kBadCache},
    {195, "No credentials cache found", Kind::kNoTicket},
    {141, "No Kerberos credentials available", Kind::kNoTicket},
}};

Kind kind_of(const Failure& failure) {
  if ((failure.major & kRoutineMask) == kCredentialsExpired) return Kind::kExpired;
  const std::uint32_t code = failure.minor - kFirstCode;
  if (failure.minor >= kFirstCode && code < kCodes) {
    const auto* const row = std::ranges::find(kRows, code, &Row::code);
    if (row != kRows.end()) return row->kind;
  }
  const auto* const row = std::ranges::find_if(kRows, [&failure](const Row& one) {
    return failure.text.find(one.words) != std::string::npos;
  });
  return row == kRows.end() ? Kind::kOther : row->kind;
}

std::string or_else(const std::string& text, std::string_view otherwise) {
  return text.empty() ? std::string(otherwise) : text;
}

// How to get a ticket.
std::string ticket_command(const LoginAttempt& attempt) {
  if (!attempt.keytab.empty()) {
    return base::format("kinit -kt {} {}", base::shell_quote(attempt.keytab), attempt.client);
  }
  return attempt.client.empty() ? "kinit" : "kinit " + attempt.client;
}

base::Error about_the_user(Kind kind, const LoginAttempt& attempt) {
  const std::string who = or_else(attempt.client, "the user");
  const auto error = [](std::string message) {
    return base::Error{Code::kUnauthenticated, std::move(message)};
  };
  switch (kind) {
    case Kind::kNoTicket:
      if (!attempt.keytab.empty()) {
        return error(base::format("the keytab {} gives {} no ticket; try: {}", attempt.keytab, who,
                                  ticket_command(attempt)));
      }
      return error(base::format(
          "there is no Kerberos ticket{}: run {}, or give --principal and --keytab",
          attempt.client.empty() ? "" : " of " + attempt.client, ticket_command(attempt)));
    case Kind::kExpired:
      // The library does not always say whose it was.
      return error(base::format("the Kerberos ticket{}{} has expired: run {}",
                                attempt.client.empty() ? "" : " of ", attempt.client,
                                ticket_command(attempt)));
    case Kind::kUnknownClient:
      return error(
          base::format("the KDC does not know {}: klist shows who the ticket is of, --principal "
                       "says who it is to be",
                       who));
    case Kind::kOldPassword:
      return error(
          base::format("the password of {} has expired: run kpasswd {}", who, attempt.client));
    case Kind::kLocked:
      return error(base::format(
          "the KDC has locked {}, or its account has expired: ask who administers the realm", who));
    default:
      return error(
          base::format("the KDC does not take the key of {}: it was changed since{}; try: {}", who,
                       attempt.keytab.empty() ? "" : " " + attempt.keytab + " was made",
                       ticket_command(attempt)));
  }
}

base::Error about_the_place(Kind kind, const Failure& failure, const LoginAttempt& attempt) {
  const std::string server = or_else(attempt.server, "the server");
  const std::string text = base::shorten(failure.text, kMaxTextBytes);
  switch (kind) {
    case Kind::kSkew:
      return {Code::kUnauthenticated,
              "the clock of this machine and that of the KDC or of the server differ by more than "
              "Kerberos allows (5 minutes): date shows this one's, chronyc tracking how far it is "
              "off"};
    case Kind::kUnknownServer:
      return {Code::kUnauthenticated,
              base::format("the KDC knows no server {0}: the host in Hadoop's configuration must "
                           "be called as in the server's principal; try: kvno {0}",
                           server)};
    case Kind::kServerKey:
      return {Code::kUnauthenticated,
              base::format("{0} cannot read what the KDC made for it: its keytab is older than its "
                           "key; try: kvno {0}",
                           server)};
    case Kind::kNoConfiguration:
      return {Code::kFailedPrecondition,
              base::format("Kerberos is not set up on this machine for that realm ({}): the "
                           "cluster's krb5.conf belongs into /etc, or KRB5_CONFIG names it",
                           text)};
    case Kind::kNobodyAnswers:
      return {Code::kUnavailable,
              base::format("no KDC answers: {}; try: {}", text, ticket_command(attempt))};
    case Kind::kBadCache:
      return {
          Code::kUnauthenticated,
          base::format("the ticket cache cannot be read ({}): klist shows which it is, {} makes "
                       "another",
                       text, ticket_command(attempt))};
    default: break;
  }
  return {Code::kUnauthenticated,
          base::format("Kerberos{}: {}", attempt.server.empty() ? "" : " with " + attempt.server,
                       text)};
}

}  // namespace

base::Error to_error(const Failure& failure, const LoginAttempt& attempt) {
  const Kind kind = kind_of(failure);
  return kind <= Kind::kWrongKey ? about_the_user(kind, attempt)
                                 : about_the_place(kind, failure, attempt);
}

}  // namespace gangrun::sasl
