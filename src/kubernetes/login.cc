#include "kubernetes/login.h"

#include <utility>

#include "base/files.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "net/digests.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kMaxTokenBytes = std::size_t{64} * 1024;
constexpr int kPluginsAtOnce = 1;

std::string bearer(const base::Secret& token) {
  return "Bearer " + std::string(base::trim(token.reveal()));
}

}  // namespace

LoginSource::LoginSource(net::EventLoop& loop, const base::Clock& clock, Access access,
                         PluginRunner run_plugin, std::shared_ptr<const net::Remote> remote)
    : clock_(clock),
      access_(std::move(access)),
      run_plugin_(std::move(run_plugin)),
      remote_(std::move(remote)),
      workers_(loop, kPluginsAtOnce) {}

base::Result<std::unique_ptr<LoginSource>> LoginSource::make(net::EventLoop& loop,
                                                             const base::Clock& clock,
                                                             Access access,
                                                             PluginRunner run_plugin) {
  if (std::holds_alternative<Plugin>(access.login) && !run_plugin) {
    return base::invalid_argument("the access needs a plugin, and nothing is there to run one");
  }
  GANGRUN_ASSIGN(auto remote, net::Remote::make(access.remote));
  return std::make_unique<LoginSource>(loop, clock, std::move(access), std::move(run_plugin),
                                       std::move(remote));
}

net::Headers LoginSource::common_headers() const {
  net::Headers out = {{"User-Agent", "gangrun/" GANGRUN_VERSION}};
  if (!access_.impersonated_user.empty()) out.add("Impersonate-User", access_.impersonated_user);
  for (const std::string& group : access_.impersonated_groups) out.add("Impersonate-Group", group);
  return out;
}

void LoginSource::keep(std::shared_ptr<const net::Remote> remote,
                       const std::string& authorization) {
  Way way{std::move(remote), common_headers()};
  if (!authorization.empty()) way.headers.add("Authorization", authorization);
  way_ = std::move(way);
  ++number_;
}

// All but what a plugin says.
base::Result<> LoginSource::read_login() {
  return std::visit(
      base::Overloaded{
          [this](const base::OneOf<std::monostate, Plugin> auto&) -> base::Result<> {
            keep(remote_, "");
            return {};
          },
          [this](const base::Secret& token) -> base::Result<> {
            keep(remote_, bearer(token));
            return {};
          },
          [this](const BasicLogin& basic) -> base::Result<> {
            keep(remote_, "Basic " + net::to_base64(basic.user + ":" + basic.password.reveal()));
            return {};
          },
          [this](const TokenFile& file) -> base::Result<> {
            GANGRUN_ASSIGN(
                std::string text,
                base::read_file(file.path, kMaxTokenBytes).context("while reading the token"));
            keep(remote_, bearer(base::Secret(std::move(text))));
            good_until_ = clock_.now() + kTokenFileAge;
            return {};
          },
      },
      access_.login);
}

void LoginSource::get(OnWay on_way) {
  const bool is_good = way_ && (!good_until_ || clock_.now() < *good_until_) &&
                       (!expires_at_ || clock_.wall_now() < *expires_at_ - kExpiryMargin);
  if (is_good) return on_way(*way_, number_);
  way_.reset();
  if (std::holds_alternative<Plugin>(access_.login)) {
    waiting_.push_back(std::move(on_way));
    if (waiting_.size() == 1) run_plugin();
    return;
  }
  if (auto read = read_login(); !read.ok()) return on_way(std::move(read).error(), 0);
  on_way(*way_, number_);
}

bool LoginSource::forget(std::uint64_t number) {
  const bool may_be_renewed = std::visit(
      base::Overloaded{
          [](const base::OneOf<Plugin, TokenFile> auto&) { return true; },
          [](const base::OneOf<std::monostate, base::Secret, BasicLogin> auto&) { return false; },
      },
      access_.login);
  if (may_be_renewed && number == number_) way_.reset();
  return may_be_renewed;
}

void LoginSource::run_plugin() {
  const auto& plugin = std::get<Plugin>(access_.login);
  const auto started = workers_.run(
      [this, plugin, input = plugin_input(plugin, access_),
       deadline = clock_.now() + kPluginLimit] {
        return run_plugin_(plugin, input, deadline, [this] { return is_ending_.load(); });
      },
      [this](base::Result<std::string> output) { on_plugin(std::move(output)); });
  if (!started.ok()) on_plugin(started.error());
}

base::Result<> LoginSource::take_credentials(const Credentials& credentials) {
  std::shared_ptr<const net::Remote> remote = remote_;
  if (!credentials.certificate_pem.empty()) {
    net::RemoteOptions options = access_.remote;
    options.certificate_pem = credentials.certificate_pem;
    options.key_pem = credentials.key_pem;
    GANGRUN_ASSIGN(remote, net::Remote::make(options).context("what the plugin gave"));
  }
  keep(std::move(remote), credentials.token.empty() ? "" : bearer(credentials.token));
  expires_at_ = credentials.expires_at;
  return {};
}

void LoginSource::on_plugin(base::Result<std::string> output) {
  base::Result<> taken;
  if (!output.ok()) {
    taken = std::move(output).error();
  } else if (auto credentials = read_plugin_output(std::get<Plugin>(access_.login), *output);
             !credentials.ok()) {
    taken = std::move(credentials).error();
  } else {
    taken = take_credentials(*credentials);
  }
  base::Result<Way> way = taken.ok() ? base::Result<Way>(*way_) : taken.error();
  const std::uint64_t number = number_;
  for (const OnWay& on_way : std::exchange(waiting_, {})) on_way(way, number);
}

Entry::Entry(LoginSource& logins, std::function<void(const Way&)> begin,
             std::function<void(base::Error)> on_failure)
    : logins_(logins), begin_(std::move(begin)), on_failure_(std::move(on_failure)) {}

void Entry::start() {
  logins_.get(net::while_alive(life_, [this](base::Result<Way> way, std::uint64_t number) {
    number_ = number;
    if (way.ok()) return begin_(*way);
    // It may be the end of this.
    const auto on_failure = on_failure_;
    on_failure(std::move(way).error());
  }));
}

bool Entry::start_anew() {
  if (is_anew_ || !logins_.forget(number_)) return false;
  is_anew_ = true;
  start();
  return true;
}

}  // namespace gangrun::kubernetes
