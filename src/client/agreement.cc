#include "client/agreement.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "base/strings.h"

namespace gangrun::client {

namespace {

constexpr std::chrono::minutes kAnswerTimeout(10);

}  // namespace

bool is_agreed() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(kAnswerTimeout);
  if (::poll(&input, 1, static_cast<int>(limit.count())) <= 0) return false;
  std::array<char, 64> line{};
  const ssize_t got = ::read(STDIN_FILENO, line.data(), line.size());
  if (got <= 0) return false;
  const std::string_view answer =
      base::trim(std::string_view(line.data(), static_cast<std::size_t>(got)));
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace gangrun::client
