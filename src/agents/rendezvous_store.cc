#include "agents/rendezvous_store.h"

#include "base/format.h"

namespace gangrun::agents {

base::Result<std::vector<RendezvousStore::Reader>> RendezvousStore::put(const job::TaskId& owner,
                                                                        const std::string& key,
                                                                        std::string value) {
  const auto former = entries_.find(key);
  const bool is_new = former == entries_.end();
  if (is_new && entries_.size() >= kMaxRendezvousKeys) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("the rendezvous of the job has {} keys, the most that it may",
                                    kMaxRendezvousKeys)};
  }
  const std::size_t before = is_new ? 0 : key.size() + former->second.value.size();
  const std::size_t after = key.size() + value.size();
  if (bytes_ - before + after > kMaxRendezvousBytes) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("the rendezvous of the job would have more than the {} bytes "
                                    "that it may",
                                    kMaxRendezvousBytes)};
  }
  bytes_ = bytes_ - before + after;
  entries_[key] = Entry{owner, std::move(value)};
  auto node = readers_.extract(key);
  if (node.empty()) return std::vector<Reader>{};
  reader_count_ -= node.mapped().size();
  return std::move(node.mapped());
}

const std::string* RendezvousStore::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second.value;
}

base::Result<> RendezvousStore::wait(const std::string& key, const Reader& reader) {
  if (reader_count_ >= kMaxRendezvousReaders) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("{} wait for keys of the rendezvous already", reader_count_)};
  }
  readers_[key].push_back(reader);
  ++reader_count_;
  return {};
}

void RendezvousStore::erase(const std::string& key) {
  for (const std::string& gone : {key, wire::rank_key_of(key)}) {
    if (const auto found = entries_.find(gone); found != entries_.end()) remove(found);
  }
}

void RendezvousStore::forget_owner(const job::TaskId& owner) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->second.owner == owner ? remove(entry) : std::next(entry);
  }
}

void RendezvousStore::forget_readers(wire::SessionId session) {
  for (auto waiting = readers_.begin(); waiting != readers_.end();) {
    reader_count_ -= std::erase_if(waiting->second,
                                   [&](const Reader& reader) { return reader.session == session; });
    waiting = waiting->second.empty() ? readers_.erase(waiting) : std::next(waiting);
  }
}

void RendezvousStore::clear() {
  entries_.clear();
  readers_.clear();
  bytes_ = reader_count_ = 0;
}

RendezvousStore::Entries::iterator RendezvousStore::remove(Entries::iterator entry) {
  bytes_ -= entry->first.size() + entry->second.value.size();
  return entries_.erase(entry);
}

}  // namespace gangrun::agents
