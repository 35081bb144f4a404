#include "agents/starts.h"

#include "base/format.h"
#include "base/json.h"
#include "net/packing.h"

namespace gangrun::agents {

namespace {

// Tasks that were started again have other attempts than the rest, but few at the same time.
constexpr std::size_t kMaxKept = 8;

std::string start_with(int attempt, int restarts, std::string_view member) {
  return base::format(R"({{"type":"start","attempt":{},"restarts":{},{}}})", attempt, restarts,
                      member);
}

}  // namespace

Starts::Starts(job::ClusterSpec spec, std::size_t outline_above)
    : spec_(std::move(spec)),
      encoded_spec_(wire::encode_cluster_spec(spec_)),
      by_outline_(encoded_spec_.size() > outline_above) {
  if (by_outline_) return;
  member_ = encoded_spec_.size() <= kMaxPlainSpecBytes
                ? base::format(R"("cluster_spec":{})", encoded_spec_)
                : base::format(R"("packed":"{}")", net::pack(encoded_spec_));
}

wire::Frame Starts::message_for(const job::TaskId& task, int attempt, int restarts) {
  if (by_outline_) {
    const std::string own = base::dump_json(job::outline_to_json(spec_, task));
    return std::make_shared<const std::string>(
        start_with(attempt, restarts, base::format(R"("outline":{})", own)));
  }
  if (kept_.size() > kMaxKept) kept_.clear();
  wire::Frame& message = kept_[{attempt, restarts}];
  if (!message) {
    message = std::make_shared<const std::string>(start_with(attempt, restarts, member_));
  }
  return message;
}

}  // namespace gangrun::agents
