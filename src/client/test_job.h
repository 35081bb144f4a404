#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/site.h"

namespace gangrun::client {

// A job that tells nothing. Tests override what they ask it for.
class TestJob : public cluster::Job {
 public:
  [[nodiscard]] std::string id() const override { return "wine-1"; }
  base::Result<job::JobStatus> status() override { return nothing(); }
  base::Result<std::unique_ptr<cluster::LogReader>> logs(const cluster::LogRequest&) override {
    return nothing();
  }
  base::Result<job::ClusterSpec> cluster_spec(int, base::Instant) override { return nothing(); }
  base::Result<> stop(bool, const std::string&) override { return nothing(); }
  base::Result<cluster::Answer> ask(const cluster::Question&) override { return nothing(); }
  base::Result<std::vector<cluster::TaskResult>> results() override {
    return std::vector<cluster::TaskResult>();
  }
  base::Result<> read_result(const job::TaskId&, const cluster::ResultSink&) override {
    return nothing();
  }
  base::Result<> wait_for_change(base::Instant) override { return {}; }

 private:
  static base::Error nothing() { return base::not_found("no such job"); }
};

}  // namespace gangrun::client
