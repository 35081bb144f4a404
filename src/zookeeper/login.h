#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace gangrun::zookeeper {

// One login by SASL, at one server. All of it is in the loop.
class Login {
 public:
  virtual ~Login() = default;

  // Calls `answered` with what the server is to be told when it has said `challenge`; before it has
  // said anything, that is empty. At once or later, and not once this has gone. An error ends the
  // login: it is a sentence for people.
  virtual void respond(const std::string& challenge,
                       std::function<void(base::Result<std::string>)> answered) = 0;
  // Whether all has been said from our side: what the server says next is for finish().
  [[nodiscard]] virtual bool has_answered() const = 0;
  virtual base::Result<> finish(const std::string& token) = 0;
};

// `host` is how the server was named.
using LoginStart = std::function<std::unique_ptr<Login>(const std::string& host)>;

// By DIGEST-MD5, as ZooKeeper's servers know it: all of them are "zookeeper/zk-sasl-md5".
LoginStart digest_login(const std::string& user, const base::Secret& password);

}  // namespace gangrun::zookeeper
