#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "client/console.h"
#include "client/style.h"
#include "cluster/site.h"
#include "job/status.h"

namespace gangrun::client {

// The address at which a task can join its job, and what it has to know for that.
struct JoinPlace {
  std::string host;
  std::uint16_t port = 0;
  std::string fingerprint;
  std::string secret_file;
  std::chrono::milliseconds limit{};  // how long the job waits for its tasks

  GANGRUN_ROWS(JoinPlace, host, port, fingerprint, secret_file);
};

// How a running job is shown to who started it.
class JobView {
 public:
  virtual ~JobView() = default;
  virtual void started(const job::JobStatus& status) { changed(status); }
  // Called at most five times a second.
  virtual void changed(const job::JobStatus& status) = 0;
  virtual void lines(const std::vector<cluster::LogLine>& lines) = 0;
  virtual void warning(const std::string& sentence) = 0;
  // Tells what we do now because the user asked for it.
  virtual void notice(const std::string& sentence) = 0;
  virtual void finished(const job::JobStatus& status, int exit_status) = 0;
  // Tells where the tasks of a job that connect by themselves are to connect, and that somebody has
  // to bring them; a notice, where nothing else.
  virtual void joinable(const JoinPlace& place);
  // Whether the tasks' lines are wanted.
  [[nodiscard]] virtual bool wants_lines() const = 0;
};

struct ViewOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  // Absent: lines on a pipe, none beside the live table.
  std::optional<bool> logs{};
  std::size_t prefix_width = 0;
  std::string url{};  // of the job's page; empty: it has none
};

// The status as --json prints it, with the address of the job's page where it has one.
base::Json shown_json(const job::JobStatus& status, const std::string& url);

// The news in `now`, as sentences: the job's state, tasks that failed or came back, and with
// `verbose` every task's state. `before` is none for the first status.
std::vector<std::string> news(const job::JobStatus* before, const job::JobStatus& now,
                              bool verbose);

// The bytes that replace what stands in the terminal's last lines. `shown` are the lines of the
// last frame; the cursor is at the start of the line below them. In a narrower terminal they take
// more rows than they did: `columns` is the width now.
std::string replace_frame(const Lines& shown, const Lines& above, const Lines& next,
                          std::size_t columns, bool colour);

// The live table on a terminal, plain lines elsewhere, or JSON.
std::unique_ptr<JobView> make_view(Console& console, const ViewOptions& options);

}  // namespace gangrun::client
