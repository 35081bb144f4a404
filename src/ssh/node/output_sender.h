#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "ssh/frames.h"
#include "ssh/keeper_messages.h"
#include "ssh/node/work_folder.h"

namespace gangrun::ssh::node {

// Sends to the client what tasks have written, piece by piece, and at last what it has not sent.
class OutputSender {
 public:
  // The views are valid during the call.
  using Sink = std::function<void(const ssh::Frame&)>;
  OutputSender(const WorkFolder& folder, Sink sink) : folder_(folder), sink_(std::move(sink)) {}

  // A file that was begun before is begun again.
  void begin(const ssh::BringMessage& wanted);
  // Sends about `bytes` more, where there is something.
  void send(std::size_t bytes);

 private:
  void tell(const ssh::KeeperMessage& message);
  void begin_next();
  std::size_t send_piece();
  void add_odd(cluster::OddOutput odd);
  void end(std::string failure);

  const WorkFolder& folder_;
  Sink sink_;
  bool is_sending_ = false;
  std::deque<cluster::FoundOutput> waiting_;
  ssh::BroughtMessage brought_;
  base::UniqueFd file_;  // that is being sent
  std::string name_;
  std::uint64_t left_ = 0;
};

}  // namespace gangrun::ssh::node
