#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sasl/identity.h"

// Kerberos as tests have it: tokens and guards that can be read.
namespace gangrun::sasl {

// Says "ticket", and "ticket2" to the answer where `rounds` is 2; is content with "server".
class TestContext final : public SecurityContext {
 public:
  explicit TestContext(int rounds = 1) : rounds_(rounds) {}

  base::Result<std::string> step(std::string_view token) override {
    if (token.empty()) return std::string("ticket");
    if (token != "server") return base::Error{base::Code::kUnauthenticated, "not the server"};
    established_ = true;
    return rounds_ == 2 ? std::string("ticket2") : std::string();
  }
  [[nodiscard]] bool established() const override { return established_; }

  // "s:" stands before what is signed, "e:" before what is encrypted.
  base::Result<std::string> wrap(std::string_view bytes, bool confidential) override {
    return (confidential ? "e:" : "s:") + std::string(bytes);
  }
  base::Result<Unwrapped> unwrap(std::string_view token) override {
    if (!token.starts_with("e:") && !token.starts_with("s:")) {
      return base::Error{base::Code::kUnauthenticated, "was changed on its way"};
    }
    return Unwrapped{std::string(token.substr(2)), token[0] == 'e'};
  }
  base::Result<std::uint32_t> max_wrapped(bool, std::uint32_t max_token_bytes) override {
    return max_token_bytes < 2 ? 0 : max_token_bytes - 2;
  }

 private:
  const int rounds_;
  bool established_ = false;
};

// alice@R, who has a ticket; what was opened is kept.
class TestIdentity final : public Identity {
 public:
  [[nodiscard]] const Principal& principal() const override { return principal_; }
  [[nodiscard]] base::Result<std::chrono::seconds> lifetime() const override {
    return std::chrono::hours(1);
  }
  [[nodiscard]] base::Result<std::unique_ptr<SecurityContext>> open(
      const Principal& server, GssMechanism mechanism) const override {
    opened.emplace_back(to_string(server), mechanism);
    return std::unique_ptr<SecurityContext>(std::make_unique<TestContext>());
  }

  mutable std::vector<std::pair<std::string, GssMechanism>> opened{};

 private:
  Principal principal_{{"alice"}, "R"};
};

}  // namespace gangrun::sasl
