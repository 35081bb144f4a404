#include "base/described.h"

#include <cmath>

#include "base/described_json.h"
#include "base/format.h"
#include "base/hex.h"
#include "base/strings.h"

namespace gangrun::base {

namespace {

constexpr std::size_t kMaxShownBytes = 80;  // of a name that is not one of ours, in an error

}  // namespace

Error wrong_member(std::string_view key, std::string_view must_be) {
  return invalid_argument(format("\"{}\" must be {}", key, must_be));
}

Error missing_member(std::string_view key) {
  return invalid_argument(format("\"{}\" is missing", key));
}

std::string one_of(const std::vector<std::string>& names) {
  std::string words;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) words += i + 1 == names.size() ? " or " : ", ";
    words += names[i];
  }
  return words;
}

std::string Range::bounds() const { return format("from {} to {}", least, most); }

Result<> Range::check(std::string_view key, std::int64_t number) const {
  if (number >= least && number <= most) return {};
  return wrong_member(key, bounds());
}

Json Amount::write(double value) { return std::isfinite(value) ? value : 0.0; }

Result<> Amount::read(const Json& json, std::string_view key, double& out) {
  GANGRUN_TRY(JsonOf<double>::read(json, key, out));
  if (out >= 0) return {};
  return wrong_member(key, bounds());
}

std::string Bytes::bounds() const { return format("at most {} bytes long", max_bytes); }

Json Bytes::write(const std::string& value) const {
  return is_cut ? shorten(value, max_bytes) : value;
}

Result<> Bytes::read(const Json& json, std::string_view key, std::string& out) const {
  GANGRUN_TRY(JsonOf<std::string>::read(json, key, out));
  if (out.size() > max_bytes) return wrong_member(key, bounds());
  return {};
}

std::string Hex::bounds() const {
  return format("at most {} bytes, as hexadecimal digits", max_bytes);
}

Json Hex::write(const std::string& value) const { return to_hex(value); }
Json Hex::write(const Secret& value) const { return to_hex(value.reveal()); }

Result<> Hex::read(const Json& json, std::string_view key, std::string& out) const {
  GANGRUN_TRY(Bytes{max_bytes * 2}.read(json, key, out));
  auto bytes = from_hex(out);
  if (!bytes) return wrong_member(key, "pairs of hexadecimal digits");
  out = *std::move(bytes);
  return {};
}

Result<> Hex::read(const Json& json, std::string_view key, Secret& out) const {
  std::string bytes;
  GANGRUN_TRY(read(json, key, bytes));
  out = Secret(std::move(bytes));
  return {};
}

Result<> check_list(const Json& json, std::string_view key, std::size_t max_items) {
  if (!json.is_array()) return wrong_member(key, "a list");
  if (json.size() <= max_items) return {};
  return wrong_member(key, format("a list of at most {}", max_items));
}

std::string list_bounds(std::size_t max_items, const std::string& each) {
  const std::string many =
      max_items == kAnyNumber ? std::string() : format("at most {}", max_items);
  if (each.empty()) return many;
  return many.empty() ? "each " + each : many + ", each " + each;
}

namespace described_detail {

Error unknown_member(const Members& in) {
  const std::vector<std::string_view>& known = in.taken();
  for (const auto& [key, value] : in.object().items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return invalid_argument(format("unknown member \"{}\"", shorten(key, kMaxShownBytes)));
  }
  return internal("a member was read twice");
}

Error unknown_message(std::string_view name) {
  return invalid_argument(format("unknown message \"{}\"", shorten(name, kMaxShownBytes)));
}

}  // namespace described_detail

}  // namespace gangrun::base
