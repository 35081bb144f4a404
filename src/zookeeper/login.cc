#include "zookeeper/login.h"

#include <utility>

#include "base/format.h"
#include "sasl/digest_md5.h"

namespace gangrun::zookeeper {

namespace {

constexpr const char* kDigestUri = "zookeeper/zk-sasl-md5";

class DigestLogin final : public Login {
 public:
  DigestLogin(const std::string& user, const base::Secret& password)
      : user_(user),
        mechanism_({.user = user,
                    .password = password,
                    .digest_uri = kDigestUri,
                    .client_nonce = sasl::DigestMd5::new_nonce()}) {}

  void respond(const std::string& challenge,
               std::function<void(base::Result<std::string>)> answered) override {
    // The server speaks first.
    answered(std::exchange(has_begun_, true) ? mechanism_.respond(challenge)
                                             : base::Result<std::string>(""));
  }
  [[nodiscard]] bool has_answered() const override { return mechanism_.has_answered(); }
  base::Result<> finish(const std::string& token) override {
    return mechanism_.finish(token).context(base::format("the login as {}", user_));
  }

 private:
  const std::string user_;
  sasl::DigestMd5 mechanism_;
  bool has_begun_ = false;
};

}  // namespace

LoginStart digest_login(const std::string& user, const base::Secret& password) {
  return [user, password](const std::string&) -> std::unique_ptr<Login> {
    return std::make_unique<DigestLogin>(user, password);
  };
}

}  // namespace gangrun::zookeeper
