#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agents/kept_outputs.h"
#include "agents/server.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "job/status.h"
#include "net/certificate.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::node {

// Serves what is left of a job that ended under an earlier master: its last status, and the outputs
// of its tasks.
class KeptJob {
  struct Private {};

 public:
  struct Options {
    base::Secret secret{};
    net::JobCertificate certificate{};
    std::uint16_t port = 0;  // at all addresses
    job::JobStatus status{};
    std::string output_folder{};
  };

  // `loop` and `logger` outlive the result.
  static base::Result<std::unique_ptr<KeptJob>> serve(net::EventLoop& loop, base::Logger& logger,
                                                      Options options);
  KeptJob(Private, net::EventLoop& loop, base::Logger& logger, Options options);
  KeptJob(const KeptJob&) = delete;
  KeptJob& operator=(const KeptJob&) = delete;

 private:
  const Options options_;
  agents::KeptOutputs outputs_;
  agents::Server server_;  // last: its callbacks use the others
};

}  // namespace gangrun::kubernetes::node
