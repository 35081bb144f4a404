#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "jobfile/yaml_json.h"

// Any text as YAML: it never crashes, every error is one line, and what was read is written as YAML
// that reads back as the same value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace base = gangrun::base;
  namespace jobfile = gangrun::jobfile;
  const auto json = jobfile::yaml_to_json({reinterpret_cast<const char*>(data), size});
  if (!json.ok()) {
    GANGRUN_CHECK(json.error().message.find('\n') == std::string::npos, json.error().message);
    return 0;
  }
  const std::string text = jobfile::json_to_yaml(*json);
  if (text.size() > jobfile::kMaxYamlBytes) return 0;
  const auto back = jobfile::yaml_to_json(text);
  GANGRUN_CHECK(back.ok(), text, back.error().message);
  GANGRUN_CHECK(*back == *json, text, base::dump_json(*json));
  return 0;
}
