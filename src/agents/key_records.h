#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "agents/barriers.h"
#include "agents/key_store.h"
#include "base/described.h"
#include "base/result.h"
#include "job/choice.h"
#include "job/task_id.h"
#include "wire/key_messages.h"

// All that a next master must know of keys and barriers, as lines of JSON (docs/protocols/keys.md).
namespace gangrun::agents {

inline constexpr std::size_t kMaxKeyRecordBytes = 2 * wire::kMaxValueBytes + 4096;

enum class KeyRecordKind { kPut, kDelete, kMade, kBarrier, kWhole };
constexpr auto choice_of(KeyRecordKind) {
  using enum KeyRecordKind;
  return job::choice<KeyRecordKind>("a kind of record", {{kPut, "put"},
                                                         {kDelete, "delete"},
                                                         {kMade, "made"},
                                                         {kBarrier, "barrier"},
                                                         {kWhole, "whole"}});
}
inline std::string_view to_string(KeyRecordKind kind) { return job::to_string(kind); }

struct KeyRecord {
  KeyRecordKind what = KeyRecordKind::kWhole;
  std::string key{};    // of a put or delete; the name of a barrier
  std::string value{};  // of a put
  // The task whose agent made the change, or whose last one it was; a key that was there has none.
  std::optional<job::TaskId> task{};
  int attempt = 1;
  std::int64_t change = 0;
  // The round of a barrier that is complete.
  int generation = 0;
  std::int64_t round = 0;

  static constexpr auto rows() {
    return std::tuple(
        base::row("what", &KeyRecord::what),
        base::row_if_set("key", &KeyRecord::key, base::Bytes{wire::kMaxKeyBytes}),
        base::row_if_set("value", &KeyRecord::value, base::Hex{wire::kMaxValueBytes}),
        base::row("task", &KeyRecord::task),
        base::row_if_set("attempt", &KeyRecord::attempt, wire::kAttemptForm),
        base::row_if_set("change", &KeyRecord::change, wire::kNumberForm),
        base::row_if_set("generation", &KeyRecord::generation, wire::kGenerationOrNoneForm),
        base::row_if_set("round", &KeyRecord::round, base::Range{0, wire::kMaxRound}));
  }
  [[nodiscard]] base::Result<> complete() const;

  friend bool operator==(const KeyRecord&, const KeyRecord&) = default;
};

struct KeptKeys {
  KeyStore store;
  Barriers barriers;
};

KeyRecord record_of(const KeyChange& change);
KeyRecord record_of_round(int generation, const std::string& barrier, std::int64_t round);
// With its newline.
std::string line_of(const KeyRecord& record);
// All that is kept, and that it is whole: how a segment begins.
std::string lines_of(const KeptKeys& kept);
// Makes `kept` what a segment says. One whose beginning is not whole says nothing, and a last line
// without an end was not written. kDataLoss: another line is none of ours.
base::Result<> replay(std::string_view segment, KeptKeys& kept);

}  // namespace gangrun::agents
