#include "jobfile/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/spec.h"
#include "job/units.h"
#include "jobfile/yaml_scalar.h"

namespace gangrun::jobfile {

namespace {

Mark mark_of(const YAML::Mark& mark) {
  return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

// Builds the tree from the parser's events, so that its depth and size are ours to limit. After the
// first refusal all further events are ignored.
class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add({YamlNode::Kind::kNull, mark_of(mark), "", {}, {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark_of(mark), "anchors and aliases (&name, *name) are not used in a job file");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    if (!accept_tag(mark, tag)) return;
    if (value.find('\0') != std::string::npos || !base::is_valid_utf8(value)) {
      return refuse(mark_of(mark), "a text has a NUL character or is not valid Unicode");
    }
    add({YamlNode::Kind::kScalar, mark_of(mark), value, {}, {}, tag == "!"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kList, mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kMap, mark, tag);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] const std::optional<YamlRefusal>& refusal() const { return refusal_; }
  [[nodiscard]] YamlNode take() { return std::exchange(root_, {}); }

 private:
  struct Frame {
    YamlNode node;
    std::map<std::string, int> lines;  // of the keys so far
    std::optional<YamlNode::Key> key;  // read, its value not yet
  };

  void refuse(Mark mark, std::string text) {
    if (!refusal_) refusal_ = YamlRefusal{mark, std::move(text)};
  }

  bool accept_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return true;
    refuse(mark_of(mark),
           base::format("the tag {} is not used in a job file", job::in_quotes(tag)));
    return false;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    if (refusal_ || !accept_tag(mark, tag)) return;
    if (frames_.size() >= kMaxSpecDepth) {
      return refuse(mark_of(mark), base::format("nests deeper than {} levels", kMaxSpecDepth));
    }
    // "[fd00::5]:8"
    if (wants_key()) {
      return refuse(mark_of(mark),
                    "a key must be a name; a text that begins with [ or { is written in quotes");
    }
    frames_.push_back({{kind, mark_of(mark), "", {}, {}}, {}, {}});
  }

  void close() {
    if (refusal_ || frames_.empty()) return;
    YamlNode node = std::move(frames_.back().node);
    frames_.pop_back();
    add(std::move(node));
  }

  [[nodiscard]] bool wants_key() const {
    return !frames_.empty() && frames_.back().node.kind == YamlNode::Kind::kMap &&
           !frames_.back().key;
  }

  void add(YamlNode node) {
    if (refusal_) return;
    if (++nodes_ > kMaxSpecNodes) {
      return refuse(node.mark, base::format("has more than {} values", kMaxSpecNodes));
    }
    if (frames_.empty()) {
      root_ = std::move(node);
    } else if (wants_key()) {
      add_key(node);
    } else {
      Frame& frame = frames_.back();
      if (frame.key) frame.node.keys.push_back(*std::exchange(frame.key, std::nullopt));
      frame.node.children.push_back(std::move(node));
    }
  }

  void add_key(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) return refuse(node.mark, "a key must be a name");
    const auto [first, is_new] = frames_.back().lines.emplace(node.text, node.mark.line);
    if (!is_new) {
      return refuse(node.mark, base::format("key {} is given twice; the first is in line {}",
                                            job::in_quotes(node.text), first->second));
    }
    frames_.back().key = YamlNode::Key{node.text, node.mark};
  }

  std::vector<Frame> frames_;
  std::size_t nodes_ = 0;
  YamlNode root_;
  std::optional<YamlRefusal> refusal_;
};

Mark mark_at(std::string_view text, std::size_t offset) {
  Mark mark{1, 1};
  for (const char c : text.substr(0, offset)) {
    mark.column = c == '\n' ? 1 : mark.column + 1;
    if (c == '\n') ++mark.line;
  }
  return mark;
}

base::Result<YamlNode> run_parser(std::string_view text, const std::string& source) {
  std::istringstream stream{std::string(text)};
  TreeBuilder builder;
  std::optional<YamlRefusal> refusal;
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder rest;
    if (!builder.refusal() && parser.HandleNextDocument(rest)) {
      refusal = YamlRefusal{{}, "has more than one document (---)"};
    }
  } catch (const YAML::Exception& error) {
    const Mark mark = in_text(text, mark_of(error.mark));
    refusal = indented_by_tab(text, mark.line)
                  .value_or(YamlRefusal{mark, base::format("not YAML: {}", error.msg)});
  } catch (const std::exception& error) {
    refusal = YamlRefusal{{}, base::format("not YAML: {}", error.what())};
  }
  if (builder.refusal()) refusal = builder.refusal();
  if (refusal) {
    return base::invalid_argument(position_text(source, refusal->mark) + refusal->text);
  }
  return builder.take();
}

std::optional<double> number_in(const base::Json& json) {
  if (!json.is_number()) return std::nullopt;
  const auto number = json.get<double>();
  if (json.is_number_float() && number == std::floor(number)) return std::nullopt;
  return number;
}

base::Result<YamlNode> convert(const base::Json& json, std::size_t depth) {
  if (depth > kMaxSpecDepth) {
    return base::invalid_argument(base::format("nests deeper than {} levels", kMaxSpecDepth));
  }
  YamlNode node;
  if (json.is_object() || json.is_array()) {
    node.kind = json.is_object() ? YamlNode::Kind::kMap : YamlNode::Kind::kList;
    for (const auto& [key, value] : json.items()) {
      if (json.is_object()) node.keys.push_back({key, {}});
      GANGRUN_ASSIGN(YamlNode child, convert(value, depth + 1));
      node.children.push_back(std::move(child));
    }
  } else if (!json.is_null()) {
    node.kind = YamlNode::Kind::kScalar;
    node.text = json.is_string() ? json.get<std::string>() : base::dump_json(json);
    node.is_quoted = json.is_string();
    node.number = number_in(json);
    if (node.text.find('\0') != std::string::npos) {
      return base::invalid_argument("a text has a NUL character");
    }
  }
  return node;
}

}  // namespace

