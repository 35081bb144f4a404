#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/account.h"
#include "hadoop/credentials.h"
#include "hadoop/delegation_token.h"

namespace gangrun::hadoop {

class Configuration;

// The tokens that a job needs.
struct TokensWanted {
  std::vector<std::string> file_systems;  // URLs, beside the configuration's own one
  // The principal that may renew them; empty: the ResourceManager, which does so for an
  // application's own tokens.
  std::string renewer{};
};

// Gets them from every NameNode and from the ResourceManager, each under its service's name as
// Hadoop's own programs look for it; empty on a cluster without Kerberos. Blocks until `deadline`
// at most, several questions one after the other. Errors name the server.
base::Result<Credentials> fetch_tokens(const Configuration& configuration, const Account& account,
                                       const TokensWanted& wanted, base::Instant deadline);

struct FreshTokens {
  Credentials credentials;
  base::WallTime ends;  // of the first that ends when nobody renews it
};

// The same for whoever gets new ones before these end, so that nobody has to renew them: each is
// renewed once, which is how one is told when it ends. The account is their renewer.
base::Result<FreshTokens> fetch_own_tokens(const Configuration& configuration,
                                           const Account& account,
                                           const std::vector<std::string>& file_systems,
                                           base::Instant deadline);

// The token in the token file for the file system whose tokens are for `service`, in WebHDFS' form;
// empty: none.
base::Secret web_hdfs_token(const Credentials& credentials, const std::string& service);

// By name and address, in this process; for token_service().
std::vector<std::string> addresses_of(const std::string& host);

}  // namespace gangrun::hadoop
