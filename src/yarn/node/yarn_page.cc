#include "yarn/node/yarn_page.h"

#include <chrono>
#include <set>

#include "base/files.h"
#include "base/format.h"
#include "hadoop/access_list.h"
#include "net/hosts.h"

namespace gangrun::yarn::node {

namespace {

// A proxy may move to another address; the same pause is Hadoop's own.
constexpr std::chrono::minutes kFindAgain(5);
constexpr std::chrono::seconds kFindAgainAfterFailure(10);
constexpr std::chrono::seconds kResolveTimeout(10);

struct Found {
  std::set<std::string> addresses;
  std::string trouble;
};

Found resolve_all(const std::vector<std::string>& hosts) {
  Found found;
  for (const std::string& host : hosts) {
    const auto addresses = net::resolve(host, std::chrono::steady_clock::now() + kResolveTimeout);
    if (addresses.ok()) {
      found.addresses.insert(addresses->begin(), addresses->end());
    } else {
      found.trouble = addresses.error().message;
    }
  }
  return found;
}

// Groups of the node, as far as it has them in a file.
constexpr const char* kGroups = "/etc/group";
constexpr std::size_t kMaxGroupsBytes = std::size_t{4} << 20U;

}  // namespace

std::string logs_url(const LogsPlace& place) {
  if (place.container.empty() || place.user.empty() || place.node_host.empty()) return {};
  if (!place.log_server.empty() && !place.node_port.empty()) {
    std::string server = place.log_server;
    while (server.ends_with('/')) server.pop_back();
    if (!server.starts_with("http://") && !server.starts_with("https://")) {
      server = "http://" + server;
    }
    return base::format("{}/{}:{}/{}/{}/{}", server, place.node_host, place.node_port,
                        place.container, place.container, place.user);
  }
  if (!place.manager.empty()) {
    return base::format("{}/cluster/app/{}", place.manager, place.application);
  }
  if (place.node_http_port.empty()) return {};
  return base::format("{}://{}:{}/node/containerlogs/{}/{}",
                      place.policy == "HTTPS_ONLY" ? "https" : "http", place.node_host,
                      place.node_http_port, place.container, place.user);
}

std::function<bool(const std::string&)> viewers_of(std::string owner,
                                                   const std::string& access_list,
                                                   const hadoop::Configuration& hadoop) {
  return [owner = std::move(owner), named = hadoop::parse_access_list(access_list),
          administrators = hadoop::parse_access_list(hadoop.get_or("yarn.admin.acl", ""))](
             const std::string& user) {
    if (user.empty()) return false;
    if (user == owner) return true;
    const auto text = base::read_file(kGroups, kMaxGroupsBytes);
    const auto groups = hadoop::groups_of(text.value_or(""), user);
    return allows(named, user, groups) || allows(administrators, user, groups);
  };
}

YarnPage::YarnPage(net::EventLoop& loop, base::Logger& logger, hadoop::WebProxy proxy,
                   const std::string& job_id, std::function<std::string()> state)
    : loop_(loop),
      logger_(logger),
      proxy_(std::move(proxy)),
      server_(loop, std::move(state), base::format("{}/proxy/{}/", proxy_.url, job_id)),
      workers_(loop, 1) {}

base::Result<std::string> YarnPage::listen(const std::string& host) {
  GANGRUN_ASSIGN(const std::uint16_t port, server_.listen());
  find_proxies();
  return base::format("http://{}/", net::host_port(host, port));
}

// On a thread, so that a slow name service holds up nothing.
void YarnPage::find_proxies() {
  const auto asked = workers_.run([hosts = proxy_.hosts] { return resolve_all(hosts); },
                                  [this](Found found) {
                                    const bool failed = found.addresses.empty();
                                    if (!found.trouble.empty()) {
                                      logger_.warning("the page's proxy: {}", found.trouble);
                                    }
                                    // An older answer is better than none.
                                    if (!failed) server_.set_proxies(std::move(found.addresses));
                                    timer_ =
                                        loop_.after(failed ? base::Duration(kFindAgainAfterFailure)
                                                           : base::Duration(kFindAgain),
                                                    [this] { find_proxies(); });
                                  });
  if (!asked.ok()) logger_.warning("the page's proxy: {}", asked.error().message);
}

}  // namespace gangrun::yarn::node
