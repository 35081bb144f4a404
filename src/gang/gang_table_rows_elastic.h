#pragma once

#include <string_view>

namespace gangrun::gang {

// More rows of the decision table (gang_table_rows.h): of a gang with "w0 w1 w2" as workers, of
// which two suffice, and the spare "w3".
inline constexpr std::string_view kElasticTableRows = R"(
absent agent_ended asked running warn; allocate w1#3
absent agent_evicted asked running warn; allocate w1#3
absent allocated allocated running -
absent begin asked running -
absent cluster_gone ending stopping end w0 w1#2 w2 w3#2
absent cluster_waiting asked running -
absent exited_failure asked running -
absent exited_port_lost asked running -
absent exited_success asked running -
absent host_silent asked running -
absent progress asked running -
absent reattached asked running -
absent reported registered running -
absent reported_elsewhere registered running -
absent resumed asked running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3
absent session_lost asked running -
absent started asked running -
absent stop_requested ending stopping end w0 w1#2 w2 w3#2
absent time_passed asked running -
absent-is-back agent_ended asked running warn; allocate w1#3
absent-is-back agent_evicted asked running warn; allocate w1#3
absent-is-back allocated registered running -
absent-is-back begin registered running -
absent-is-back cluster_gone ending stopping end w0 w1#2 w2 w3#2
absent-is-back cluster_waiting registered running -
absent-is-back exited_failure registered running -
absent-is-back exited_port_lost registered running -
absent-is-back exited_success registered running -
absent-is-back host_silent registered running -
absent-is-back progress registered running -
absent-is-back reattached registered running -
absent-is-back reported registered running -
absent-is-back reported_elsewhere registered running -
absent-is-back resumed registered running end-at-once w3#2; allocate w3#3
absent-is-back session_lost registered running -
absent-is-back started registered running -
absent-is-back stop_requested ending stopping end w0 w1#2 w2 w3#2
absent-is-back time_passed registered restarting stop w0#2 w2#2
beside-a-spare agent_ended asked restarting warn; allocate w1#2; stop w0 w2
beside-a-spare agent_evicted asked restarting warn; allocate w1#2; stop w0 w2
beside-a-spare allocated running running -
beside-a-spare begin running running -
beside-a-spare cluster_gone ending stopping end w0 w1 w2 w3
beside-a-spare cluster_waiting running running -
beside-a-spare exited_failure starting running warn; start@1 w1#2
beside-a-spare exited_port_lost allocated restarting warn; stop w0 w2
beside-a-spare exited_success idle running -
beside-a-spare host_silent running running -
beside-a-spare progress running running -
beside-a-spare reattached running running -
beside-a-spare reported running running -
beside-a-spare reported_elsewhere running running -
beside-a-spare resumed running running -
beside-a-spare session_lost running running -
beside-a-spare started running running -
beside-a-spare stop_requested ending stopping end w0 w1 w2 w3
beside-a-spare time_passed running running -
dropped agent_ended gone running -
dropped agent_evicted gone running -
dropped allocated gone running -
dropped begin gone running -
dropped cluster_gone gone stopping end w0 w2 w3
dropped cluster_waiting gone running -
dropped exited_failure gone running -
dropped exited_port_lost gone running -
dropped exited_success gone running -
dropped host_silent gone running -
dropped progress gone running -
dropped reattached gone running -
dropped reported gone running -
dropped reported_elsewhere gone running -
dropped resumed gone running -
dropped session_lost gone running -
dropped started gone running -
dropped stop_requested gone stopping end w0 w2 w3
dropped time_passed gone stopping end w0 w2 w3
in-a-smaller-gang agent_ended asked running warn; allocate w0#3
in-a-smaller-gang agent_evicted asked running warn; allocate w0#3
in-a-smaller-gang allocated running running -
in-a-smaller-gang begin running running -
in-a-smaller-gang cluster_gone ending stopping end w0 w1#2 w2 w3#2
in-a-smaller-gang cluster_waiting running running -
in-a-smaller-gang exited_failure starting running warn; start@2 w0#3
in-a-smaller-gang exited_port_lost allocated restarting warn; stop w2#2
in-a-smaller-gang exited_success idle running -
in-a-smaller-gang host_silent running running -
in-a-smaller-gang progress running running -
in-a-smaller-gang reattached running running -
in-a-smaller-gang reported running running -
in-a-smaller-gang reported_elsewhere running running -
in-a-smaller-gang resumed running running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3
in-a-smaller-gang session_lost running running -
in-a-smaller-gang started running running -
in-a-smaller-gang stop_requested ending stopping end w0 w1#2 w2 w3#2
in-a-smaller-gang time_passed running running -
last-to-stop agent_ended asked restarting allocate w2#2
last-to-stop agent_evicted asked restarting allocate w2#2
last-to-stop allocated stopping restarting -
last-to-stop begin stopping restarting -
last-to-stop cluster_gone ending stopping end w0 w1#2 w2 w3
last-to-stop cluster_waiting stopping restarting -
last-to-stop exited_failure starting running warn; publish 2; start@2 w0#2 w2#2 w3
last-to-stop exited_port_lost allocated restarting -
last-to-stop exited_success starting running warn; publish 2; start@2 w0#2 w2#2 w3
last-to-stop host_silent stopping restarting -
last-to-stop progress stopping restarting -
last-to-stop reattached stopping restarting stop w2
last-to-stop reported stopping restarting -
last-to-stop reported_elsewhere stopping restarting -
last-to-stop resumed stopping restarting end-at-once w1#2; allocate w1#3
last-to-stop session_lost stopping restarting -
last-to-stop started stopping restarting -
last-to-stop stop_requested ending stopping end w0 w1#2 w2 w3
last-to-stop time_passed ending restarting kill w2
least-and-no-restart-left agent_ended gone stopping end w1#2 w2 w3#2
least-and-no-restart-left agent_evicted asked running warn; allocate w0#4
least-and-no-restart-left allocated running running -
least-and-no-restart-left begin running running -
least-and-no-restart-left cluster_gone ending stopping end w0 w1#2 w2 w3#2
least-and-no-restart-left cluster_waiting running running -
least-and-no-restart-left exited_failure ending stopping end-at-once w0; end w1#2 w2 w3#2
least-and-no-restart-left exited_port_lost allocated restarting warn; stop w2#2
least-and-no-restart-left exited_success idle running -
least-and-no-restart-left host_silent running running -
least-and-no-restart-left progress running running -
least-and-no-restart-left reattached running running -
least-and-no-restart-left reported running running -
least-and-no-restart-left reported_elsewhere running running -
least-and-no-restart-left resumed running running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3
least-and-no-restart-left session_lost running running -
least-and-no-restart-left started running running -
least-and-no-restart-left stop_requested ending stopping end w0 w1#2 w2 w3#2
least-and-no-restart-left time_passed running running -
missing agent_ended asked running warn; allocate w1#3
missing agent_evicted asked running warn; allocate w1#3
missing allocated allocated running -
missing begin asked running -
missing cluster_gone ending stopping end w0 w1#2 w2 w3#2
missing cluster_waiting asked running -
missing exited_failure asked running -
missing exited_port_lost asked running -
missing exited_success asked running -
missing host_silent asked running -
missing progress asked running -
missing reattached asked running -
missing reported starting running start@1 w1#2
missing reported_elsewhere registered restarting warn; stop w0 w2
missing resumed asked running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3
missing session_lost asked running -
missing started asked running -
missing stop_requested ending stopping end w0 w1#2 w2 w3#2
missing time_passed asked restarting stop w0 w2
spare agent_ended asked running warn; allocate w3#2
spare agent_evicted asked running warn; allocate w3#2
spare allocated registered running -
spare begin registered running -
spare cluster_gone ending stopping end w0 w1 w2 w3
spare cluster_waiting registered running -
spare exited_failure registered running -
spare exited_port_lost registered running -
spare exited_success registered running -
spare host_silent registered running -
spare progress registered running -
spare reattached registered running -
spare reported registered running -
spare reported_elsewhere registered running -
spare resumed registered running -
spare session_lost registered running -
spare started registered running -
spare stop_requested ending stopping end w0 w1 w2 w3
spare time_passed registered running -
spare-allocated agent_ended asked running warn; allocate w3#3
spare-allocated agent_evicted asked running warn; allocate w3#3
spare-allocated allocated allocated running -
spare-allocated begin allocated running -
spare-allocated cluster_gone ending stopping end w0 w1 w2 w3#2
spare-allocated cluster_waiting allocated running -
spare-allocated exited_failure allocated running -
spare-allocated exited_port_lost allocated running -
spare-allocated exited_success allocated running -
spare-allocated host_silent allocated running -
spare-allocated progress allocated running -
spare-allocated reattached allocated running -
spare-allocated reported registered running -
spare-allocated reported_elsewhere registered running -
spare-allocated resumed allocated running -
spare-allocated session_lost allocated running -
spare-allocated started allocated running -
spare-allocated stop_requested ending stopping end w0 w1 w2 w3#2
spare-allocated time_passed ending running warn; end w3#2
spare-asked agent_ended asked running warn; allocate w3#3
spare-asked agent_evicted asked running warn; allocate w3#3
spare-asked allocated allocated running -
spare-asked begin asked running -
spare-asked cluster_gone ending stopping end w0 w1 w2 w3#2
spare-asked cluster_waiting asked running -
spare-asked exited_failure asked running -
spare-asked exited_port_lost asked running -
spare-asked exited_success asked running -
spare-asked host_silent asked running -
spare-asked progress asked running -
spare-asked reattached asked running -
spare-asked reported registered running -
spare-asked reported_elsewhere registered running -
spare-asked resumed asked running end-at-once w3#2; allocate w3#3
spare-asked session_lost asked running -
spare-asked started asked running -
spare-asked stop_requested ending stopping end w0 w1 w2 w3#2
spare-asked time_passed asked running -
spare-silent agent_ended asked running warn; allocate w3#2
spare-silent agent_evicted asked running warn; allocate w3#2
spare-silent allocated registered running -
spare-silent begin registered running -
spare-silent cluster_gone ending stopping end w0 w1 w2 w3
spare-silent cluster_waiting registered running -
spare-silent exited_failure registered running -
spare-silent exited_port_lost registered running -
spare-silent exited_success registered running -
spare-silent host_silent registered running -
spare-silent progress registered running -
spare-silent reattached registered running -
spare-silent reported registered running -
spare-silent reported_elsewhere registered running -
spare-silent resumed registered running -
spare-silent session_lost registered running -
spare-silent started registered running -
spare-silent stop_requested ending stopping end w0 w1 w2 w3
spare-silent time_passed asked running kill w3; warn; allocate w3#2
spare-stepping-forward agent_ended asked restarting warn; allocate w3#2
spare-stepping-forward agent_evicted asked restarting warn; allocate w3#2
spare-stepping-forward allocated registered restarting -
spare-stepping-forward begin registered restarting -
spare-stepping-forward cluster_gone ending stopping end w0 w1#2 w2 w3
spare-stepping-forward cluster_waiting registered restarting -
spare-stepping-forward exited_failure registered restarting -
spare-stepping-forward exited_port_lost registered restarting -
spare-stepping-forward exited_success registered restarting -
spare-stepping-forward host_silent registered restarting -
spare-stepping-forward progress registered restarting -
spare-stepping-forward reattached registered restarting -
spare-stepping-forward reported registered restarting -
spare-stepping-forward reported_elsewhere registered restarting -
spare-stepping-forward resumed registered restarting end-at-once w1#2; allocate w1#3
spare-stepping-forward session_lost registered restarting -
spare-stepping-forward started registered restarting -
spare-stepping-forward stop_requested ending stopping end w0 w1#2 w2 w3
spare-stepping-forward time_passed registered restarting kill w0 w2
)";

}  // namespace gangrun::gang
