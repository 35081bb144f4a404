#include "kubernetes/pods/lease_clock.h"

#include <algorithm>
#include <string>

#include "kubernetes/rfc3339.h"

namespace gangrun::kubernetes::pods {

namespace {

using base::Json;

// Times are whole seconds there.
constexpr std::chrono::seconds kRounding{1};

Json member(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

std::optional<base::WallTime> time_of(const Json& value) {
  return value.is_string() ? kubernetes::parse_rfc3339(value.get<std::string>()) : std::nullopt;
}

// When it was last written.
std::optional<base::WallTime> written_at(const Json& job) {
  const Json metadata = member(job, "metadata");
  std::optional<base::WallTime> latest = time_of(member(metadata, "creationTimestamp"));
  const Json fields = member(metadata, "managedFields");
  if (!fields.is_array()) return latest;
  for (const Json& entry : fields) {
    const auto time = time_of(member(entry, "time"));
    if (time && (!latest || *time > *latest)) latest = time;
  }
  return latest;
}

std::optional<base::WallTime> started_at(const Json& job) {
  const auto started = time_of(member(member(job, "status"), "startTime"));
  return started ? started : time_of(member(member(job, "metadata"), "creationTimestamp"));
}

}  // namespace

void LeaseClock::wrote(const Json& job, base::Instant now) {
  const auto written = written_at(job);
  const auto started = started_at(job);
  if (!written || !started) {
    // Counted on from what was known.
    if (!at_) at_ = now;
    return;
  }
  age_ = std::max(std::chrono::seconds(0),
                  std::chrono::ceil<std::chrono::seconds>(*written - *started));
  at_ = now;
}

void LeaseClock::found(const Json& job) {
  const Json deadline = member(member(job, "spec"), "activeDeadlineSeconds");
  if (!deadline.is_number_integer()) return;
  age_ = std::chrono::seconds(std::clamp<std::int64_t>(deadline.get<std::int64_t>(), 0, 1LL << 40));
  at_.reset();
}

std::int64_t LeaseClock::deadline_seconds(std::chrono::seconds lease, base::Instant now) const {
  const auto since =
      at_ ? std::chrono::ceil<std::chrono::seconds>(now - *at_) : std::chrono::seconds(0);
  return (age_ + since + lease + kRounding).count();
}

bool is_lease_over(const Json& job) {
  const Json conditions = member(member(job, "status"), "conditions");
  if (!conditions.is_array()) return false;
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
    const Json type = member(condition, "type");
    return (type == "Failed" || type == "FailureTarget") && member(condition, "status") == "True";
  });
}

}  // namespace gangrun::kubernetes::pods
