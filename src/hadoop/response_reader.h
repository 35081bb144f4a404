#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "hadoop/rpc_frames.h"
#include "hadoop/sasl.h"
#include "net/frames.h"

namespace gangrun::hadoop {

// Makes responses of what a server sends, however it is cut, guarded or not.
class ResponseReader {
 public:
  // From now on all that is fed goes through `guard`, which must outlive the reader.
  void set_guard(sasl::Mechanism& guard) { guard_ = &guard; }

  void feed(std::string_view bytes) { outer_.feed(bytes); }
  // The next whole response; none until more is fed.
  base::Result<std::optional<RpcResponse>> next();

 private:
  sasl::Mechanism* guard_ = nullptr;
  net::FrameReader outer_{kMaxFrameBytes};
  net::FrameReader inner_{kMaxFrameBytes};  // of what was guarded
};

}  // namespace gangrun::hadoop
