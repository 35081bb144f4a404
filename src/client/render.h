#pragma once

#include <cstddef>
#include <string>

#include "client/style.h"
#include "job/status.h"

// The views of a job for people, as pure functions of its status.
namespace gangrun::client {

// One frame of the live display: at most `height` lines of at most `width` columns. Where the tasks
// do not fit they are counted by type and state. Of `said`, the tasks' newest lines, there are
// below them as many as fit, and at least kLeastSaid. `notice` is a last line from us, or empty.
Lines render(const job::JobStatus& status, std::size_t width, std::size_t height,
             const std::string& notice, const Lines& said = {});
inline constexpr std::size_t kLeastSaid = 3;

// Name, state, time, progress: the first lines of the frame and of `gangrun status`.
Lines render_header(const job::JobStatus& status);
// Every task, whatever their number; `width` 0 cuts nothing.
Lines render_tasks(const job::JobStatus& status, std::size_t width);

Paint paint_of(job::JobState state);
Paint paint_of(job::TaskState state);
// "roll call" for roll_call: how a state is called in sentences.
std::string state_words(job::JobState state);

}  // namespace gangrun::client
