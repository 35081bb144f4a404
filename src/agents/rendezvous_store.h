#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/task_id.h"
#include "wire/messages.h"

namespace gangrun::agents {

// The limits for one job. A rank of gloo keeps 136 bytes for each of the others, in each of three
// scopes.
inline constexpr std::size_t kMaxRendezvousKeys = 100'000;
inline constexpr std::size_t kMaxRendezvousBytes = std::size_t{64} << 20U;  // keys and values
inline constexpr std::size_t kMaxRendezvousReaders = 100'000;               // that wait for a key

// The keys by which the processes of one generation find each other, and who waits for which
// (docs/protocols/rendezvous.md). No socket, no clock.
class RendezvousStore {
 public:
  // An agent's question that waits for a key.
  struct Reader {
    wire::SessionId session = 0;
    int attempt = 0;
    std::int64_t id = 0;

    friend bool operator==(const Reader&, const Reader&) = default;
  };

  // Sets a key; the readers that have waited for it, who do so no longer. kResourceExhausted where
  // a limit forbids it: then the key is as it was.
  base::Result<std::vector<Reader>> put(const job::TaskId& owner, const std::string& key,
                                        std::string value);
  // Null where there is none.
  [[nodiscard]] const std::string* find(const std::string& key) const;
  // Until the next put() of `key`.
  base::Result<> wait(const std::string& key, const Reader& reader);
  // Erases what a rank deletes when it has met all others: its key "SCOPE/N", and with it
  // "SCOPE/rank_N", which it never deletes itself.
  void erase(const std::string& key);

  // Erases what the former process of a task has put: nobody is there any more.
  void forget_owner(const job::TaskId& owner);
  void forget_readers(wire::SessionId session);
  // The next generation has begun.
  void clear();

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    job::TaskId owner;
    std::string value;
  };
  using Entries = std::map<std::string, Entry>;

  Entries::iterator remove(Entries::iterator entry);

  Entries entries_;
  std::size_t bytes_ = 0;
  std::map<std::string, std::vector<Reader>> readers_;
  std::size_t reader_count_ = 0;
};

}  // namespace gangrun::agents
