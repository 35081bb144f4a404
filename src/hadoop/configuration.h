#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "hadoop/site_file.h"

namespace gangrun::hadoop {

// As in Hadoop's own reader, so that a value means here what it means there.
constexpr int kMaxSubstitutions = 20;

// Hadoop's configuration: keys and values of the site files. There are no defaults in it: those
// that matter are handed to the getters.
class Configuration {
 public:
  Configuration() = default;
  // `variables` is what ${…} may name besides keys: "env.HOME", "user.name".
  explicit Configuration(std::map<std::string, std::string, std::less<>> variables)
      : variables_(std::move(variables)) {}

  // A later file's value counts, unless an earlier file has called its own final.
  void add(const std::vector<Property>& properties);
  void set(const std::string& name, const std::string& value);

  // The value without white space at its ends and with its variables replaced; none where the key
  // is not set. A variable that names nothing stays, and so does a value that names itself.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  [[nodiscard]] std::string get_or(std::string_view name, std::string_view fallback) const;
  // All keys that are set.
  [[nodiscard]] std::vector<std::string> names() const;
  // The parts between commas, without empty ones.
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;

  // An error names file, line, key and value.
  [[nodiscard]] base::Result<bool> boolean(std::string_view name, bool fallback) const;

  // kInvalidArgument that says where the key was set, to what, and `what` is expected of it.
  [[nodiscard]] base::Error error(std::string_view name, std::string_view expected) const;

 private:
  [[nodiscard]] const Property* find(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> look_up(std::string_view variable) const;
  [[nodiscard]] std::string substitute(std::string_view value) const;

  std::map<std::string, Property, std::less<>> properties_;
  std::map<std::string, std::string, std::less<>> variables_;
};

// The environment of this process ("env.NAME") and its user's name ("user.name").
std::map<std::string, std::string, std::less<>> variables_of_this_process();

// core-site.xml, hdfs-site.xml and yarn-site.xml of a folder; the last one must be there.
base::Result<Configuration> load_configuration(
    const std::string& folder, std::map<std::string, std::string, std::less<>> variables);

}  // namespace gangrun::hadoop
