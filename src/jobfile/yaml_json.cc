#include "jobfile/yaml_json.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"
#include "jobfile/yaml_scalar.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::jobfile {

namespace {

using base::Json;

constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

struct Measure {
  std::size_t values = 0;
  std::size_t bytes = 0;
  std::size_t depth = 0;
};

Measure measure(const Json& json) {
  Measure sum{1, json.is_string() ? json.get_ref<const std::string&>().size() : 0, 0};
  if (!json.is_structured()) return sum;
  for (const auto& [key, value] : json.items()) {
    const Measure part = measure(value);
    sum.values += part.values;
    sum.bytes += part.bytes + (json.is_object() ? key.size() : 0);
    sum.depth = std::max(sum.depth, part.depth);
  }
  ++sum.depth;
  return sum;
}

Mark place_of(const YAML::Mark& mark) {
  return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

// Builds the value from the parser's events, so that its depth and size are ours to limit. After
// the first refusal all further events are ignored.
class JsonBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (refusal_) return;
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return refuse(mark, "an alias (*name) stands in what it names");
    const Measure part = measure(found->second);
    values_ += part.values;
    bytes_ += part.bytes;
    if (frames_.size() + part.depth > kMaxYamlDepth) return refuse_depth(mark);
    if (bytes_ > kMaxYamlBytes) {
      return refuse(mark,
                    base::format("aliases (*name) stand for more than {} bytes", kMaxYamlBytes));
    }
    add(mark, 0, found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (value.find('\0') != std::string::npos || !base::is_valid_utf8(value)) {
      return refuse(mark, "a text has a NUL character or is not valid Unicode");
    }
    if (tag == "!" || tag == kStringTag) return add(mark, anchor, value);
    if (refusal_ || !accept_tag(mark, tag)) return;
    if (value == "<<" && wants_key()) {
      frames_.back().is_merging = true;
      frames_.back().key = value;
      return;
    }
    add(mark, anchor, yaml_scalar(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Json::object());
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] const YAML::Mark& start() const { return start_; }
  [[nodiscard]] const std::optional<YamlRefusal>& refusal() const { return refusal_; }
  [[nodiscard]] Json take() { return std::exchange(root_, {}); }

 private:
  struct Frame {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::set<std::string> keys;      // so far
    std::optional<std::string> key;  // read, its value not yet
    bool is_merging = false;         // the value to come is merged
    std::vector<Json> merged;
  };

  void refuse(const YAML::Mark& mark, std::string text) {
    if (!refusal_) refusal_ = YamlRefusal{place_of(mark), std::move(text)};
  }
  void refuse_depth(const YAML::Mark& mark) {
    refuse(mark, base::format("nests deeper than {} levels", kMaxYamlDepth));
  }

  bool accept_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return true;
    refuse(mark, "tags (!name) are not supported; allowed: !!str");
    return false;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json value) {
    if (refusal_ || !accept_tag(mark, tag)) return;
    if (frames_.size() >= kMaxYamlDepth) return refuse_depth(mark);
    if (wants_key()) return refuse(mark, "a key must be a name");
    frames_.push_back({std::move(value), mark, anchor, {}, {}, false, {}});
  }

  void close() {
    if (refusal_ || frames_.empty()) return;
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    for (const Json& merged : frame.merged) {
      for (const auto& [key, value] : merged.items()) {
        if (frame.keys.insert(key).second) append(frame.value, key, value);
      }
    }
    add(frame.mark, frame.anchor, std::move(frame.value));
  }

  // Without the object's own search for the key, which is linear.
  static void append(Json& object, const std::string& key, Json value) {
    object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
  }

  [[nodiscard]] bool wants_key() const {
    return !frames_.empty() && frames_.back().value.is_object() && !frames_.back().key;
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    if (refusal_) return;
    if (++values_ > kMaxYamlValues) {
      return refuse(mark, base::format("has more than {} values", kMaxYamlValues));
    }
    if (anchor != 0) anchors_[anchor] = value;
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (wants_key()) {
      add_key(mark, value);
    } else if (frames_.back().is_merging) {
      merge(mark, std::move(value));
    } else if (frames_.back().key) {
      append(frames_.back().value, *frames_.back().key, std::move(value));
      frames_.back().key.reset();
    } else {
      frames_.back().value.push_back(std::move(value));
    }
  }

  void add_key(const YAML::Mark& mark, const Json& value) {
    if (value.is_structured() || value.is_null()) return refuse(mark, "a key must be a name");
    const std::string key = value.is_string() ? value.get<std::string>() : base::dump_json(value);
    if (!frames_.back().keys.insert(key).second) {
      return refuse(mark, base::format("key {} is given twice", job::in_quotes(key)));
    }
    frames_.back().key = key;
  }

  void merge(const YAML::Mark& mark, Json value) {
    const Json parts = value.is_array() ? std::move(value) : Json::array({std::move(value)});
    for (const Json& part : parts) {
      if (!part.is_object()) return refuse(mark, "what is merged by << must be a map, or maps");
      frames_.back().merged.push_back(part);
    }
    frames_.back().is_merging = false;
    frames_.back().key.reset();
  }

  YAML::Mark start_ = YAML::Mark::null_mark();  // of the document
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Json> anchors_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;  // of aliases
  Json root_;
  std::optional<YamlRefusal> refusal_;
};

base::Error error_of(const YamlRefusal& refusal) {
  if (refusal.mark.line == 0) return base::invalid_argument(refusal.text);
  return base::invalid_argument(
      base::format("line {}, column {}: {}", refusal.mark.line, refusal.mark.column, refusal.text));
}

// The words behind a colon in the parser's messages are of the text: it might be a secret.
YamlRefusal not_yaml(std::string_view text, const YAML::Exception& error) {
  return {in_text(text, place_of(error.mark)),
          base::format("not YAML: {}", error.msg.substr(0, error.msg.find(':')))};
}

base::Result<Json> run_parser(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Json found;
  YAML::Parser parser(stream);
  for (int last_start = -1;;) {
    JsonBuilder builder;
    std::optional<YamlRefusal> refusal;
    bool is_document = false;
    try {
      is_document = parser.HandleNextDocument(builder);
    } catch (const YAML::Exception& error) {
      refusal = indented_by_tab(text, place_of(error.mark).line).value_or(not_yaml(text, error));
    } catch (const std::exception& error) {
      refusal = YamlRefusal{{}, base::format("not YAML: {}", error.what())};
    }
    if (builder.refusal()) refusal = builder.refusal();
    // A text that begins no document (",") gives empty ones without end.
    if (is_document && !refusal && builder.start().pos <= last_start) {
      refusal = YamlRefusal{place_of(builder.start()), "not YAML: no value begins like this"};
    }
    if (refusal) return error_of(*refusal);
    if (!is_document) return found;
    last_start = builder.start().pos;
    Json document = builder.take();
    if (document.is_null()) continue;
    if (!found.is_null()) return base::invalid_argument("has more than one document (---)");
    found = std::move(document);
  }
}

}  // namespace

base::Result<Json> yaml_to_json(std::string_view text) {
  if (text.size() > kMaxYamlBytes) {
    return base::Error{
        base::Code::kResourceExhausted,
        base::format("{} bytes of YAML are more than the limit of {}", text.size(), kMaxYamlBytes)};
  }
  if (const auto refusal = find_bad_bytes(text)) return error_of(*refusal);
  return run_parser(text);
}

}  // namespace gangrun::jobfile
