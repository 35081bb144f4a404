#include "zookeeper/keeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/format.h"

namespace gangrun::zookeeper {

using Verb = Operation::Verb;
using Code = ServerAnswer::Code;

namespace {

std::string_view in_words(Verb verb) {
  switch (verb) {
    case Verb::kCreate: return "made";
    case Verb::kSet: return "written";
    case Verb::kDelete: return "removed";
    case Verb::kLook: return "looked at";
  }
  return "used";
}

}  // namespace

void Keeper::want(std::vector<Node> nodes) {
  std::set<std::string> paths;
  for (Node& node : nodes) {
    paths.insert(node.path);
    Entry& entry = entries_[node.path];
    entry.kind = node.kind;
    entry.is_shared = node.is_shared;
    entry.wanted = std::move(node);
  }
  for (auto& [path, entry] : entries_) {
    if (!paths.contains(path)) entry.wanted.reset();
  }
  std::erase_if(entries_, [](const auto& item) {
    return item.second.is_left_to_others() && !item.second.is_under_way;
  });
}

void Keeper::connected() {
  disconnected();
  is_connected_ = true;
  trouble_.clear();
}

void Keeper::disconnected() {
  is_connected_ = false;
  has_failed_ = false;
  under_way_ = 0;
  for (auto& [path, entry] : entries_) {
    entry.is_under_way = false;
    entry.stage = Stage::kUnknown;
  }
}

void Keeper::retry() {
  has_failed_ = false;
  for (auto& [path, entry] : entries_) {
    if (entry.stage == Stage::kFailed) entry.stage = Stage::kUnknown;
  }
}

// Somebody has removed one of them.
void Keeper::doubt_parents_of(const std::string& path) {
  for (std::size_t end = path.rfind('/'); end != 0 && end != std::string::npos;
       end = path.rfind('/', end - 1)) {
    const auto parent = entries_.find(path.substr(0, end));
    if (parent != entries_.end() && parent->second.stage == Stage::kThere) {
      parent->second.stage = Stage::kUnknown;
    }
  }
}

bool Keeper::is_settled() const {
  return is_connected_ && std::all_of(entries_.begin(), entries_.end(), [this](const auto& item) {
           const auto& [path, entry] = item;
           return !entry.is_under_way && entry.wanted && entry.stage != Stage::kFailed &&
                  !step_of(path, entry);
         });
}

std::optional<Operation> Keeper::step_of(const std::string& path, const Entry& entry) const {
  if (entry.is_under_way || entry.stage == Stage::kFailed) return std::nullopt;
  if (!entry.wanted) return Operation{Verb::kDelete, {.path = path}};
  switch (entry.stage) {
    case Stage::kUnknown: {
      Node node = *entry.wanted;
      if (!has_containers_ && node.kind == Kind::kContainer) node.kind = Kind::kPersistent;
      return Operation{Verb::kCreate, std::move(node)};
    }
    case Stage::kTaken: return Operation{Verb::kLook, {.path = path}};
    case Stage::kOther: return Operation{Verb::kDelete, {.path = path}};
    case Stage::kStale: break;
    case Stage::kThere:
      if (entry.is_shared || entry.written == entry.wanted->data) return std::nullopt;
      break;
    case Stage::kFailed: return std::nullopt;
  }
  return Operation{Verb::kSet, {.path = path, .data = entry.wanted->data}};
}

std::vector<Operation> Keeper::next() {
  std::vector<Operation> operations;
  if (!is_connected_) return operations;
  const auto take = [&](const std::string& path, Entry& entry, bool wanted) {
    if (under_way_ == kMaxUnderWay || entry.wanted.has_value() != wanted) return;
    auto step = step_of(path, entry);
    if (!step) return;
    entry.is_under_way = true;
    ++under_way_;
    operations.push_back(*std::move(step));
  };
  // A child goes before its parent.
  for (auto item = entries_.rbegin(); item != entries_.rend(); ++item) {
    take(item->first, item->second, false);
  }
  for (auto& [path, entry] : entries_) take(path, entry, true);
  return operations;
}

void Keeper::done(const Operation& operation, const ServerAnswer& answer) {
  const auto found = entries_.find(operation.node.path);
  if (found == entries_.end() || !found->second.is_under_way) return;
  Entry& entry = found->second;
  entry.is_under_way = false;
  --under_way_;
  if (entry.is_left_to_others()) {
    entries_.erase(found);
    return;
  }
  if (answer.code == Code::kLost) {
    entry.stage = Stage::kUnknown;
    return;
  }
  if (operation.verb == Verb::kDelete) {
    const bool is_gone = answer.code == Code::kDone || answer.code == Code::kMissing;
    // Others have something in it: it is theirs to remove.
    const bool stays = answer.code == Code::kNotEmpty && entry.kind != Kind::kEphemeral;
    if (!is_gone && !stays) return fail(entry, operation, answer);
    if (!entry.wanted) {
      entries_.erase(found);
    } else {
      entry.stage = is_gone ? Stage::kUnknown : Stage::kStale;
    }
    return;
  }
  if (operation.verb == Verb::kCreate) {
    if (answer.code == Code::kUnsupported && operation.node.kind == Kind::kContainer) {
      has_containers_ = false;
      return;
    }
    if (answer.code != Code::kDone && answer.code != Code::kExists) {
      return fail(entry, operation, answer);
    }
    entry.written = operation.node.data;
    return created(entry, answer);
  }
  if (answer.code == Code::kMissing) {
    entry.stage = Stage::kUnknown;
  } else if (answer.code != Code::kDone) {
    fail(entry, operation, answer);
  } else if (operation.verb == Verb::kLook) {
    entry.stage = answer.is_ours ? Stage::kStale : Stage::kOther;
  } else {
    entry.stage = Stage::kThere;
    entry.written = operation.node.data;
  }
}

void Keeper::created(Entry& entry, const ServerAnswer& answer) {
  if (answer.code == Code::kDone || entry.is_shared) {
    entry.stage = Stage::kThere;
  } else {
    entry.stage = entry.kind == Kind::kEphemeral ? Stage::kTaken : Stage::kStale;
  }
}

void Keeper::fail(Entry& entry, const Operation& operation, const ServerAnswer& answer) {
  entry.stage = Stage::kFailed;
  if (answer.code == Code::kMissing) doubt_parents_of(operation.node.path);
  // The first one is the cause of others.
  if (std::exchange(has_failed_, true)) return;
  const std::string reason =
      answer.code == Code::kMissing ? "what it lies in is missing" : answer.reason;
  trouble_ = base::format("{} cannot be {}: {}", operation.node.path, in_words(operation.verb),
                          reason.empty() ? "the server refuses it" : reason);
}

}  // namespace gangrun::zookeeper
