#include "hadoop/configuration.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/files.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"

namespace gangrun::hadoop {

namespace {

// Names that Hadoop has given up, and that old site files still have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFormerNames{{
    {"fs.default.name", "fs.defaultFS"},
    {"dfs.federation.nameservices", "dfs.nameservices"},
}};

std::string present_name(const std::string& name) {
  for (const auto& [former, present] : kFormerNames) {
    if (name == former) return std::string(present);
  }
  return name;
}

}  // namespace

void Configuration::add(const std::vector<Property>& properties) {
  for (const Property& property : properties) {
    Property& known = properties_[present_name(property.name)];
    if (!known.final) known = property;
  }
}

void Configuration::set(const std::string& name, const std::string& value) {
  properties_[present_name(name)] = Property{.name = name, .value = value};
}

const Property* Configuration::find(std::string_view name) const {
  const auto found = properties_.find(name);
  return found == properties_.end() ? nullptr : &found->second;
}

std::optional<std::string> Configuration::look_up(std::string_view variable) const {
  const auto found = variables_.find(variable);
  if (found != variables_.end()) return found->second;
  if (variable.starts_with("env.")) {
    // ${env.NAME-default} takes the default where NAME is not set, ${env.NAME:-default} also where
    // it is empty.
    const std::size_t dash = variable.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const bool or_empty = variable[dash - 1] == ':';
    const auto value = variables_.find(variable.substr(0, dash - (or_empty ? 1 : 0)));
    const bool is_set = value != variables_.end() && !(or_empty && value->second.empty());
    return is_set ? value->second : std::string(variable.substr(dash + 1));
  }
  const Property* property = find(variable);
  if (property == nullptr) return std::nullopt;
  return property->value;
}

std::string Configuration::substitute(std::string_view value) const {
  std::string text(value);
  std::size_t from = 0;
  int count = 0;
  while (true) {
    // The innermost variable first: ${a.${b}}.
    const std::size_t end = text.find('}', from);
    if (end == std::string::npos) return text;
    const std::size_t begin = text.rfind("${", end);
    const std::optional<std::string> found =
        begin == std::string::npos || begin < from
            ? std::nullopt
            : look_up(std::string_view(text).substr(begin + 2, end - begin - 2));
    if (!found) {
      from = end + 1;
      continue;
    }
    if (++count > kMaxSubstitutions || text.size() > kMaxSiteFileBytes) return std::string(value);
    text.replace(begin, end - begin + 1, *found);
    from = 0;
  }
}

std::optional<std::string> Configuration::get(std::string_view name) const {
  const Property* property = find(name);
  if (property == nullptr) return std::nullopt;
  return std::string(base::trim(substitute(property->value)));
}

std::string Configuration::get_or(std::string_view name, std::string_view fallback) const {
  return get(name).value_or(std::string(fallback));
}

std::vector<std::string> Configuration::names() const {
  std::vector<std::string> names;
  names.reserve(properties_.size());
  for (const auto& [name, property] : properties_) names.push_back(name);
  return names;
}

std::vector<std::string> Configuration::list(std::string_view name) const {
  std::vector<std::string> parts;
  for (const std::string& part : base::split(get_or(name, ""), ',')) {
    if (const std::string_view kept = base::trim(part); !kept.empty()) parts.emplace_back(kept);
  }
  return parts;
}

base::Error Configuration::error(std::string_view name, std::string_view expected) const {
  const Property* property = find(name);
  if (property == nullptr) {
    return base::invalid_argument(base::format("{} is not set; {}", name, expected));
  }
  const std::string where =
      property->file.empty() ? "" : base::format("{}:{}: ", property->file, property->line);
  return base::invalid_argument(
      base::format("{}{} is \"{}\"; {}", where, name, get_or(name, ""), expected));
}

base::Result<bool> Configuration::boolean(std::string_view name, bool fallback) const {
  const std::optional<std::string> text = get(name);
  if (!text) return fallback;
  const std::string value = base::in_small_letters(*text);
  if (value == "true") return true;
  if (value == "false") return false;
  return error(name, "expected true or false");
}

std::map<std::string, std::string, std::less<>> variables_of_this_process() {
  std::map<std::string, std::string, std::less<>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables[base::format("env.{}", text.substr(0, equals))] = text.substr(equals + 1);
  }
  // Not the password file: a static program cannot load the modules that it may want.
  const auto user = variables.find("env.USER");
  variables["user.name"] =
      user == variables.end() || user->second.empty() ? std::to_string(::getuid()) : user->second;
  return variables;
}

base::Result<Configuration> load_configuration(
    const std::string& folder, std::map<std::string, std::string, std::less<>> variables) {
  const auto wrong = [](const std::string& what) {
    return base::invalid_argument(
        base::format("HADOOP_CONF_DIR: {}; expected the folder with the cluster's core-site.xml "
                     "and yarn-site.xml",
                     what));
  };
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) return wrong(base::format("there is no {}", folder));
    return base::from_errno(errno, base::format("HADOOP_CONF_DIR: {}", folder));
  }
  if (!S_ISDIR(status.st_mode)) return wrong(base::format("{} is not a folder", folder));
  Configuration configuration(std::move(variables));
  for (const std::string name : {"core-site.xml", "hdfs-site.xml", "yarn-site.xml"}) {
    const std::string path = base::format("{}/{}", folder, name);
    const base::Result<std::string> text = base::read_file(path, kMaxSiteFileBytes);
    if (!text.ok() && text.error().code == base::Code::kNotFound) {
      if (name != "yarn-site.xml") continue;
      return wrong(base::format("{} has no {}", folder, name));
    }
    if (!text.ok()) return text.error().context("HADOOP_CONF_DIR");
    GANGRUN_ASSIGN(const std::vector<Property> properties,
                   parse_site_file(*text, path, [&folder](const std::string& included) {
                     return base::read_file(included.starts_with('/')
                                                ? included
                                                : base::format("{}/{}", folder, included),
                                            kMaxSiteFileBytes);
                   }));
    configuration.add(properties);
  }
  return configuration;
}

}  // namespace gangrun::hadoop
