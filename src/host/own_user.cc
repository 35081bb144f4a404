#include "host/own_user.h"

#include <pwd.h>
#include <unistd.h>

#include <array>

namespace gangrun::host {

std::string own_user_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  const bool is_known =
      ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr;
  return is_known ? found->pw_name : "";
}

}  // namespace gangrun::host
