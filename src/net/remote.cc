//
#include <openssl/ssl.h>

#include "base/format.h"
#include "net/digests.h"
#include "net/hosts.h"
#include "net/http.h"
#include "net/remote_internal.h"
#include "net/tls_internal.h"

namespace gangrun::net {

namespace {

constexpr std::string_view kProxyScheme = "http://";
constexpr std::uint16_t kDefaultPort = 443;

// A key that is encrypted is an error; without this, OpenSSL would ask the terminal.
int refuse_password(char*, int, int, void*) { return -1; }

base::Result<> show(asio::ssl::context& context, const RemoteOptions& options) {
  if (options.certificate_pem.empty() != options.key_pem.empty()) {
    return base::invalid_argument("certificate_pem and key_pem: one is given without the other");
  }
  if (options.certificate_pem.empty()) return {};
  SSL_CTX_set_default_passwd_cb(context.native_handle(), refuse_password);
  ErrorCode error;
  context.use_certificate_chain(asio::buffer(options.certificate_pem), error);
  if (error) return base::invalid_argument("certificate_pem: " + error.message());
  context.use_private_key(asio::buffer(options.key_pem.reveal()), asio::ssl::context::pem, error);
  if (error) return base::invalid_argument("key_pem: " + error.message());
  return {};
}

base::Result<std::shared_ptr<asio::ssl::context>> remote_tls(const RemoteOptions& options) {
  auto context = authorities_pem_tls(options.authorities_pem);
  if (!context.ok()) return std::move(context).context("authorities_pem");
  SSL_CTX* const native = (*context)->native_handle();
  if (!options.verifies_server) SSL_CTX_set_verify(native, SSL_VERIFY_NONE, nullptr);
  GANGRUN_TRY(show(**context, options));
  GANGRUN_TRY(keep_session(native));
  return context;
}

// "user:password" with what is encoded in it.
base::Result<std::string> basic_authorization(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto user = percent_decode(text.substr(0, colon));
  const auto password = percent_decode(text.substr(std::min(colon + 1, text.size())));
  if (!user.ok() || !password.ok()) {
    return base::invalid_argument("its user or password has a broken %XX");
  }
  return "Basic " + to_base64(*user + ":" + *password);
}

}  // namespace

base::Result<Proxy> parse_proxy(const std::string& text) {
  if (!text.starts_with(kProxyScheme)) {
    return base::invalid_argument("it must begin with http://, other kinds are not spoken to");
  }
  std::string_view rest = std::string_view(text).substr(kProxyScheme.size());
  const std::size_t at = rest.substr(0, rest.find_first_of("/?#")).rfind('@');
  Proxy proxy;
  if (at != std::string_view::npos) {
    GANGRUN_ASSIGN(std::string field, basic_authorization(rest.substr(0, at)));
    proxy.authorization = base::Secret(std::move(field));
    rest.remove_prefix(at + 1);
  }
  GANGRUN_ASSIGN(const Url url, parse_url(std::string(kProxyScheme).append(rest)));
  proxy.host = url.host;
  proxy.port = url.port;
  return proxy;
}

base::Result<std::shared_ptr<const Remote>> Remote::make(const RemoteOptions& options) {
  auto state = std::make_unique<State>();
  GANGRUN_ASSIGN(state->url, parse_url(options.url).context("url"));
  state->address = host_port(state->url.host, state->url.port);
  state->server_name = options.server_name.empty() ? state->url.host : options.server_name;
  const auto named = parse_url("https://" + host_port(state->server_name, kDefaultPort));
  if (!named.ok() || named->host != state->server_name) {
    return base::invalid_argument(
        base::format("server_name: \"{}\" is not a host's name", state->server_name));
  }
  if (state->url.tls) {
    GANGRUN_ASSIGN(state->tls, remote_tls(options));
  }
  if (!options.proxy.empty()) {
    GANGRUN_ASSIGN(state->proxy, parse_proxy(options.proxy.reveal()).context("proxy"));
  }
  return std::make_shared<const Remote>(std::move(state));
}

Remote::Remote(std::unique_ptr<const State> state) : state_(std::move(state)) {}

Remote::~Remote() = default;

}  // namespace gangrun::net
