#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/log_lines.h"
#include "kubernetes/login.h"

namespace gangrun::kubernetes {

// A log that is followed begins with the container's first line, however late that comes: one that
// has not come for so long is requested again, as the server may have gone meanwhile.
inline constexpr base::Duration kFirstLineLimit = std::chrono::minutes(10);
// The limit of a log that is not followed: until it begins, and between two pieces.
inline constexpr base::Duration kLogLimit = base::seconds(60);

// Client::read_log().
class LogStream final : public Activity {
 public:
  LogStream(Core& core, LogRequest request, LogCallbacks callbacks);

 private:
  void open();
  void begin(const Way& way);
  void on_piece(std::string_view piece);
  void on_end(base::Result<net::HttpResponse> answer);
  // False: this has gone meanwhile.
  bool tell(std::string_view time, std::string_view text);
  void end(base::Result<> result);

  Core& core_;
  const LogRequest request_;
  const std::shared_ptr<const LogCallbacks> callbacks_;
  LogLines lines_;
  // A line without a time, by which the kubelet may say why the log ends here.
  std::optional<std::string> words_;
  bool has_begun_ = false;
  std::optional<Entry> entry_;
  Turns::Turn opening_;
  net::Timer opening_limit_;
  net::Call stream_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace gangrun::kubernetes
