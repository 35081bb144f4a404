#include "agents/key_store.h"

#include <algorithm>

#include "base/format.h"

namespace gangrun::agents {

base::Result<> KeyStore::check(const KeyChange& change, Coming coming) const {
  if (!change.value) return {};
  const std::string* former = find(change.key);
  if (former == nullptr && keys_.size() + coming.keys >= wire::kMaxKeys) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("the job has {} keys, the most that it may", wire::kMaxKeys)};
  }
  const std::size_t before = former == nullptr ? 0 : change.key.size() + former->size();
  const std::size_t after = change.key.size() + change.value->size();
  if (bytes_ + coming.bytes - before + after > wire::kMaxBytesOfKeys) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("the job's keys and values would have more than the {} bytes "
                                    "that they may",
                                    wire::kMaxBytesOfKeys)};
  }
  return {};
}

bool KeyStore::apply(const KeyChange& change) {
  set_made(change.task, change.attempt, change.number);
  const auto former = keys_.find(change.key);
  const bool was_there = former != keys_.end();
  if (was_there) {
    bytes_ -= change.key.size() + former->second.size();
    if (!change.value) keys_.erase(former);
  }
  if (change.value) {
    bytes_ += change.key.size() + change.value->size();
    keys_[change.key] = *change.value;
  }
  return was_there;
}

bool KeyStore::is_made(const KeyChange& change) const {
  const auto last = made_.find(change.task);
  return last != made_.end() && last->second >= std::pair(change.attempt, change.number);
}

void KeyStore::set_made(const job::TaskId& task, int attempt, std::int64_t number) {
  if (number == 0) return;  // nobody counts it
  auto& last = made_[task];
  last = std::max(last, std::pair(attempt, number));
}

const std::string* KeyStore::find(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

wire::KeyAnswer KeyStore::list(std::string_view prefix, const std::string& after) const {
  wire::KeyAnswer answer;
  auto next = keys_.lower_bound(std::string(prefix));
  if (after >= prefix) next = keys_.upper_bound(after);
  for (; next != keys_.end() && next->first.starts_with(prefix); ++next) {
    if (answer.keys.size() == wire::kMaxListedKeys) {
      answer.more = true;
      break;
    }
    answer.keys.push_back(next->first);
  }
  answer.found = !answer.keys.empty();
  return answer;
}

}  // namespace gangrun::agents
