#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/job_view.h"
#include "client/style.h"

namespace gangrun::client {

// The bytes that replace what stands in the terminal's last lines. `shown` are the lines of the
// last frame; the cursor is at the start of the line below them. In a narrower terminal they take
// more rows than they did: `columns` is the width now.
std::string replace_frame(const Lines& shown, const Lines& above, const Lines& next,
                          std::size_t columns, bool colour);

// A table of the tasks that is redrawn in place, with their newest lines below it; what we say
// besides scrolls away above it, and with --logs all lines of the tasks.
class LiveView final : public JobView {
 public:
  LiveView(Console& console, ViewOptions options)
      : console_(console), options_(std::move(options)) {}

  void started(const job::JobStatus& status) override;
  void changed(const job::JobStatus& status) override;
  void lines(const std::vector<cluster::LogLine>& lines) override;
  void warning(const std::string& sentence) override;
  void notice(const std::string& sentence) override;
  void finished(const job::JobStatus& status, int exit_status) override;
  [[nodiscard]] bool wants_lines() const override { return options_.logs.value_or(true); }

 private:
  void draw(const Lines& above);

  Console& console_;
  ViewOptions options_;
  job::JobStatus status_;
  std::string notice_;
  Lines said_;  // the tasks' newest lines
  Lines shown_;
};

}  // namespace gangrun::client
