#include "kubernetes/node/kept_job.h"

#include <utility>

namespace gangrun::kubernetes::node {

KeptJob::KeptJob(Private, net::EventLoop& loop, base::Logger& logger, Options options)
    : options_(std::move(options)),
      outputs_(options_.output_folder),
      server_(loop, options_.secret, {},
              {.status = [this] { return options_.status; },
               // It has ended.
               .stop = [](bool, const std::string&) {},
               .outputs = &outputs_},
              logger) {}

base::Result<std::unique_ptr<KeptJob>> KeptJob::serve(net::EventLoop& loop, base::Logger& logger,
                                                      Options options) {
  auto kept = std::make_unique<KeptJob>(Private{}, loop, logger, std::move(options));
  // None of them lives that would be let in.
  kept->server_.hold_agents();
  GANGRUN_TRY(kept->server_.listen_tls_everywhere(kept->options_.port, kept->options_.certificate));
  return kept;
}

}  // namespace gangrun::kubernetes::node
