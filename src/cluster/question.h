#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "job/described.h"
#include "job/task_id.h"

namespace gangrun::cluster {

inline constexpr std::size_t kMaxKindBytes = 40;
// The limits for a question to one task, and for that task's answer.
inline constexpr std::size_t kMaxQuestionBytes = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxSaidBytes = std::size_t{512} << 10U;
inline constexpr std::size_t kMaxRefusalBytes = std::size_t{1} << 10U;
// The limit for the answers of all tasks together. A task whose answer does not fit says so.
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{16} << 20U;
inline constexpr std::chrono::milliseconds kMaxQuestionLimit = std::chrono::minutes(1);
inline constexpr std::size_t kMaxQuestionTasks = 10'000;
inline constexpr std::chrono::milliseconds kMaxNoticeLeft = std::chrono::hours(24);

// A question that somebody asks tasks of a job. Only who asks and who answers know what a kind
// means; all between them hand it on.
struct Question {
  std::string kind;  // "notice"
  base::Json about = base::Json::object();
  // The tasks that it is for; none: all tasks that run.
  std::vector<job::TaskId> tasks{};
  // How long a task may take to answer.
  std::chrono::milliseconds limit{std::chrono::seconds(5)};

  static constexpr auto rows() {
    return std::tuple(
        base::row("kind", &Question::kind, base::Bytes{kMaxKindBytes}),
        base::row("about", &Question::about), base::row("tasks", &Question::tasks),
        base::row("limit_ms", &Question::limit, base::Range{1, kMaxQuestionLimit.count()}));
  }
  [[nodiscard]] base::Result<> complete() const;
};

struct TaskAnswer {
  job::TaskId task;
  base::Json said;          // what its kind says
  std::string refused;      // why it could not be asked, or did not answer; empty: it did
  bool is_passing = false;  // it may answer in a moment: its agent has no session now

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("task", &TaskAnswer::task), base::row("said", &TaskAnswer::said),
                      base::row("refused", &TaskAnswer::refused, base::Bytes{kMaxRefusalBytes}),
                      base::row_if_set("passing", &TaskAnswer::is_passing));
  }
};

// One for each task that was asked, in the order of the job's tasks.
struct Answer {
  std::vector<TaskAnswer> tasks;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(Answer, tasks);
};

using OnAnswer = std::function<void(Answer)>;
using OnTaskAnswer = std::function<void(const job::TaskId&, base::Result<base::Json>)>;

// The tasks' place may end them; nothing is stopped. Answered when their commands have been told.
inline constexpr const char* kNotice = "notice";

struct Notice {
  std::string by{};  // where it comes from: "SIGUSR1"; empty: from the place itself
  std::optional<std::chrono::milliseconds> left{};  // none: at a time that is not known

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row_if_set("by", &Notice::by),
                      base::row("left_ms", &Notice::left, base::Range{0, kMaxNoticeLeft.count()}));
  }
};
Question notice_question(const Notice& notice);
// The giver's name, fit to be shown to people.
std::string notice_by(const Question& question);
// Why a task that no agent is beside answers nothing.
base::Error no_agent_there();

}  // namespace gangrun::cluster
