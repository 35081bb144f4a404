#include "yarn/logs_url.h"

#include "base/format.h"

namespace gangrun::yarn {

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

}  // namespace gangrun::yarn
