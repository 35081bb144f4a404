#include "job/described.h"

#include <cstddef>

namespace gangrun::base {

namespace {

// Reads a value that is written as a text: a longer one is none, and is not read.
template <typename T>
Result<> read_text(const Json& json, std::string_view key, std::size_t max_bytes, T& out,
                   Result<T> (*parse)(std::string_view)) {
  std::string text;
  GANGRUN_TRY(Bytes{max_bytes}.read(json, key, text));
  GANGRUN_ASSIGN(out, parse(text));
  return {};
}

constexpr std::size_t kMaxTaskBytes = 80;
constexpr std::size_t kMaxAddressBytes = 512;

}  // namespace

Result<> JsonOf<job::Reason>::read(const Json& json, std::string_view key, job::Reason& out) {
  std::string name;
  GANGRUN_TRY(JsonOf<std::string>::read(json, key, name));
  out = job::reason_or_unknown(name);
  return {};
}

Json JsonOf<job::TaskId>::write(const job::TaskId& task) { return job::to_string(task); }
Result<> JsonOf<job::TaskId>::read(const Json& json, std::string_view key, job::TaskId& out) {
  return read_text(json, key, kMaxTaskBytes, out, job::parse_task_id);
}

Json JsonOf<job::Address>::write(const job::Address& address) { return job::to_string(address); }
Result<> JsonOf<job::Address>::read(const Json& json, std::string_view key, job::Address& out) {
  return read_text(json, key, kMaxAddressBytes, out, job::parse_address);
}

Result<> JsonOf<job::ClusterSpec>::read(const Json& json, std::string_view /*key*/,
                                        job::ClusterSpec& out) {
  GANGRUN_ASSIGN(out, job::cluster_spec_from_json(json));
  return {};
}

Result<> JsonOf<job::Figures>::read(const Json& json, std::string_view /*key*/, job::Figures& out) {
  GANGRUN_ASSIGN(out, job::figures_from_json(json));
  return {};
}

}  // namespace gangrun::base
