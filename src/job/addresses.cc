#include "job/addresses.h"

namespace gangrun::job {

std::string comma_separated(const std::vector<Address>& addresses) {
  std::string list;
  for (const Address& address : addresses) {
    if (!list.empty()) list += ',';
    list += to_string(address);
  }
  return list;
}

}  // namespace gangrun::job
