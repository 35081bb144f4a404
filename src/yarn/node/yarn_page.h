#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "hadoop/configuration.h"
#include "hadoop/manager_pages.h"
#include "job/spec.h"
#include "job/status.h"
#include "net/event_loop.h"
#include "net/workers.h"
#include "page/page_server.h"

namespace gangrun::yarn::node {

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

// Whether a user sees the application of `owner`: its user, the administrators, and whom the job's
// access list names.
std::function<bool(const std::string& user)> viewers_of(std::string owner,
                                                        const std::string& access_list,
                                                        const hadoop::Configuration& hadoop);

// The page of a job on YARN, served to YARN's web proxy.
class YarnPage {
 public:
  YarnPage(net::EventLoop& loop, base::Logger& logger, hadoop::WebProxy proxy,
           const std::string& job_id, std::function<std::string()> state);

  // See page::PageServer.
  void set_viewers(std::function<bool(const std::string& user)> may_view) {
    server_.set_viewers(std::move(may_view));
  }
  // The tracking URL to register: by `host` the proxy reaches this one.
  base::Result<std::string> listen(const std::string& host);

 private:
  void find_proxies();

  net::EventLoop& loop_;
  base::Logger& logger_;
  const hadoop::WebProxy proxy_;
  page::PageServer server_;
  net::Timer timer_;
  net::Workers workers_;
};

}  // namespace gangrun::yarn::node
