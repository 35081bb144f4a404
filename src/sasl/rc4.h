#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace gangrun::sasl {

// The cipher that DIGEST-MD5 calls rc4; crypto libraries no longer have it. The state runs on from
// one call to the next. Weak by today's measure, and the best that this mechanism offers.
class Rc4 {
 public:
  explicit Rc4(std::string_view key) {
    std::iota(state_.begin(), state_.end(), std::uint8_t{0});
    std::uint8_t j = 0;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      j = static_cast<std::uint8_t>(j + state_[i] +
                                    static_cast<unsigned char>(key[i % key.size()]));
      std::swap(state_[i], state_[j]);
    }
  }

  // Enciphers and deciphers alike.
  std::string apply(std::string_view bytes) {
    std::string result(bytes);
    for (char& byte : result) {
      j_ = static_cast<std::uint8_t>(j_ + state_[++i_]);
      std::swap(state_[i_], state_[j_]);
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^
                               state_[static_cast<std::uint8_t>(state_[i_] + state_[j_])]);
    }
    return result;
  }

 private:
  std::array<std::uint8_t, 256> state_{};
  std::uint8_t i_ = 0;
  std::uint8_t j_ = 0;
};

}  // namespace gangrun::sasl
