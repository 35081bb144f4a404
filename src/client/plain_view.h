#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/job_view.h"
#include "client/log_lines.h"
#include "client/recent_lines.h"

namespace gangrun::client {

// The news in `now`, as sentences: the job's state, tasks that failed or came back, and with
// `verbose` every task's state. `before` is none for the first status.
std::vector<std::string> news(const job::JobStatus* before, const job::JobStatus& now,
                              bool verbose);

// Lines for files and pipes: the tasks' output, and on standard error what happens.
class PlainView final : public JobView {
 public:
  PlainView(Console& console, ViewOptions options);

  void started(const job::JobStatus& status) override;
  void changed(const job::JobStatus& status) override;
  void lines(const std::vector<cluster::LogLine>& lines) override;
  void warning(const std::string& sentence) override;
  void notice(const std::string& sentence) override;
  void finished(const job::JobStatus& status, int exit_status) override;
  [[nodiscard]] bool wants_lines() const override { return options_.logs.value_or(true); }

 private:
  void say(const std::string& text);

  Console& console_;
  ViewOptions options_;
  LogPrinter printer_;
  RecentLines recent_;
  std::optional<job::JobStatus> last_;
};

// One JSON object a line on standard output.
class JsonView final : public JobView {
 public:
  JsonView(Console& console, ViewOptions options)
      : console_(console), options_(std::move(options)) {}

  void started(const job::JobStatus& status) override;
  void changed(const job::JobStatus& status) override;
  void lines(const std::vector<cluster::LogLine>& lines) override;
  void warning(const std::string& sentence) override;
  void notice(const std::string& sentence) override;
  void joinable(const JoinPlace& place) override;
  void finished(const job::JobStatus& status, int exit_status) override;
  [[nodiscard]] bool wants_lines() const override { return options_.logs.value_or(false); }

 private:
  void write(std::string_view event, const base::Json& fields);

  Console& console_;
  ViewOptions options_;
  job::JobStatus last_;
};

}  // namespace gangrun::client
