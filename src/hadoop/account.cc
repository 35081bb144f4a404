#include "hadoop/account.h"

#include <vector>

#include "base/format.h"
#include "hadoop/configuration.h"
#include "hadoop/server_principal.h"
#include "hadoop/token_source.h"
#include "sasl/gssapi_mechanism.h"

namespace gangrun::hadoop {

namespace {

constexpr const char* kAuthentication = "hadoop.security.authentication";
constexpr const char* kProtection = "hadoop.rpc.protection";

// The protections that hadoop.rpc.protection names; all if it is not set: then the server's word
// counts.
base::Result<std::vector<sasl::Protection>> accepted(const Configuration& configuration) {
  std::vector<sasl::Protection> found;
  for (const std::string& name : configuration.list(kProtection)) {
    const auto protection = sasl::protection_of(name);
    if (!protection) {
      return configuration.error(kProtection, "expected authentication, integrity or privacy");
    }
    found.push_back(*protection);
  }
  if (!found.empty()) return found;
  return std::vector<sasl::Protection>{sasl::Protection::kAuthentication,
                                       sasl::Protection::kIntegrity, sasl::Protection::kPrivacy};
}

}  // namespace

base::Result<bool> is_secured(const Configuration& configuration) {
  const std::string value = configuration.get_or(kAuthentication, "simple");
  if (value == "simple") return false;
  if (value == "kerberos") return true;
  return configuration.error(kAuthentication, "expected simple or kerberos");
}

Login login_of(const Account& account, const Configuration& configuration, std::string_view key) {
  if (account.identity == nullptr) {
    return Login{.user = account.user, .real_user = account.real_user};
  }
  Login login{.user = account.real_user.empty() ? std::string() : account.user};
  login.methods["KERBEROS"] =
      [identity = account.identity, own = std::make_shared<const Configuration>(configuration),
       key = std::string(key)](
          const SaslOffer& offer,
          const std::string& host) -> base::Result<std::unique_ptr<sasl::Mechanism>> {
    GANGRUN_TRY(check_mechanism(offer, "Kerberos", "GSSAPI"));
    GANGRUN_ASSIGN(const sasl::Principal server,
                   server_principal(*own, key, offer, host, addresses_of));
    GANGRUN_ASSIGN(std::vector<sasl::Protection> protections, accepted(*own));
    GANGRUN_ASSIGN(auto context, identity->open(server, sasl::GssMechanism::kKerberos));
    return std::unique_ptr<sasl::Mechanism>(
        std::make_unique<sasl::Gssapi>(std::move(context), std::move(protections),
                                       base::format("{} of this configuration", kProtection)));
  };
  return login;
}

std::shared_ptr<WebLogin> web_login_of(const Account& account) {
  if (account.identity == nullptr) return nullptr;
  return std::make_shared<WebLogin>([identity = account.identity](const std::string& host) {
    // RFC 4559, 4.1: the service is called HTTP, whatever its own principal is called.
    return identity->open(sasl::Principal{{"HTTP", host}, ""}, sasl::GssMechanism::kNegotiate);
  });
}

}  // namespace gangrun::hadoop
