#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "job/task_id.h"
#include "wire/key_messages.h"

namespace gangrun::agents {

// One change of a key, asked by an agent that counts its own: those of an agent with a later
// attempt come after all of an earlier one.
struct KeyChange {
  std::string key;
  std::optional<std::string> value;  // none: the key goes
  job::TaskId task;
  int attempt = 1;
  std::int64_t number = 1;

  friend bool operator==(const KeyChange&, const KeyChange&) = default;
};

// The keys of one job and their values, and which changes have been made. No clock, no file.
class KeyStore {
 public:
  // Changes on their way may bring so much more.
  struct Coming {
    std::size_t keys = 0;
    std::size_t bytes = 0;
  };
  // kResourceExhausted where a limit forbids it.
  [[nodiscard]] base::Result<> check(const KeyChange& change, Coming coming) const;
  // Whether the key was there before.
  bool apply(const KeyChange& change);
  // Whether this change, or a later one of the same agent, has been made.
  [[nodiscard]] bool is_made(const KeyChange& change) const;

  // Null where there is none. Good until the next change.
  [[nodiscard]] const std::string* find(const std::string& key) const;
  // The keys that begin with `prefix` and come after `after`, in order.
  [[nodiscard]] wire::KeyAnswer list(std::string_view prefix, const std::string& after) const;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const std::map<std::string, std::string>& keys() const { return keys_; }
  // The last change of each task that made one: its agent's attempt, and the number.
  using Made = std::map<job::TaskId, std::pair<int, std::int64_t>>;
  [[nodiscard]] const Made& made() const { return made_; }
  void set_made(const job::TaskId& task, int attempt, std::int64_t number);

 private:
  std::map<std::string, std::string> keys_;
  std::size_t bytes_ = 0;
  Made made_;
};

}  // namespace gangrun::agents