Mark in_text(std::string_view text, Mark mark) {
  const std::size_t size = text.find_last_not_of(" \t\r\n") + 1;
  const Mark end = mark_at(text, size);
  return mark.line > end.line ? end : mark;
}

std::optional<YamlRefusal> indented_by_tab(std::string_view text, int last_line) {
  int number = 0;
  for (const std::string& line : base::split(text, '\n')) {
    if (++number > last_line) return std::nullopt;
    const std::size_t tab = line.find_first_not_of(' ');
    if (tab == std::string::npos || line[tab] != '\t') continue;
    return YamlRefusal{{number, static_cast<int>(tab) + 1},
                       "not YAML: a line is indented by a tab; use spaces"};
  }
  return std::nullopt;
}

std::optional<YamlRefusal> find_bad_bytes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') {
      return YamlRefusal{mark_at(text, i),
                         base::format("control character 0x{:02X}; the file must be text", byte)};
    }
  }
  if (base::is_valid_utf8(text)) return std::nullopt;
  // The first line that is not valid holds the place: no sequence spans a line feed.
  int line = 1;
  for (const std::string& part : base::split(text, '\n')) {
    if (!base::is_valid_utf8(part)) break;
    ++line;
  }
  return YamlRefusal{{line, 1}, "this line is not valid UTF-8"};
}

base::Result<YamlNode> parse_yaml(std::string_view text, const std::string& source) {
  if (text.size() > job::kMaxSpecBytes) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("{}: {} bytes are more than the limit of {} bytes for a job "
                                    "file",
                                    source, text.size(), job::kMaxSpecBytes)};
  }
  if (const auto refusal = find_bad_bytes(text)) {
    return base::invalid_argument(position_text(source, refusal->mark) + refusal->text);
  }
  // A path that is not UTF-8, which JSON of Python and of ours has as half a character.
  if (text.find("\\udc") != std::string_view::npos) {
    const auto json = base::parse_json(text, job::kMaxSpecBytes);
    if (json.ok()) return yaml_from_json(*json);
  }
  return run_parser(text, source);
}

base::Result<YamlNode> yaml_from_json(const base::Json& json) { return convert(json, 1); }

std::string position_text(const std::string& source, Mark mark) {
  if (mark.line == 0) return source.empty() ? "" : base::format("{}: ", source);
  return base::format("{}:{}:{}: ", source, mark.line, mark.column);
}

base::Json json_value(const YamlNode& node) {
  base::Json json;
  switch (node.kind) {
    case YamlNode::Kind::kNull: break;
    case YamlNode::Kind::kScalar:
      json = node.is_quoted ? base::Json(node.text) : yaml_scalar(node.text);
      break;
    case YamlNode::Kind::kList:
      json = base::Json::array();
      for (const YamlNode& child : node.children) json.push_back(json_value(child));
      break;
    case YamlNode::Kind::kMap:
      json = base::Json::object();
      for (std::size_t i = 0; i < node.keys.size(); ++i) {
        json[node.keys[i].name] = json_value(node.children[i]);
      }
      break;
  }
  return json;
}

}  // namespace gangrun::jobfile
