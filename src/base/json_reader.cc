#include "base/json_reader.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/format.h"

namespace gangrun::base {

namespace {

// Objects with more members than that get an index of their keys.
constexpr std::size_t kFewMembers = 32;

// For people, in place of the library's words. `read_bytes`: with the one that is wrong.
std::string what_is_wrong(std::string_view text, std::size_t read_bytes) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "it is empty";
  if (read_bytes > text.size()) return "it ends too early";
  const std::string_view good = text.substr(0, std::max<std::size_t>(read_bytes, 1) - 1);
  const auto line = std::count(good.begin(), good.end(), '\n') + 1;
  const std::size_t column = good.size() - (good.rfind('\n') + 1) + 1;
  return format("it cannot be read at line {}, column {}", line, column);
}

// Builds the document while the library tells what comes.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Reader(std::string_view text, std::size_t max_values, const LeavesOut& leaves_out)
      : text_(text), max_values_(max_values), leaves_out_(leaves_out) {}

  bool null() override { return put(Json()); }
  bool boolean(bool value) override { return put(Json(value)); }
  bool number_integer(Json::number_integer_t value) override { return put(Json(value)); }
  bool number_unsigned(Json::number_unsigned_t value) override { return put(Json(value)); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) override {
    return put(Json(value));
  }
  bool string(std::string& value) override { return put(Json(std::move(value))); }
  bool binary(Json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& key) override;
  bool parse_error(std::size_t read_bytes, const std::string& /*token*/,
                   const Json::exception& /*error*/) override {
    return refuse(invalid_argument(format("not JSON: {}", what_is_wrong(text_, read_bytes))));
  }

  [[nodiscard]] Result<JsonRead> take() {
    if (error_) return *error_;
    return JsonRead{std::move(document_), values_};
  }

 private:
  // A list or an object that has begun and not ended.
  struct Open {
    Json* value = nullptr;
    std::unordered_map<std::string, std::size_t> places;  // of the members, if they are many
  };

  bool put(Json value) {
    if (!counts()) return false;
    if (is_left_out()) {
      if (depth_left_out_ == 0) leaves_next_out_ = false;
      return true;
    }
    (void)place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (!counts()) return false;
    if (++depth_ > kMaxJsonDepth) {
      return refuse(invalid_argument(format("JSON nests deeper than {} levels", kMaxJsonDepth)));
    }
    if (is_left_out()) {
      ++depth_left_out_;
      return true;
    }
    open_.push_back({place(std::move(value)), {}});
    return true;
  }

  bool close() {
    --depth_;
    if (depth_left_out_ == 0) {
      open_.pop_back();
    } else if (--depth_left_out_ == 0) {
      leaves_next_out_ = false;
    }
    return true;
  }

  // A list grows at its end only, where nothing is open then: pointers to what is open stay good.
  Json* place(Json value) {
    Json* at = &document_;
    if (!open_.empty()) {
      Json& parent = *open_.back().value;
      at = parent.is_array() ? &parent.emplace_back() : member_;
    }
    *at = std::move(value);
    return at;
  }

  bool counts() {
    if (is_left_out() || ++values_ <= max_values_) return true;
    return refuse({Code::kResourceExhausted,
                   format("JSON with more than the {} values that are allowed", max_values_)});
  }

  bool refuse(Error error) {
    error_ = std::move(error);
    return false;
  }

  [[nodiscard]] bool is_left_out() const { return leaves_next_out_; }

  const std::string_view text_;
  const std::size_t max_values_;
  const LeavesOut& leaves_out_;
  Json document_;
  std::vector<Open> open_;
  Json* member_ = nullptr;  // for which a value comes next
  int depth_ = 0;
  bool leaves_next_out_ = false;
  int depth_left_out_ = 0;  // how much of what is open is left out
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

bool Reader::key(std::string& key) {
  if (is_left_out()) return true;
  if (leaves_out_ && leaves_out_(depth_, key)) {
    leaves_next_out_ = true;
    return true;
  }
  Open& object = open_.back();
  auto& members = object.value->get_ref<Json::object_t&>();
  if (members.size() <= kFewMembers) {
    member_ = &members[key];
    return true;
  }
  if (object.places.empty()) {
    for (const auto& [name, value] : members) object.places.emplace(name, object.places.size());
  }
  const auto [found, is_new] = object.places.emplace(key, members.size());
  if (is_new) members.emplace_back(std::move(key), Json());
  member_ = &members.begin()[static_cast<std::ptrdiff_t>(found->second)].second;
  return true;
}

}  // namespace

Result<JsonRead> read_json(std::string_view text, std::size_t max_values,
                           const LeavesOut& leaves_out) {
  Reader reader(text, max_values, leaves_out);
  (void)Json::sax_parse(text, &reader);
  return reader.take();
}

}  // namespace gangrun::base
