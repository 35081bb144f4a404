#pragma once

#include <string_view>

namespace gangrun::gang {

// The decision table: situation, event, then the task's phase, the job's state and what is decided
// ("-" for nothing). "c0 w0 p0 e0 t0" are chief:0, worker:0, ps:0, evaluator:0, tensorboard:0; "#2"
// is a second attempt, "@1" the first generation. Situations and events are described in
// gang_situations.h; gang_table_test.cc prints the rows as they are where one differs. What every
// row must obey, whatever it says, is in gang_invariants_test.cc.
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
allocated host_silent allocated allocating -
allocated progress allocated allocating -
allocated reattached allocated allocating -
allocated reported registered allocating -
allocated reported_elsewhere registered allocating -
allocated resumed allocated allocating end-at-once c0; allocate c0#2; end-at-once w0; allocate w0#2; end-at-once p0; allocate p0#2; end-at-once e0; allocate e0#2; end-at-once t0; allocate t0#2
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
asked host_silent asked allocating -
asked progress asked allocating -
asked reattached asked allocating -
asked reported registered allocating -
asked reported_elsewhere registered allocating -
asked resumed asked allocating end-at-once c0; allocate c0#2; end-at-once w0; allocate w0#2; end-at-once w1; allocate w1#2; end-at-once p0; allocate p0#2; end-at-once e0; allocate e0#2; end-at-once t0; allocate t0#2
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
asked-again host_silent asked running -
asked-again progress asked running -
asked-again reattached asked running -
asked-again reported starting running start@1 w1#2
asked-again reported_elsewhere registered restarting warn; stop c0 w0 p0 e0
asked-again resumed asked running end-at-once w1#2; allocate w1#3
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
ending host_silent gone stopping warn
ending progress ending stopping -
ending reattached ending stopping end w1
ending reported ending stopping end w1
ending reported_elsewhere ending stopping end w1
ending resumed ending stopping end c0 w0 w1 p0 e0 t0
ending session_lost ending stopping -
ending started ending stopping -
ending stop_requested ending stopping end-at-once c0 w0 w1 p0 e0 t0
ending time_passed ending stopping kill c0 w0 w1 p0 e0 t0
finished agent_ended gone killed -
finished agent_evicted gone killed -
finished allocated gone killed -
finished begin gone killed -
finished cluster_gone gone killed -
finished cluster_waiting gone killed -
finished exited_failure gone killed -
finished exited_port_lost gone killed -
finished exited_success gone killed -
finished host_silent gone killed -
finished progress gone killed -
finished reattached gone killed -
finished reported gone killed -
finished reported_elsewhere gone killed -
finished resumed gone killed -
finished session_lost gone killed -
finished started gone killed -
finished stop_requested gone killed -
finished time_passed gone killed -
gone agent_ended gone running -
gone agent_evicted gone running -
gone allocated gone running -
gone begin gone running -
gone cluster_gone gone stopping end c0 w0 p0 e0 t0
gone cluster_waiting gone running -
gone exited_failure gone running -
gone exited_port_lost gone running -
gone exited_success gone running -
gone host_silent gone running -
gone progress gone running -
gone reattached gone running -
gone reported gone running -
gone reported_elsewhere gone running -
gone resumed gone running -
gone session_lost gone running -
gone started gone running -
gone stop_requested gone stopping end c0 w0 p0 e0 t0
gone time_passed gone running -
idle agent_ended gone running -
idle agent_evicted gone running -
idle allocated idle running -
idle begin idle running -
idle cluster_gone ending stopping end c0 w0; end-at-once w1; end p0 e0 t0
idle cluster_waiting idle running -
idle exited_failure idle running -
idle exited_port_lost idle running -
idle exited_success idle running -
idle host_silent idle running -
idle progress idle running -
idle reattached idle running -
idle reported idle running -
idle reported_elsewhere idle running -
idle resumed idle running -
idle session_lost idle running -
idle started idle running -
idle stop_requested ending stopping end c0 w0; end-at-once w1; end p0 e0 t0
idle time_passed idle running -
killed agent_ended gone stopping -
killed agent_evicted gone stopping -
killed allocated ending stopping -
killed begin ending stopping -
killed cluster_gone ending stopping -
killed cluster_waiting ending stopping -
killed exited_failure ending stopping -
killed exited_port_lost ending stopping -
killed exited_success ending stopping -
killed host_silent gone stopping warn
killed progress ending stopping -
killed reattached ending stopping end-at-once w1
killed reported ending stopping end-at-once w1
killed reported_elsewhere ending stopping end-at-once w1
killed resumed ending stopping kill c0 w0 w1 p0 e0 t0
killed session_lost ending stopping -
killed started ending stopping -
killed stop_requested ending stopping -
killed time_passed gone killed warn; finish killed
last-ending agent_ended gone killed finish killed
last-ending agent_evicted gone killed finish killed
last-ending allocated ending stopping -
last-ending begin ending stopping -
last-ending cluster_gone ending stopping -
last-ending cluster_waiting ending stopping -
last-ending exited_failure ending stopping -
last-ending exited_port_lost ending stopping -
last-ending exited_success ending stopping -
last-ending host_silent gone killed warn; finish killed
last-ending progress ending stopping -
last-ending reattached ending stopping end w1
last-ending reported ending stopping end w1
last-ending reported_elsewhere ending stopping end w1
last-ending resumed ending stopping end w1
last-ending session_lost ending stopping -
last-ending started ending stopping -
last-ending stop_requested ending stopping end-at-once w1
last-ending time_passed ending stopping kill w1
last-try agent_ended gone stopping end c0 w0 p0 e0 t0
last-try agent_evicted asked running warn; allocate w1#3
last-try allocated running running -
last-try begin running running -
last-try cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
last-try cluster_waiting running running -
last-try exited_failure ending stopping end c0 w0; end-at-once w1; end p0 e0 t0
last-try exited_port_lost allocated restarting warn; stop c0 w0 p0 e0
last-try exited_success idle running -
last-try host_silent running running -
last-try progress running running -
last-try reattached running running -
last-try reported running running -
last-try reported_elsewhere running running -
last-try resumed running running -
last-try session_lost running running -
last-try started running running -
last-try stop_requested ending stopping end c0 w0 w1 p0 e0 t0
last-try time_passed running running -
new agent_ended asked allocating -
new agent_evicted asked allocating -
new allocated asked allocating -
new begin asked allocating allocate c0 w0 w1 p0 e0 t0
new cluster_gone asked failed finish failed
new cluster_waiting asked allocating -
new exited_failure asked allocating -
new exited_port_lost asked allocating -
new exited_success asked allocating -
new host_silent asked allocating -
new progress asked allocating -
new reattached asked allocating -
new reported asked allocating -
new reported_elsewhere asked allocating -
new resumed asked allocating allocate c0 w0 w1 p0 e0 t0
new session_lost asked allocating -
new started asked allocating -
new stop_requested asked killed finish killed
new time_passed asked allocating -
observer-in-grace agent_ended gone stopping end-at-once c0 w0 w1; end t0
observer-in-grace agent_evicted gone stopping end-at-once c0 w0 w1; end t0
observer-in-grace allocated running running -
observer-in-grace begin running running -
observer-in-grace cluster_gone ending stopping end-at-once c0 w0 w1; end e0 t0
observer-in-grace cluster_waiting running running -
observer-in-grace exited_failure ending stopping end-at-once c0 w0 w1 e0; end t0
observer-in-grace exited_port_lost ending stopping end-at-once c0 w0 w1; end e0 t0
observer-in-grace exited_success ending stopping end-at-once c0 w0 w1 e0
observer-in-grace host_silent running running -
observer-in-grace progress running running -
observer-in-grace reattached running running -
observer-in-grace reported running running -
observer-in-grace reported_elsewhere running running -
observer-in-grace resumed running running end p0
observer-in-grace session_lost running running -
observer-in-grace started running running -
observer-in-grace stop_requested ending stopping end-at-once c0 w0 w1; end e0 t0
observer-in-grace time_passed running running kill p0
port-lost agent_ended asked restarting allocate w1#2
port-lost agent_evicted asked restarting allocate w1#2
port-lost allocated allocated restarting -
port-lost begin allocated restarting -
port-lost cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
port-lost cluster_waiting allocated restarting -
port-lost exited_failure allocated restarting -
port-lost exited_port_lost allocated restarting -
port-lost exited_success allocated restarting -
port-lost host_silent allocated restarting -
port-lost progress allocated restarting -
port-lost reattached allocated restarting -
port-lost reported allocated restarting -
port-lost reported_elsewhere registered restarting -
port-lost resumed allocated restarting -
port-lost session_lost allocated restarting -
port-lost started allocated restarting -
port-lost stop_requested ending stopping end c0 w0 w1 p0 e0 t0
port-lost time_passed allocated restarting kill c0 w0 p0 e0
registered agent_ended asked allocating warn; allocate w1#2
registered agent_evicted asked allocating warn; allocate w1#2
registered allocated registered allocating -
registered begin registered allocating -
registered cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
registered cluster_waiting registered allocating -
registered exited_failure registered allocating -
registered exited_port_lost registered allocating -
registered exited_success registered allocating -
registered host_silent registered allocating -
registered progress registered allocating -
registered reattached registered allocating -
registered reported registered allocating -
registered reported_elsewhere registered allocating -
registered resumed registered allocating end-at-once c0; allocate c0#2; end-at-once w0; allocate w0#2; end-at-once p0; allocate p0#2; end-at-once e0; allocate e0#2; end-at-once t0; allocate t0#2
registered session_lost registered allocating -
registered started registered allocating -
registered stop_requested ending stopping end c0 w0 w1 p0 e0 t0
registered time_passed ending stopping end c0 w0 w1 p0 e0 t0
resumed agent_ended asked running warn; allocate w1#2
resumed agent_evicted asked running warn; allocate w1#2
resumed allocated running running -
resumed begin running running -
resumed cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
resumed cluster_waiting running running -
resumed exited_failure starting running warn; start@1 w1#2
resumed exited_port_lost allocated restarting warn; stop c0 w0 p0 e0
resumed exited_success idle running -
resumed host_silent running running -
resumed progress running running -
resumed reattached running running -
resumed reported running running -
resumed reported_elsewhere running running -
resumed resumed running running -
resumed session_lost running running -
resumed started running running -
resumed stop_requested ending stopping end c0 w0 w1 p0 e0 t0
resumed time_passed asked running kill c0; warn; allocate c0#2; kill w0; warn; allocate w0#2; kill w1; warn; allocate w1#2; kill p0; warn; allocate p0#2; kill e0; warn; allocate e0#2; kill t0; warn
running agent_ended asked running warn; allocate w1#2
running agent_evicted asked running warn; allocate w1#2
running allocated running running -
running begin running running -
running cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
running cluster_waiting running running -
running exited_failure starting running warn; start@1 w1#2
running exited_port_lost allocated restarting warn; stop c0 w0 p0 e0
running exited_success idle running -
running host_silent running running -
running progress running running -
running reattached running running -
running reported running running -
running reported_elsewhere running running -
running resumed running running -
running session_lost running running -
running started running running -
running stop_requested ending stopping end c0 w0 w1 p0 e0 t0
running time_passed running running -
service-after agent_ended gone running -
service-after agent_evicted gone running -
service-after allocated ending running -
service-after begin ending running -
service-after cluster_gone ending stopping end-at-once c0 w0 w1; end e0 t0
service-after cluster_waiting ending running -
service-after exited_failure ending running -
service-after exited_port_lost ending running -
service-after exited_success ending running -
service-after host_silent ending running -
service-after progress ending running -
service-after reattached ending running end p0
service-after reported ending running end p0
service-after reported_elsewhere ending running end p0
service-after resumed ending running end p0
service-after session_lost ending running -
service-after started ending running -
service-after stop_requested ending stopping end-at-once c0 w0 w1; end e0 t0
service-after time_passed ending running kill p0
sidecar agent_ended gone running warn
sidecar agent_evicted gone running warn
sidecar allocated running running -
sidecar begin running running -
sidecar cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
sidecar cluster_waiting running running -
sidecar exited_failure idle running warn
sidecar exited_port_lost allocated running warn
sidecar exited_success idle running -
sidecar host_silent running running -
sidecar progress running running -
sidecar reattached running running -
sidecar reported running running -
sidecar reported_elsewhere running running -
sidecar resumed running running -
sidecar session_lost running running -
sidecar started running running -
sidecar stop_requested ending stopping end c0 w0 w1 p0 e0 t0
sidecar time_passed running running -
sidecar-in-grace agent_ended gone stopping -
sidecar-in-grace agent_evicted gone stopping -
sidecar-in-grace allocated running stopping -
sidecar-in-grace begin running stopping -
sidecar-in-grace cluster_gone running stopping -
sidecar-in-grace cluster_waiting running stopping -
sidecar-in-grace exited_failure ending stopping warn; end-at-once t0
sidecar-in-grace exited_port_lost ending stopping warn; end-at-once t0
sidecar-in-grace exited_success ending stopping end-at-once t0
sidecar-in-grace host_silent running stopping -
sidecar-in-grace progress running stopping -
sidecar-in-grace reattached running stopping -
sidecar-in-grace reported running stopping -
sidecar-in-grace reported_elsewhere running stopping -
sidecar-in-grace resumed running stopping end-at-once c0 w0 w1; end p0; end-at-once e0
sidecar-in-grace session_lost running stopping -
sidecar-in-grace started running stopping -
sidecar-in-grace stop_requested ending stopping end-at-once c0 w0 w1 p0 e0 t0
sidecar-in-grace time_passed running stopping kill c0 w0 w1 e0
silent agent_ended asked running warn; allocate w1#2
silent agent_evicted asked running warn; allocate w1#2
silent allocated running running -
silent begin running running -
silent cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
silent cluster_waiting running running -
silent exited_failure starting running warn; start@1 w1#2
silent exited_port_lost allocated restarting warn; stop c0 w0 p0 e0
silent exited_success idle running -
silent host_silent running running -
silent progress running running -
silent reattached running running -
silent reported running running -
silent reported_elsewhere running running -
silent resumed running running -
silent session_lost running running -
silent started running running -
silent stop_requested ending stopping end c0 w0 w1 p0 e0 t0
silent time_passed asked running kill w1; warn; allocate w1#2
starting agent_ended asked running warn; allocate w1#2
starting agent_evicted asked running warn; allocate w1#2
starting allocated starting running -
starting begin starting running -
starting cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
starting cluster_waiting starting running -
starting exited_failure starting running warn; start@1 w1#2
starting exited_port_lost allocated restarting warn; stop c0 w0 p0 e0
starting exited_success idle running -
starting host_silent starting running -
starting progress starting running -
starting reattached starting running start@1 w1
starting reported starting running -
starting reported_elsewhere starting running -
starting resumed starting running -
starting session_lost starting running -
starting started running running -
starting stop_requested ending stopping end c0 w0 w1 p0 e0 t0
starting time_passed ending stopping end c0 w0 w1 p0 e0 t0
stopping agent_ended asked restarting allocate w1#2
stopping agent_evicted asked restarting allocate w1#2
stopping allocated stopping restarting -
stopping begin stopping restarting -
stopping cluster_gone ending stopping end c0 w0 w1 p0 e0 t0
stopping cluster_waiting stopping restarting -
stopping exited_failure registered restarting -
stopping exited_port_lost allocated restarting -
stopping exited_success registered restarting -
stopping host_silent stopping restarting -
stopping progress stopping restarting -
stopping reattached stopping restarting stop w1
stopping reported stopping restarting -
stopping reported_elsewhere stopping restarting -
stopping resumed stopping restarting -
stopping session_lost stopping restarting -
stopping started stopping restarting -
stopping stop_requested ending stopping end c0 w0 w1 p0 e0 t0
stopping time_passed ending restarting kill w0 w1 p0 e0
)";

}  // namespace gangrun::gang
