#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/result.h"

// An errand that `gangrun` runs for the master, which is one static file and cannot load Kerberos:
// to get new tokens by the keytab that the job has brought.
namespace gangrun::yarn {

// The hidden command of gangrun, and what follows it: the file that holds the errand.
inline constexpr const char* kTokenErrandCommand = "__get-tokens";
inline constexpr std::size_t kMaxTokenErrandBytes = std::size_t{1} << 20U;

struct TokenErrand {
  std::map<std::string, std::string> hadoop;  // Hadoop's configuration
  std::string user;
  std::string principal;
  std::string keytab;       // a file
  std::string krb5_config;  // a file, used where it is there; may be empty
  std::vector<std::string> file_systems;
  std::string output;  // the file into which the tokens go, for its owner only

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(TokenErrand, hadoop, user, principal, keytab, krb5_config, file_systems, output);

  bool operator==(const TokenErrand&) const = default;
};

// The one line that it prints: until when the new tokens are good.
std::string token_answer(base::WallTime ends);
// From all that it printed; kInternal where that is no answer, with its last words.
base::Result<base::WallTime> token_answer_from(const std::string& output);

}  // namespace gangrun::yarn
