#pragma once

#include <string_view>

namespace gangrun::gang {

// The decision table: situation, event, then the task's phase, the job's state and what is decided ("-" for
// nothing). "c0 w0 p0 e0 t0" are chief:0, worker:0, ps:0, evaluator:0, tensorboard:0; "#2" is a second attempt,
// "@2" a second generation. Situations and events are described in gang_table_test.cc.
inline constexpr std::string_view kTableRows = R"(
allocated agent_ended asked allocating warn; allocate w1#2
allocated agent_evicted asked allocating warn; allocate w1#2
allocated allocated allocated allocating -
allocated begin allocated allocating -
allocated cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
allocated cluster_waiting allocated allocating -
allocated exited_failure allocated allocating -
allocated exited_port_lost allocated allocating -
allocated exited_success allocated allocating -
allocated progress allocated allocating -
allocated reattached allocated allocating -
allocated reported registered allocating -
allocated reported_elsewhere registered allocating -
allocated session_lost allocated allocating -
allocated started allocated allocating -
allocated stop_requested ending stopping end c0 w0 w1 p0 e0 t0
allocated time_passed ending stopping end c0 w0 w1 p0 e0 t0
asked agent_ended asked allocating warn; allocate w1#2
asked agent_evicted asked allocating warn; allocate w1#2
asked allocated allocated allocating -
asked begin asked allocating -
asked cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
asked cluster_waiting asked allocating -
asked exited_failure asked allocating -
asked exited_port_lost asked allocating -
asked exited_success asked allocating -
asked progress asked allocating -
asked reattached asked allocating -
asked reported registered allocating -
asked reported_elsewhere registered allocating -
asked session_lost asked allocating -
asked started asked allocating -
asked stop_requested ending stopping end c0 w0 w1 p0 e0 t0
asked time_passed ending stopping end c0 w0 w1 p0 e0 t0
asked-again agent_ended gone stopping end c0 w0 p0 e0 t0
asked-again agent_evicted asked running warn; allocate w1#3
asked-again allocated allocated running -
asked-again begin asked running -
asked-again cluster_gone ending stopping end c0 w0 w1#2 p0 e0 t0
asked-again cluster_waiting asked running -
asked-again exited_failure asked running -
asked-again exited_port_lost asked running -
asked-again exited_success asked running -
asked-again progress asked running -
asked-again reattached asked running -
asked-again reported starting running start@1 w1#2
asked-again reported_elsewhere registered restarting warn; stop c0 w0 p0 e0
asked-again session_lost asked running -
asked-again started asked running -
asked-again stop_requested ending stopping end c0 w0 w1#2 p0 e0 t0
asked-again time_passed ending stopping end c0 w0 w1#2 p0 e0 t0
ending agent_ended gone stopping -
ending agent_evicted gone stopping -
ending allocated ending stopping -
ending begin ending stopping -
ending cluster_gone ending stopping -
ending cluster_waiting ending stopping -
ending exited_failure ending stopping -
ending exited_port_lost ending stopping -
ending exited_success ending stopping -
ending progress ending stopping -
ending reattached ending stopping end w1
ending reported ending stopping -
ending reported_elsewhere ending stopping -
ending session_lost ending stopping -
ending started ending stopping -
)";

}  // namespace gangrun::gang
