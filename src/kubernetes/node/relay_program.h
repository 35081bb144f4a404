#pragma once

#include <cstdint>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"

// The program of a job's relay pod, `gangrun-pod-agent relay`: agents connect to it, and the client
// by a forwarded port. It has no rights and knows no secret of the job but its own token.
namespace gangrun::kubernetes::node {

inline constexpr std::size_t kMaxTokenBytes = 4096;

struct RelayOptions {
  std::uint16_t agents_port = 0;
  std::uint16_t client_port = 0;
  std::string token_file;
  std::string host;  // of the pod
};

// "--port N --client-port N --token-file PATH": an error names what is wrong.
base::Result<RelayOptions> relay_options_from(int argc, char** argv);

// The secret in a file: its text without blanks around it, at least 32 bytes.
base::Result<base::Secret> token_in(const std::string& path);

// Until SIGTERM. The status of the program.
int run_relay(const RelayOptions& options, base::Logger& logger);

}  // namespace gangrun::kubernetes::node
