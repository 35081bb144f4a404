#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/login.h"
#include "net/alive.h"

namespace gangrun::kubernetes {

// A log that is followed begins with the container's first line, however late that comes: one that
// has not come for so long is requested again, as the server may have gone meanwhile.
inline constexpr base::Duration kFirstLineLimit = std::chrono::minutes(10);
// The limit of a log that is not followed: until it begins, and between two pieces.
inline constexpr base::Duration kLogLimit = base::seconds(60);

// A longer line is told in pieces of this size, each with the line's time.
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{1024} * 1024;

// The lines of a container's log that was requested with its times ("2026-01-31T12:00:00.123456789Z
// text"), from its bytes.
class LogLines {
 public:
  // The views are valid during the call. False: nothing more is told, not of this piece either.
  using OnLine = std::function<bool(std::string_view time, std::string_view text)>;

  // False where `on_line` said so; then these lines may be gone.
  bool put(std::string_view piece, const OnLine& on_line);
  // The end: a last line without its end is told.
  bool finish(const OnLine& on_line);

 private:
  bool tell(std::string_view line, const OnLine& on_line);

  std::string line_;  // the beginning of one, with its time
  std::string time_;  // of a line that is told in pieces; empty: of none
};

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
  const net::Life life_;
};

}  // namespace gangrun::kubernetes
