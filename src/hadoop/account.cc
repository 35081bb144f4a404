#include "hadoop/account.h"

#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "hadoop/configuration.h"
#include "hadoop/gssapi_sasl.h"
#include "hadoop/server_principal.h"
#include "hadoop/token_source.h"

namespace gangrun::hadoop {

namespace {

constexpr const char* kAuthentication = "hadoop.security.authentication";
constexpr const char* kProtection = "hadoop.rpc.protection";

// What hadoop.rpc.protection names; all where it is not set: then the server's word counts.
base::Result<std::vector<Protection>> accepted(const Configuration& configuration) {
  std::vector<Protection> found;
  for (const std::string& name : configuration.list(kProtection)) {
    if (name == "authentication") {
      found.push_back(Protection::kAuthentication);
    } else if (name == "integrity") {
      found.push_back(Protection::kIntegrity);
    } else if (name == "privacy") {
      found.push_back(Protection::kPrivacy);
    } else {
      return configuration.error(kProtection, "expected authentication, integrity or privacy");
    }
  }
  if (!found.empty()) return found;
  return std::vector<Protection>{Protection::kAuthentication, Protection::kIntegrity,
                                 Protection::kPrivacy};
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
          const std::string& host) -> base::Result<std::unique_ptr<SaslMechanism>> {
    if (offer.mechanism != "GSSAPI") {
      return base::Error{base::Code::kFailedPrecondition,
                         base::format("the server wants Kerberos by {}; GSSAPI is known",
                                      base::shorten(offer.mechanism, 64))};
    }
    GANGRUN_ASSIGN(const kerberos::Principal server,
                   server_principal(*own, key, offer, host, addresses_of));
    GANGRUN_ASSIGN(std::vector<Protection> protections, accepted(*own));
    GANGRUN_ASSIGN(auto context, identity->open(server, kerberos::Mechanism::kKerberos));
    return std::unique_ptr<SaslMechanism>(
        std::make_unique<GssapiSasl>(std::move(context), std::move(protections)));
  };
  return login;
}

std::shared_ptr<WebLogin> web_login_of(const Account& account) {
  if (account.identity == nullptr) return nullptr;
  return std::make_shared<WebLogin>([identity = account.identity](const std::string& host) {
    // RFC 4559, 4.1: the service is called HTTP, whatever its own principal is called.
    return identity->open(kerberos::Principal{{"HTTP", host}, ""}, kerberos::Mechanism::kNegotiate);
  });
}

}  // namespace gangrun::hadoop
