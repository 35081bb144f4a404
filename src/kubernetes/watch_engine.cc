#include "kubernetes/watch_engine.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "kubernetes/refusal.h"
#include "kubernetes/value_at.h"

namespace gangrun::kubernetes {

namespace {

constexpr int kGone = 410;
constexpr int kTooNew = 504;  // the server, just started, does not know that version yet

}  // namespace

base::Result<base::JsonRead> parse_objects(std::string_view text, int depth, std::size_t max_bytes,
                                           std::size_t max_values) {
  if (text.size() > max_bytes) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("{} bytes of JSON, {} are allowed", text.size(), max_bytes)};
  }
  bool in_metadata = false;
  const auto leaves_out = [&](int level, std::string_view key) {
    if (level <= depth) in_metadata = level == depth && key == "metadata";
    return in_metadata && level == depth + 1 && key == "managedFields";
  };
  auto read = base::read_json(text, max_values, leaves_out);
  if (!read.ok() && read.error().code == base::Code::kResourceExhausted) return read.error();
  if (!read.ok() || !read->document.is_object()) {
    return base::unavailable("the answer is not an object of an API server");
  }
  return std::move(*read);
}

Query WatchEngine::query(double dice) const {
  Query out;
  if (!request_.label_selector.empty()) out.emplace_back("labelSelector", request_.label_selector);
  if (lists()) {
    if (!pages_expire_) out.emplace_back("limit", std::to_string(kPageObjects));
    if (!continue_.empty()) out.emplace_back("continue", continue_);
    return out;
  }
  const int spread = kLongestWatchSeconds - kShortestWatchSeconds;
  const int seconds = kShortestWatchSeconds + static_cast<int>(dice * spread);
  out.emplace_back("watch", "true");
  out.emplace_back("allowWatchBookmarks", "true");
  out.emplace_back("resourceVersion", version_);
  out.emplace_back("timeoutSeconds", std::to_string(seconds));
  return out;
}

base::Result<std::optional<std::vector<base::Json>>> WatchEngine::take_page(std::string_view body) {
  ++pages_;
  listed_bytes_ += body.size();
  if (pages_ > kMaxPages || listed_bytes_ > kMaxListBytes) {
    list_again();
    return base::unavailable(
        base::format("the list has more than {} pages or {} bytes", kMaxPages, kMaxListBytes));
  }
  auto read = parse_objects(body, 3, kMaxPageBytes,
                            std::min(base::kMaxJsonValues, kMaxListValues - listed_values_));
  if (!read.ok()) {
    if (read.error().code == base::Code::kResourceExhausted) list_again();
    return std::move(read).error();
  }
  listed_values_ += read->values;
  base::Json page = std::move(read->document);
  const auto items = page.find("items");
  const std::string version = text_at(page, {"metadata", "resourceVersion"});
  if (items == page.end() || !items->is_array() || version.empty()) {
    return base::unavailable("the answer is not a list of an API server");
  }
  for (base::Json& item : *items) {
    if (item.is_object()) listed_.push_back(std::move(item));
  }
  continue_ = text_at(page, {"metadata", "continue"});
  if (!continue_.empty()) return std::optional<std::vector<base::Json>>();
  std::vector<base::Json> listed = std::exchange(listed_, {});
  list_again();
  version_ = version;
  pages_expire_ = false;
  return std::optional(std::move(listed));
}

base::Result<> WatchEngine::put(std::string_view piece, std::vector<Change>& changes) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (line_.size() + part.size() > kMaxEventBytes) {
      list_again();
      return base::unavailable(
          base::format("a change has more than {} bytes, which are allowed", kMaxEventBytes));
    }
    if (end == std::string_view::npos) {
      line_ += part;
      break;
    }
    piece.remove_prefix(end + 1);
    if (line_.empty()) {
      GANGRUN_TRY(take_line(part, changes));
    } else {
      // Not kept for the next line: large ones are rare.
      std::string line = std::exchange(line_, {});
      line += part;
      GANGRUN_TRY(take_line(line, changes));
    }
  }
  return {};
}

base::Result<> WatchEngine::take_line(std::string_view line, std::vector<Change>& changes) {
  if (line.empty()) return {};
  auto event = parse_objects(line, 2, kMaxEventBytes, base::kMaxJsonValues);
  auto taken = event.ok() ? take_event(std::move(event->document), changes)
                          : base::Result<>(std::move(event).error());
  if (!taken.ok()) line_.clear();
  return taken;
}

base::Result<> WatchEngine::take_event(base::Json event, std::vector<Change>& changes) {
  const std::string type = text_at(event, {"type"});
  const auto object = event.find("object");
  if (object == event.end() || !object->is_object()) {
    return base::unavailable("a change without its object");
  }
  if (type == "ERROR") return take_error(*object);
  const std::string version = text_at(*object, {"metadata", "resourceVersion"});
  if (!version.empty()) version_ = version;
  const bool is_deleted = type == "DELETED";
  if (is_deleted || type == "ADDED" || type == "MODIFIED") {
    changes.push_back({is_deleted, std::move(*object)});
  }
  return {};
}

base::Result<> WatchEngine::take_error(const base::Json& status) {
  const auto refusal = read_status(status);
  if (!refusal) return base::unavailable("the watch ended with an error that says nothing");
  (void)refused(*refusal);
  return error_of(*refusal);
}

void WatchEngine::end_watch() { line_.clear(); }

bool WatchEngine::refused(const Refusal& refusal) {
  const bool was_listing = lists();
  const bool is_too_old = refusal.status == kGone;
  if (!is_too_old && (was_listing || refusal.status != kTooNew)) return false;
  if (was_listing && pages_expire_) return false;
  pages_expire_ = was_listing;
  list_again();
  return true;
}

void WatchEngine::list_again() {
  version_.clear();
  continue_.clear();
  listed_.clear();
  pages_ = 0;
  listed_bytes_ = 0;
  listed_values_ = 0;
  line_.clear();
}

}  // namespace gangrun::kubernetes
