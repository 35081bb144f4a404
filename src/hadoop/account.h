#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "hadoop/sasl_handshake.h"
#include "hadoop/web_login.h"
#include "sasl/identity.h"

namespace gangrun::hadoop {

class Configuration;

// The user that we are to a cluster, and how that is proved. Copies share the tickets.
struct Account {
  Account() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a name is an account where names are believed
  Account(std::string name) : user(std::move(name)) {}

  std::string user;         // as the cluster calls whom the jobs and the files belong to
  std::string real_user{};  // who acts for that user (a proxy user); empty: the user
  // Null: the cluster believes what it is told.
  std::shared_ptr<const sasl::Identity> identity{};
};

// hadoop.security.authentication. kInvalidArgument where it is neither "simple" nor "kerberos".
base::Result<bool> is_secured(const Configuration& configuration);

// How to log in at a service whose principal stands under `key` ("yarn.resourcemanager.principal").
Login login_of(const Account& account, const Configuration& configuration, std::string_view key);

// How to log in at web servers; null where no login is needed.
std::shared_ptr<WebLogin> web_login_of(const Account& account);

}  // namespace gangrun::hadoop
