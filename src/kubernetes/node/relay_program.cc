#include "kubernetes/node/relay_program.h"

#include <csignal>
#include <limits>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/variable.h"
#include "job/units.h"
#include "kubernetes/node/relay_server.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

namespace {

constexpr std::size_t kMinTokenBytes = 32;

bool read_port(std::string_view text, std::uint16_t& port) {
  const auto number = job::parse_count(text, 1, std::numeric_limits<std::uint16_t>::max());
  if (number.ok()) port = static_cast<std::uint16_t>(*number);
  return number.ok();
}

// Whether the flag is known and its value is one.
bool take_option(std::string_view flag, const char* value, RelayOptions& options) {
  if (flag == "--port") return read_port(value, options.agents_port);
  if (flag == "--client-port") return read_port(value, options.client_port);
  if (flag != "--token-file") return false;
  options.token_file = value;
  return true;
}

base::Result<> run_until_told(const RelayOptions& options, base::Logger& logger) {
  net::EventLoop loop;
  GANGRUN_ASSIGN(const net::Watch signals,
                 loop.watch_signals({SIGTERM, SIGINT}, [&loop](int /*number*/) { loop.stop(); }));
  GANGRUN_ASSIGN(base::Secret token, token_in(options.token_file));
  RelayServer server(loop, logger, std::move(token), options.host);
  GANGRUN_ASSIGN(const RelayServer::Ports ports,
                 server.listen({.agents = options.agents_port, .client = options.client_port}));
  logger.info("agents connect to port {}, the client to port {} of 127.0.0.1", ports.agents,
              ports.client);
  loop.run();
  return {};
}

}  // namespace

base::Result<RelayOptions> relay_options_from(int argc, char** argv) {
  RelayOptions options;
  for (int i = 0; i < argc; i += 2) {
    if (i + 1 == argc || !take_option(argv[i], argv[i + 1], options)) {
      return base::invalid_argument(
          base::format("{} is no flag of relay, or has no value or a wrong one", argv[i]));
    }
  }
  if (options.agents_port == 0 || options.client_port == 0 || options.token_file.empty()) {
    return base::invalid_argument("--port, --client-port and --token-file must be given");
  }
  options.host = base::variable(kPodAddressVariable);
  if (options.host.empty()) {
    return base::invalid_argument(
        base::format("{} must be set to the pod's address", kPodAddressVariable));
  }
  return options;
}

base::Result<base::Secret> token_in(const std::string& path) {
  GANGRUN_ASSIGN(const std::string text, base::read_file(path, kMaxTokenBytes));
  base::Secret token{std::string(base::trim(text))};
  if (token.reveal().size() >= kMinTokenBytes) return token;
  return base::invalid_argument(
      base::format("{} has a token of less than {} bytes", path, kMinTokenBytes));
}

int run_relay(const RelayOptions& options, base::Logger& logger) {
  const auto ended = run_until_told(options, logger);
  if (ended.ok()) return 0;
  logger.error("{}", ended.error().message);
  return 1;
}

}  // namespace gangrun::kubernetes::node
