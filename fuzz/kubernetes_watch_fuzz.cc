// The answer of an API server to a watch: whatever it is, objects or an error come out, and the
// next request can be sent. The first line is a page of a listing, the rest a watch.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "kubernetes/refusal.h"
#include "kubernetes/watch_engine.h"
#include "net/http.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

void check_query(const kubernetes::WatchEngine& engine) {
  const auto query = engine.query(0.5);
  const auto target = net::parse_target(kubernetes::api_target("", "/pods", query));
  if (!target.ok()) return;  // too long
  for (const auto& [name, value] : query) {
    GANGRUN_CHECK(target->query.at(name) == value, name);
  }
}

void check_refusal(std::string_view text) {
  const kubernetes::Refusal refusal = kubernetes::read_refusal({403, "", {}, std::string(text)});
  const base::Error error = kubernetes::error_of(refusal);
  GANGRUN_CHECK(!error.message.empty() && error.message.size() < 10'000, error.message);
  GANGRUN_CHECK(error.message.find('\n') == std::string::npos, error.message);
}

// How many changes come of it, in pieces of `size`.
std::size_t watch(kubernetes::WatchEngine engine, std::string_view bytes, std::size_t size) {
  std::vector<kubernetes::Change> changes;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    if (!engine.put(bytes.substr(0, size), changes).ok()) break;
  }
  for (const kubernetes::Change& change : changes) {
    GANGRUN_CHECK(change.object.is_object(), change.is_deleted);
  }
  check_query(engine);
  return changes.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_refusal(input);
  const std::size_t end = input.find('\n');
  kubernetes::WatchEngine engine({.path = "/pods", .label_selector = "a=b"});
  if (!engine.take_page(input.substr(0, end)).ok()) return 0;
  check_query(engine);
  if (engine.lists() || end == std::string_view::npos) return 0;
  const std::string_view rest = input.substr(end + 1);
  GANGRUN_CHECK(watch(engine, rest, rest.size()) == watch(engine, rest, 1), rest);
  return 0;
}
