#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "cluster/far_results.h"
#include "hadoop/web_hdfs.h"
#include "net/event_loop.h"
#include "net/workers.h"

namespace gangrun::yarn {

// For so long one result may be on its way; with it the agent waits.
inline constexpr std::chrono::minutes kResultCopyTimeout{5};

// The results of a job's tasks on the cluster's file system, each whole or not there.
class ResultCopy final : public cluster::FarResults {
 public:
  ResultCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files, std::string folder);

  void keep(const std::string& name, const std::string& path,
            std::function<void(base::Result<>)> done) override;
  void remove(const std::string& name) override;

 private:
  base::Logger& logger_;
  const std::shared_ptr<hadoop::WebHdfs> files_;
  const std::string folder_;
  net::Workers worker_;  // last: what runs on it uses the others
};

}  // namespace gangrun::yarn
