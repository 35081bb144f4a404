#pragma once

#include <string>
#include <tuple>

#include "base/described.h"

namespace gangrun::kubernetes::pods {

// The owner of all objects of the job: when it goes, they go.
struct Owner {
  std::string name;
  std::string uid;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() { return std::tuple(GANGRUN_EACH(base::row, Owner, name, uid)); }
};

}  // namespace gangrun::kubernetes::pods
