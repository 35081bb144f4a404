#include "hadoop/site_file.h"

#include <algorithm>
#include <pugixml.hpp>

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::hadoop {

namespace {

// The line of an offset. Offsets come in rising order, so that a file is counted once.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  std::size_t at(std::ptrdiff_t offset) {
    const std::size_t end = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
        offset, static_cast<std::ptrdiff_t>(counted_), std::ssize(text_)));
    line_ +=
        static_cast<std::size_t>(std::ranges::count(text_.substr(counted_, end - counted_), '\n'));
    counted_ = end;
    return line_;
  }

 private:
  std::string_view text_;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
};

// Without the prefix of its namespace.
std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  return name.substr(name.find(':') + 1);
}

bool is_true(std::string_view text) {
  const std::string_view word = base::trim(text);
  return word == "true" || word == "TRUE" || word == "True";
}

class SiteFileReader {
 public:
  explicit SiteFileReader(const IncludeReader& include) : include_(include) {}

  base::Result<> read(std::string_view text, const std::string& file, int depth) {
    if (++files_ > kMaxFilesOfAConfiguration) {
      return base::invalid_argument(
          base::format("{}: more than {} files are included", file, kMaxFilesOfAConfiguration));
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_auto);
    Lines lines(text);
    if (!parsed) return error(file, lines.at(parsed.offset), parsed.description());
    const pugi::xml_node root = document.document_element();
    if (std::string_view(root.name()) != "configuration") {
      return error(file, lines.at(root.offset_debug()),
                   base::format("<{}> stands where <configuration> is expected", root.name()));
    }
    return read_children(root, {lines, file, depth});
  }

  std::vector<Property> take() && { return std::move(properties_); }

 private:
  struct Source {
    Lines& lines;
    const std::string& file;
    int depth;
  };

  static base::Error error(const std::string& file, std::size_t line, std::string_view what) {
    return base::invalid_argument(base::format("{}:{}: {}", file, line, what));
  }

  base::Result<> read_children(const pugi::xml_node& parent, const Source& source) {
    for (const pugi::xml_node& node : parent.children()) {
      if (local_name(node) == "property") {
        GANGRUN_TRY(read_property(node, source));
      } else if (local_name(node) == "include") {
        GANGRUN_TRY(read_include(node, source));
      }
    }
    return {};
  }

  // <property><name/><value/><final/></property>, or the three as attributes.
  base::Result<> read_property(const pugi::xml_node& node, const Source& source) {
    Property property;
    property.file = source.file;
    property.line = source.lines.at(node.offset_debug());
    property.name = base::trim(node.attribute("name").value());
    property.value = node.attribute("value").value();
    property.final = is_true(node.attribute("final").value());
    bool has_value = !node.attribute("value").empty();
    for (const pugi::xml_node& part : node.children()) {
      const std::string_view name = part.name();
      if (name == "name") property.name = base::trim(part.text().get());
      if (name == "final") property.final = is_true(part.text().get());
      if (name == "value") {
        property.value = part.text().get();
        has_value = true;
      }
    }
    if (property.name.empty()) return error(source.file, property.line, "a property has no <name>");
    if (has_value) properties_.push_back(std::move(property));
    return {};
  }

  base::Result<> read_include(const pugi::xml_node& node, const Source& source) {
    const std::size_t line = source.lines.at(node.offset_debug());
    const std::string href = node.attribute("href").value();
    if (href.empty() || href.find("://") != std::string::npos) {
      return error(source.file, line,
                   base::format("<xi:include> of \"{}\"; expected a file's name", href));
    }
    if (source.depth >= kMaxIncludeDepth) {
      return error(source.file, line,
                   base::format("files include each other more than {} deep", kMaxIncludeDepth));
    }
    const base::Result<std::string> text = include_(href);
    if (text.ok()) return read(*text, href, source.depth + 1);
    const pugi::xml_node fallback = node.find_child(
        [](const pugi::xml_node& child) { return local_name(child) == "fallback"; });
    if (fallback && text.error().code == base::Code::kNotFound) {
      return read_children(fallback, {source.lines, source.file, source.depth + 1});
    }
    return text.error().context(base::format("{}:{}: <xi:include>", source.file, line));
  }

  const IncludeReader& include_;
  std::vector<Property> properties_;
  int files_ = 0;
};

}  // namespace

base::Result<std::vector<Property>> parse_site_file(std::string_view text, const std::string& file,
                                                    const IncludeReader& include) {
  SiteFileReader reader(include);
  GANGRUN_TRY(reader.read(text, file, 0));
  return std::move(reader).take();
}

}  // namespace gangrun::hadoop
