#pragma once

#include <string>

namespace gangrun::kubernetes::pods {

// The owner of all objects of the job: when it goes, they go.
struct Owner {
  std::string name;
  std::string uid;
};

}  // namespace gangrun::kubernetes::pods
