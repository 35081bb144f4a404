#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "cluster/far_keys.h"
#include "cluster/far_results.h"
#include "hadoop/web_hdfs.h"
#include "net/event_loop.h"
#include "net/workers.h"

// The keys and results of a job's tasks, on the cluster's file system.
namespace gangrun::yarn {

// One try to store a part, the pause after one that failed, and how long it is tried: the tasks
// wait for it.
inline constexpr std::chrono::seconds kKeyPartTimeout{20};
inline constexpr std::chrono::seconds kKeyPartPause{1};
inline constexpr std::chrono::seconds kKeyCopyTimeout{40};

// The records of a job's keys on the cluster's file system, as files "000001.00042", as those of a
// journal (JournalCopy), by whose fetch_journal() the next master gets them.
inline constexpr const char* kKeysFolder = "/keys";  // of the job's own folder

class KeyCopy final : public cluster::FarKeys {
 public:
  KeyCopy(net::EventLoop& loop, base::Logger& logger, hadoop::WebHdfs files, std::string folder);

  void keep(int segment, int part, std::string bytes,
            std::function<void(base::Result<>)> done) override;
  void forget_before(int segment) override;

 private:
  base::Logger& logger_;
  const std::shared_ptr<hadoop::WebHdfs> files_;
  const std::string folder_;
  net::Workers worker_;  // last: what runs on it uses the others
};

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
