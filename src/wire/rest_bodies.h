#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/cluster_spec.h"
#include "job/described.h"
#include "job/task_id.h"
#include "wire/agent_questions.h"
#include "wire/message_forms.h"

// The bodies of the REST interfaces of a registry and of an agent (docs/protocols/registry.md), but
// for those of questions and of tasks that join (join.h).
namespace gangrun::wire {

// Somebody's name: it has from 1 to kMaxByBytes.
struct ByForm {
  [[nodiscard]] static base::Json write(const std::string& by) { return by; }
  base::Result<> read(const base::Json& json, std::string_view key, std::string& by) const;
  [[nodiscard]] static std::string bounds();
  template <typename T>
  [[nodiscard]] T sample() const {
    return "a";
  }
};

// The name of whoever asks. Also the whole body of a notice, as masters of 0.1.0 take one.
struct AskedBy {
  std::optional<std::string> by{};

  static constexpr auto rows() {
    return std::tuple(base::row_or_null("by", &AskedBy::by, ByForm{}));
  }
  // Fit to be shown to people: in logs, in sentences about the job's end, in the notices of pods.
  [[nodiscard]] std::string name() const;
};

// Asks for the end of the job.
struct StopRequest {
  std::optional<bool> at_once{};  // none: in order
  AskedBy asker{};

  static constexpr auto rows() {
    return std::tuple(base::row_or_null("at_once", &StopRequest::at_once),
                      base::flat_row(&StopRequest::asker));
  }
};

// The address of a task that has no agent of ours.
struct PlaceReport {
  int attempt = 0;
  job::Address address;

  static constexpr auto rows() {
    return std::tuple(base::row("attempt", &PlaceReport::attempt),
                      base::row("address", &PlaceReport::address));
  }
};

// All that the registry tells of the place of a task.
struct TaskPlace {
  job::TaskId task;
  int attempt = 1;
  std::optional<job::Address> address{};
  bool connected = false;  // an agent's session is open
  std::optional<ControlPlace> control{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("task", &TaskPlace::task), base::row("attempt", &TaskPlace::attempt),
        base::row_or_null("address", &TaskPlace::address),
        base::row("connected", &TaskPlace::connected), base::row("control", &TaskPlace::control));
  }
};

// Tells an agent where the job's master with this number is now.
struct MasterCall {
  std::string host;
  std::uint16_t port = 0;
  int attempt = 0;

  static constexpr auto rows() {
    return std::tuple(base::row("host", &MasterCall::host), base::row("port", &MasterCall::port),
                      base::row("attempt", &MasterCall::attempt, kAttemptForm));
  }
  [[nodiscard]] base::Result<> complete() const;
  [[nodiscard]] job::Address master() const { return {host, port}; }
};

// The name of one of the two streams of a task.
struct ErrorOrOutput {
  [[nodiscard]] static base::Json write(bool is_error) { return is_error ? "err" : "out"; }
  static base::Result<> read(const base::Json& json, std::string_view key, bool& is_error);
  [[nodiscard]] static std::string bounds() { return "as out or err"; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return true;
  }
};

// A line of the output of tasks as a master keeps it for clients on other machines.
struct KeptLine {
  job::TaskId task;
  bool is_error = false;
  std::string text;
  std::optional<base::WallTime> time{};  // when it came; none: the master is an older one

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("task", &KeptLine::task),
                      base::row("stream", &KeptLine::is_error, ErrorOrOutput{}),
                      base::row("text", &KeptLine::text), base::row("time", &KeptLine::time));
  }

  friend bool operator==(const KeptLine&, const KeptLine&) = default;
};

struct KeptLines {
  std::int64_t next = 0;    // the number of the line that comes next
  std::int64_t missed = 0;  // lines from the requested one on that are not kept any more
  std::vector<KeptLine> lines;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("next", &KeptLines::next), base::row("missed", &KeptLines::missed),
                      base::row("lines", &KeptLines::lines));
  }

  friend bool operator==(const KeptLines&, const KeptLines&) = default;
};

// A file, link or folder of a task's outputs that a master keeps until it is fetched.
struct KeptOutput {
  std::string task;  // "worker-0"
  std::string name;  // below the task's folder
  std::uint64_t bytes = 0;
  std::int64_t modified_ms = 0;  // since 1970
  bool is_executable = false;
  bool is_folder = false;
  std::string target{};  // of a link; empty: it is none

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, KeptOutput, task, name, bytes, modified_ms),
                      GANGRUN_EACH(base::row_if_set, KeptOutput, is_executable, is_folder, target));
  }

  friend bool operator==(const KeptOutput&, const KeptOutput&) = default;
};

struct OutputList {
  std::vector<KeptOutput> outputs;
  bool is_whole = false;  // the job has ended: no more will come

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(base::row, OutputList, outputs, is_whole));
  }

  friend bool operator==(const OutputList&, const OutputList&) = default;
};

}  // namespace gangrun::wire
