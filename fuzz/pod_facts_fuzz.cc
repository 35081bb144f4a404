// A pod as an API server describes it, whatever that says: any JSON is understood as far as it
// goes, and words are found for it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "kubernetes/pods/pod_facts.h"
#include "kubernetes/pods/pod_words.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

constexpr std::size_t kMaxFactBytes = std::size_t{1} << 20U;

void check(const job::ExitReport& report) {
  GANGRUN_CHECK(!job::to_words(report.why).empty(), report.why.code);
  GANGRUN_CHECK(!report.success || (report.why.code == 0 && report.why.signal == 0),
                report.why.code);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = base::parse_json(text, kMaxFactBytes);
  if (!json.ok()) return 0;
  const kubernetes::pods::PodFacts facts = kubernetes::pods::pod_facts(*json, "task");
  const std::string warning = kubernetes::pods::latest_warning(*json);
  GANGRUN_CHECK(!kubernetes::pods::pending_words(facts, warning).empty(), text);
  (void)kubernetes::pods::start_trouble(facts);
  const auto lost = kubernetes::pods::loss_of(facts);
  GANGRUN_CHECK(!lost || !job::to_words(*lost).empty(), text);
  check(kubernetes::pods::exit_report(facts));
  return 0;
}
