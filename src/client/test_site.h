#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/site.h"

namespace gangrun::client {

// A place that knows no job. Tests override what they ask it for.
class TestSite : public cluster::Site {
 public:
  base::Result<std::vector<cluster::ListedJob>> list() override {
    return std::vector<cluster::ListedJob>();
  }
  base::Result<job::JobStatus> status(std::string_view) override { return nothing(); }
  base::Result<std::unique_ptr<cluster::LogReader>> logs(std::string_view,
                                                         const cluster::LogRequest&) override {
    return nothing();
  }
  base::Result<job::ClusterSpec> cluster_spec(std::string_view, int, base::Instant) override {
    return nothing();
  }
  base::Result<> stop(std::string_view, bool, const std::string&) override { return nothing(); }
  base::Result<cluster::Answer> ask(std::string_view, const cluster::Question&) override {
    return nothing();
  }
  base::Result<std::vector<cluster::TaskResult>> results(std::string_view) override {
    return std::vector<cluster::TaskResult>();
  }
  base::Result<> read_result(std::string_view, const job::TaskId&,
                             const cluster::ResultSink&) override {
    return nothing();
  }
  base::Result<> wait_for_change(std::string_view, base::Instant) override { return {}; }

 private:
  static base::Error nothing() { return base::not_found("no such job"); }
};

}  // namespace gangrun::client
