#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/described.h"
#include "base/described_json.h"
#include "job/choice.h"
#include "job/described.h"
#include "job/json_text.h"
#include "job/task_id.h"
#include "wire/message_forms.h"

// The questions of an agent to its master, for the processes of its task: about the keys of the
// job, and barriers (docs/protocols/keys.md). Each stands in an AskMessage and its answer; only the
// two ends know it.
namespace gangrun::wire {

inline constexpr std::string_view kKeyKind = "kv";
inline constexpr std::string_view kBarrierKind = "barrier";
inline constexpr std::string_view kCancelKind = "cancel";

inline constexpr std::size_t kMaxKeyBytes = 200;
inline constexpr std::size_t kMaxValueBytes = std::size_t{256} << 10U;
// One job may have so many; the bytes are those of keys and values.
inline constexpr std::size_t kMaxKeys = 10'000;
inline constexpr std::size_t kMaxBytesOfKeys = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxListedKeys = 1000;  // in one answer
// Names of one generation; a name may be used any number of times.
inline constexpr std::size_t kMaxBarriers = 10'000;
inline constexpr int kMaxBarrierTasks = 100'000;
inline constexpr int kMaxBarrierProcesses = 10'000;
inline constexpr std::int64_t kMaxRound = std::int64_t{1} << 53U;
// The most that a process may wait for a key, or at a barrier.
inline constexpr std::chrono::milliseconds kMaxKeyWait = std::chrono::hours(7 * 24);
// So long the master holds one question, at most; an agent asks again.
inline constexpr std::chrono::milliseconds kMaxHold = std::chrono::minutes(1);

// Printable ASCII without spaces, from one to kMaxKeyBytes.
[[nodiscard]] bool is_key(std::string_view text);
inline constexpr std::string_view kKeyForm = "from 1 to 200 printable ASCII characters, no space";

enum class KeyAction { kPut, kGet, kWait, kDelete, kList };
constexpr auto choice_of(KeyAction) {
  using enum KeyAction;
  return job::choice<KeyAction>(
      "an action",
      {{kPut, "put"}, {kGet, "get"}, {kWait, "wait"}, {kDelete, "delete"}, {kList, "list"}});
}
inline std::string_view to_string(KeyAction action) { return job::to_string(action); }

struct KeyQuestion {
  KeyAction action = KeyAction::kGet;
  std::string key{};    // of a list: with what the keys begin
  std::string value{};  // of a put, any bytes
  std::string after{};  // of a list: the last key of the answer before
  // Counts the puts and deletes of this agent, which sends the next one when this one is
  // answered. A number that was done before is not done again.
  std::int64_t change = 0;
  // The attempt for which the agent was allocated.
  int attempt = 1;

  static constexpr auto rows() {
    return std::tuple(
        base::row("action", &KeyQuestion::action),
        base::row_if_set("key", &KeyQuestion::key, base::Bytes{kMaxKeyBytes}),
        base::row_when(is_put, "value", &KeyQuestion::value, base::Hex{kMaxValueBytes}),
        base::row_if_set("after", &KeyQuestion::after, base::Bytes{kMaxKeyBytes}),
        base::row_if_set("change", &KeyQuestion::change, kNumberForm),
        base::row_if_set("attempt", &KeyQuestion::attempt, kAttemptForm));
  }
  static bool is_put(const KeyQuestion& question) { return question.action == KeyAction::kPut; }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const KeyQuestion&, const KeyQuestion&) = default;
};

struct KeyAnswer {
  bool found = false;               // that the key was there; always of a put
  std::string value{};              // of a get or wait
  std::vector<std::string> keys{};  // of a list, in order
  bool more = false;                // that there are more than these

  static constexpr auto rows() {
    return std::tuple(base::row("found", &KeyAnswer::found),
                      base::row_if_set("value", &KeyAnswer::value, base::Hex{kMaxValueBytes}),
                      base::row_if_set("keys", &KeyAnswer::keys,
                                       base::ListOf<base::Bytes>{kMaxListedKeys, {kMaxKeyBytes}}),
                      base::row_if_set("more", &KeyAnswer::more));
  }

  friend bool operator==(const KeyAnswer&, const KeyAnswer&) = default;
};

// The answer of an agent to a process of its task that lists keys.
struct ListedKeys {
  std::vector<std::string> keys;  // in order
  bool more = false;

  static constexpr bool kIsOpen = true;
  GANGRUN_ROWS(ListedKeys, keys, more);
};

// One process of the task has come to a barrier, and waits there as long as this question does.
struct BarrierQuestion {
  std::string name;
  int generation = 1;
  int tasks = 1;  // that it waits for
  int process = 0;
  int processes = 1;  // of the task, which has come when all have
  // Which use of the barrier; 0: not known, to be told.
  std::int64_t round = 0;
  // So many tasks of the generation could come; 0: not known.
  int of = 0;
  bool tracked = false;  // these are the tracked ones, and all of them are waited for

  static constexpr auto rows() {
    return std::tuple(
        base::row("name", &BarrierQuestion::name, base::Bytes{kMaxKeyBytes}),
        base::row("generation", &BarrierQuestion::generation, kGenerationForm),
        base::row("tasks", &BarrierQuestion::tasks, base::Range{1, kMaxBarrierTasks}),
        base::row("process", &BarrierQuestion::process, base::Range{0, kMaxBarrierProcesses - 1}),
        base::row("processes", &BarrierQuestion::processes, base::Range{1, kMaxBarrierProcesses}),
        base::row("round", &BarrierQuestion::round, base::Range{0, kMaxRound}),
        base::row_if_set("of", &BarrierQuestion::of, base::Range{0, kMaxBarrierTasks}),
        base::row_if_set("tracked", &BarrierQuestion::tracked));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const BarrierQuestion&, const BarrierQuestion&) = default;
};

// A task of which some processes have come, and not all.
struct PartlyCome {
  job::TaskId task;
  int processes = 1;

  static constexpr auto rows() {
    return std::tuple(
        base::row("task", &PartlyCome::task),
        base::row("processes", &PartlyCome::processes, base::Range{1, kMaxBarrierProcesses}));
  }

  friend bool operator==(const PartlyCome&, const PartlyCome&) = default;
};

struct BarrierAnswer {
  bool is_complete = false;  // all have come: the process may go on
  std::int64_t round = 0;    // of the question, or the one in which the barrier is now
  // The tasks that have come, where it is not complete.
  std::vector<job::TaskId> come{};
  std::vector<PartlyCome> partly{};
  // Which tasks have ended and how, where so many cannot come any more.
  std::string ended{};
  // Those that have ended and cannot come, where others still can.
  std::vector<job::TaskId> gone{};

  static constexpr auto rows() {
    return std::tuple(base::row("complete", &BarrierAnswer::is_complete),
                      base::row("round", &BarrierAnswer::round, base::Range{0, kMaxRound}),
                      base::row_if_set("come", &BarrierAnswer::come),
                      base::row_if_set("partly", &BarrierAnswer::partly),
                      base::row_if_set("ended", &BarrierAnswer::ended, job::kSentence),
                      base::row_if_set("gone", &BarrierAnswer::gone));
  }

  friend bool operator==(const BarrierAnswer&, const BarrierAnswer&) = default;
};

// Nobody waits for the answer to the question with this number any more: a process has gone.
struct CancelQuestion {
  std::int64_t question = 0;

  static constexpr auto rows() {
    return std::tuple(base::row("question", &CancelQuestion::question, kNumberForm));
  }

  friend bool operator==(const CancelQuestion&, const CancelQuestion&) = default;
};

}  // namespace gangrun::wire
