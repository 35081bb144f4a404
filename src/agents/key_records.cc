#include "agents/key_records.h"

#include "base/described_json.h"
#include "base/format.h"
#include "base/json.h"
#include "job/described.h"

namespace gangrun::agents {

namespace {

void apply(KeyRecord record, KeptKeys& kept) {
  switch (record.what) {
    case KeyRecordKind::kPut:
    case KeyRecordKind::kDelete: {
      const bool is_put = record.what == KeyRecordKind::kPut;
      KeyChange change{.key = std::move(record.key),
                       .value = is_put ? std::optional(std::move(record.value)) : std::nullopt,
                       .task = record.task.value_or(job::TaskId{}),
                       .attempt = record.attempt,
                       .number = record.change};
      (void)kept.store.apply(change);
      return;
    }
    case KeyRecordKind::kMade:
      return kept.store.set_made(*record.task, record.attempt, record.change);
    case KeyRecordKind::kBarrier:
      (void)kept.barriers.begin(record.generation);
      (void)kept.barriers.release(record.generation, record.key, record.round);
      return;
    case KeyRecordKind::kWhole: return;
  }
}

}  // namespace

base::Result<> KeyRecord::complete() const {
  const bool has_key = what != KeyRecordKind::kMade && what != KeyRecordKind::kWhole;
  if (has_key ? !wire::is_key(key) : !key.empty()) {
    return base::wrong_member("key", wire::kKeyForm);
  }
  if (what == KeyRecordKind::kMade && !task) return base::missing_member("task");
  if (task.has_value() != (change > 0)) {
    return base::wrong_member("task", "there exactly where a change is");
  }
  if ((what == KeyRecordKind::kBarrier) != (generation > 0)) {
    return base::wrong_member("generation", "more than 0 exactly for a barrier");
  }
  return {};
}

KeyRecord record_of(const KeyChange& change) {
  return {.what = change.value ? KeyRecordKind::kPut : KeyRecordKind::kDelete,
          .key = change.key,
          .value = change.value.value_or(std::string()),
          .task = change.task,
          .attempt = change.attempt,
          .change = change.number};
}

KeyRecord record_of_round(int generation, const std::string& barrier, std::int64_t round) {
  return {
      .what = KeyRecordKind::kBarrier, .key = barrier, .generation = generation, .round = round};
}

std::string line_of(const KeyRecord& record) {
  return base::dump_json(base::to_json(record)) + "\n";
}

std::string lines_of(const KeptKeys& kept) {
  std::string lines;
  for (const auto& [key, value] : kept.store.keys()) {
    lines += line_of({.what = KeyRecordKind::kPut, .key = key, .value = value});
  }
  for (const auto& [task, made] : kept.store.made()) {
    lines += line_of(
        {.what = KeyRecordKind::kMade, .task = task, .attempt = made.first, .change = made.second});
  }
  for (const auto& [name, round] : kept.barriers.released()) {
    lines += line_of(record_of_round(kept.barriers.generation(), name, round));
  }
  return lines + line_of({.what = KeyRecordKind::kWhole});
}

base::Result<> replay(std::string_view segment, KeptKeys& kept) {
  KeptKeys said;
  bool is_whole = false;
  for (int number = 1; !segment.empty(); ++number) {
    const std::size_t end = segment.find('\n');
    if (end == std::string_view::npos) break;
    const auto json = base::parse_json(segment.substr(0, end), kMaxKeyRecordBytes);
    auto record =
        json.ok() ? base::from_json<KeyRecord>(*json) : base::Result<KeyRecord>(json.error());
    if (!record.ok()) {
      return base::Error{base::Code::kDataLoss,
                         base::format("line {}: {}", number, record.error().message)};
    }
    is_whole |= record->what == KeyRecordKind::kWhole;
    apply(*std::move(record), said);
    segment.remove_prefix(end + 1);
  }
  if (is_whole) kept = std::move(said);
  return {};
}

}  // namespace gangrun::agents
