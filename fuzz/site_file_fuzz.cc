// One of Hadoop's XML files, which may include itself.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hadoop/configuration.h"
#include "hadoop/site_file.h"

using namespace gangrun;  // NOLINT: a program of its own

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto properties =
      hadoop::parse_site_file(input, "site.xml", [input](const std::string& name) {
        if (name == "none") return base::Result<std::string>(base::not_found(name));
        return base::Result<std::string>(std::string(input));
      });
  if (!properties.ok()) return 0;
  const std::map<std::string, std::string, std::less<>> variables = {{"env.HOME", "/home"}};
  hadoop::Configuration configuration(variables);
  configuration.add(*properties);
  for (const hadoop::Property& property : *properties) {
    (void)configuration.get(property.name);
    (void)configuration.boolean(property.name, true);
  }
  return 0;
}
