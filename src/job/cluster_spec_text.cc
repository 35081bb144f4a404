#include "job/cluster_spec_text.h"

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "job/spec.h"

namespace gangrun::job {

namespace {

// Reads what is written in one way only; whatever else JSON permits is not wrong, but not read.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  [[nodiscard]] bool at_end() const { return left_.empty(); }

  bool take(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }

  // A text that needs no escapes, without its quotes.
  std::optional<std::string_view> text() {
    if (!take("\"")) return std::nullopt;
    const std::size_t end = left_.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = left_.substr(0, end);
    for (const char c : inside) {
      if (c < ' ' || c > '~' || c == '\\') return std::nullopt;
    }
    left_.remove_prefix(end + 1);
    return inside;
  }

  std::optional<int> number() {
    int value = 0;
    const auto read = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    const auto size = static_cast<std::size_t>(read.ptr - left_.data());
    // JSON has no number with a zero in front.
    const bool is_plain = read.ec == std::errc() && value >= 0 && (left_[0] != '0' || size == 1);
    if (!is_plain) return std::nullopt;
    left_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view left_;
};

std::optional<std::vector<Address>> scan_addresses(Scanner& in) {
  std::vector<Address> addresses;
  do {
    const auto text = in.text();
    if (!text || addresses.size() == static_cast<std::size_t>(kMaxTasks)) return std::nullopt;
    auto address = parse_address(*text);
    if (!address.ok()) return std::nullopt;
    addresses.push_back(*std::move(address));
  } while (in.take(","));
  return addresses;
}

// A spec in which all tasks have the places of their indexes.
std::optional<ClusterSpec> scan(std::string_view text) {
  Scanner in(text);
  ClusterSpec spec;
  if (!in.take(R"({"generation":)")) return std::nullopt;
  const auto generation = in.number();
  if (!generation || !in.take(R"(,"tasks":{)")) return std::nullopt;
  spec.generation = *generation;
  std::size_t count = 0;
  do {
    const auto type = in.text();
    if (!type || !is_valid_type_name(*type) || !in.take(":[")) return std::nullopt;
    auto addresses = scan_addresses(in);
    if (!addresses || !in.take("]")) return std::nullopt;
    count += addresses->size();
    if (!spec.tasks.emplace(*type, *std::move(addresses)).second) return std::nullopt;
  } while (in.take(","));
  if (!in.take("}}") || !in.at_end() || count > static_cast<std::size_t>(kMaxTasks)) {
    return std::nullopt;
  }
  return spec;
}

}  // namespace

base::Result<ClusterSpec> cluster_spec_from_text(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    if (auto spec = scan(text)) return *std::move(spec);
  }
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, max_bytes));
  return cluster_spec_from_json(json);
}

}  // namespace gangrun::job
