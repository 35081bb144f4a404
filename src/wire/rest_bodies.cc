#include "wire/rest_bodies.h"

#include "base/described_json.h"
#include "base/format.h"
#include "base/strings.h"
#include "wire/paths.h"

namespace gangrun::wire {

base::Result<> ErrorOrOutput::read(const base::Json& json, std::string_view key, bool& is_error) {
  std::string stream;
  GANGRUN_TRY(base::JsonOf<std::string>::read(json, key, stream));
  is_error = stream == "err";
  return {};
}

base::Result<> ByForm::read(const base::Json& json, std::string_view key, std::string& by) const {
  GANGRUN_TRY(base::JsonOf<std::string>::read(json, key, by));
  if (!by.empty() && by.size() <= kMaxByBytes) return {};
  return base::wrong_member(key, bounds());
}

std::string ByForm::bounds() { return base::format("from 1 to {} bytes long", kMaxByBytes); }

std::string AskedBy::name() const { return base::printable(by.value_or("a request")); }

// An address is valid if it is the same when it is written and read again.
base::Result<> MasterCall::complete() const {
  GANGRUN_ASSIGN(const job::Address read, job::parse_address(job::to_string(master())));
  if (read == master()) return {};
  return base::wrong_member("host", "a name or an address");
}

}  // namespace gangrun::wire
