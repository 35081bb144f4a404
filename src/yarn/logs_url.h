#pragma once

#include <string>

namespace gangrun::yarn {

// The words of YARN to a container about itself, and the cluster's configuration.
struct LogsPlace {
  std::string log_server{};  // yarn.log.server.url, as the job history server; empty: none
  std::string manager{};     // the ResourceManager's pages, "http://rm:8088"; empty: not known
  std::string policy{};      // yarn.http.policy
  std::string node_host{};
  std::string node_port{};
  std::string node_http_port{};
  std::string application{};
  std::string container{};
  std::string user{};
};

// The page for a browser when a job has ended: its master's log on the cluster's log server, which
// keeps it; else YARN's page of the application, with the verdict, the first cause and links to the
// logs; else the node, which forgets the container soon. Empty where nothing is known.
std::string logs_url(const LogsPlace& place);

}  // namespace gangrun::yarn
