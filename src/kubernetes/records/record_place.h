#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "kubernetes/client.h"
#include "kubernetes/pods/owner.h"
#include "kubernetes/records/map_chain.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::records {

// For so long a master may not know that another one has taken its place.
inline constexpr std::chrono::seconds kLookInterval{5};

// The place of a job's records. Copied; loop, logger and client outlive all copies.
struct RecordPlace {
  net::EventLoop& loop;
  base::Logger& logger;
  kubernetes::Client& client;
  std::string name_space;
  std::string job_id;
  std::string job_name;  // with which the names of its maps begin: pods::job_name()
  std::string head_name;
  pods::Owner owner;
  RecordsKey key;
  base::Json labels{};  // of every map: the job's
  // For so long one request is repeated at a server that refuses for now, before that is told as
  // trouble; then it is made again.
  base::Duration patience = std::chrono::seconds(3);
  base::Duration look_interval = kLookInterval;
};

}  // namespace gangrun::kubernetes::records
