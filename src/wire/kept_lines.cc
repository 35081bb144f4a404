#include "wire/kept_lines.h"

#include "base/described_json.h"

namespace gangrun::wire {

base::Result<> ErrorOrOutput::read(const base::Json& json, std::string_view key, bool& is_error) {
  std::string stream;
  GANGRUN_TRY(base::JsonOf<std::string>::read(json, key, stream));
  is_error = stream == "err";
  return {};
}

}  // namespace gangrun::wire
