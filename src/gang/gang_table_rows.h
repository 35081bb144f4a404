#pragma once

#include <string_view>

namespace gangrun::gang {

// The decision table: each situation, and below it what may come of an event there: the task's
// phase, the job's state and what is decided ("-" for nothing), and behind the colon the events of
// which that comes. "c0 w0 p0 e0 t0" are chief:0, worker:0, ps:0, evaluator:0, tensorboard:0; "#2"
// is a second attempt, "@1" the first generation. Where there is a w3, it is the spare of a gang
// with "w0 w1 w2" as workers, of which two suffice. Situations and events are described in
// gang_situations.h; gang_table_test.cc prints the table as it is where a row differs. What every
// row must obey, whatever it says, is in gang_invariants_test.cc.
inline constexpr std::string_view kTableRows = R"(
absent
  allocated running -: allocated
  asked running -: begin cluster_waiting exited_failure exited_port_lost exited_success host_silent
    progress reattached session_lost started time_passed
  asked running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3: resumed
  asked running warn; allocate w1#3: agent_ended agent_evicted
  ending stopping end w0 w1#2 w2 w3#2: cluster_gone stop_requested
  registered running -: reported reported_elsewhere
absent-is-back
  asked running warn; allocate w1#3: agent_ended agent_evicted
  ending stopping end w0 w1#2 w2 w3#2: cluster_gone stop_requested
  registered restarting stop w0#2 w2#2: time_passed
  registered running -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached reported reported_elsewhere session_lost started
  registered running end-at-once w3#2; allocate w3#3: resumed
allocated
  allocated allocating -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached session_lost started
  allocated allocating end-at-once c0; allocate c0#2; end-at-once w0; allocate w0#2; end-at-once p0; allocate p0#2; end-at-once e0; allocate e0#2; end-at-once t0; allocate t0#2: resumed
  asked allocating warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested time_passed
  registered allocating -: reported reported_elsewhere
asked
  allocated allocating -: allocated
  asked allocating -: begin cluster_waiting exited_failure exited_port_lost exited_success
    host_silent progress reattached session_lost started
  asked allocating end-at-once c0; allocate c0#2; end-at-once w0; allocate w0#2; end-at-once w1; allocate w1#2; end-at-once p0; allocate p0#2; end-at-once e0; allocate e0#2; end-at-once t0; allocate t0#2: resumed
  asked allocating warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested time_passed
  registered allocating -: reported reported_elsewhere
asked-again
  allocated running -: allocated
  asked running -: begin cluster_waiting exited_failure exited_port_lost exited_success host_silent
    progress reattached session_lost started
  asked running end-at-once w1#2; allocate w1#3: resumed
  asked running warn; allocate w1#3: agent_evicted
  ending stopping end c0 w0 w1#2 p0 e0 t0: cluster_gone stop_requested time_passed
  gone stopping end c0 w0 p0 e0 t0: agent_ended
  registered restarting warn; stop c0 w0 p0 e0: reported_elsewhere
  starting running start@1 w1#2: reported
beside-a-spare
  allocated restarting warn; stop w0 w2: exited_port_lost
  asked restarting warn; allocate w1#2; stop w0 w2: agent_ended agent_evicted
  ending stopping end w0 w1 w2 w3: cluster_gone stop_requested
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere resumed session_lost started time_passed
  starting running warn; start@1 w1#2: exited_failure
dropped
  gone running -: agent_ended agent_evicted allocated begin cluster_waiting exited_failure
    exited_port_lost exited_success host_silent progress reattached reported reported_elsewhere
    resumed session_lost started
  gone stopping end w0 w2 w3: cluster_gone stop_requested time_passed
ending
  ending stopping -: allocated begin cluster_gone cluster_waiting exited_failure exited_port_lost
    exited_success progress session_lost started
  ending stopping end c0 w0 w1 p0 e0 t0: resumed
  ending stopping end w1: reattached reported reported_elsewhere
  ending stopping end-at-once c0 w0 w1 p0 e0 t0: stop_requested
  ending stopping kill c0 w0 w1 p0 e0 t0: time_passed
  gone stopping -: agent_ended agent_evicted
  gone stopping warn: host_silent
finished
  gone killed -: agent_ended agent_evicted allocated begin cluster_gone cluster_waiting
    exited_failure exited_port_lost exited_success host_silent progress reattached reported
    reported_elsewhere resumed session_lost started stop_requested time_passed
gone
  gone running -: agent_ended agent_evicted allocated begin cluster_waiting exited_failure
    exited_port_lost exited_success host_silent progress reattached reported reported_elsewhere
    resumed session_lost started time_passed
  gone stopping end c0 w0 p0 e0 t0: cluster_gone stop_requested
idle
  ending stopping end c0 w0; end-at-once w1; end p0 e0 t0: cluster_gone stop_requested
  gone running -: agent_ended agent_evicted
  idle running -: allocated begin cluster_waiting exited_failure exited_port_lost exited_success
    host_silent progress reattached reported reported_elsewhere resumed session_lost started
    time_passed
in-a-smaller-gang
  allocated restarting warn; stop w2#2: exited_port_lost
  asked running warn; allocate w0#3: agent_ended agent_evicted
  ending stopping end w0 w1#2 w2 w3#2: cluster_gone stop_requested
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere session_lost started time_passed
  running running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3: resumed
  starting running warn; start@2 w0#3: exited_failure
killed
  ending stopping -: allocated begin cluster_gone cluster_waiting exited_failure exited_port_lost
    exited_success progress session_lost started stop_requested
  ending stopping end-at-once w1: reattached reported reported_elsewhere
  ending stopping kill c0 w0 w1 p0 e0 t0: resumed
  gone killed warn; finish killed: time_passed
  gone stopping -: agent_ended agent_evicted
  gone stopping warn: host_silent
lacking
  allocated restarting warn; stop c0 p0 e0: exited_port_lost
  asked running warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0#2 w1 p0 e0 t0: cluster_gone stop_requested time_passed
  idle running -: exited_success
  registered restarting warn; stop c0 p0 e0: exited_failure
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere session_lost started
  running running end-at-once w0#2; allocate w0#3: resumed
last-ending
  ending stopping -: allocated begin cluster_gone cluster_waiting exited_failure exited_port_lost
    exited_success progress session_lost started
  ending stopping end w1: reattached reported reported_elsewhere resumed
  ending stopping end-at-once w1: stop_requested
  ending stopping kill w1: time_passed
  gone killed finish killed: agent_ended agent_evicted
  gone killed warn; finish killed: host_silent
last-to-stop
  allocated restarting -: exited_port_lost
  asked restarting allocate w2#2: agent_ended agent_evicted
  ending restarting kill w2: time_passed
  ending stopping end w0 w1#2 w2 w3: cluster_gone stop_requested
  starting running warn; publish 2; start@2 w0#2 w2#2 w3: exited_failure exited_success
  stopping restarting -: allocated begin cluster_waiting host_silent progress reported
    reported_elsewhere session_lost started
  stopping restarting end-at-once w1#2; allocate w1#3: resumed
  stopping restarting stop w2: reattached
last-try
  allocated restarting warn; stop c0 w0 p0 e0: exited_port_lost
  asked running warn; allocate w1#3: agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  ending stopping end c0 w0; end-at-once w1; end p0 e0 t0: exited_failure
  gone stopping end c0 w0 p0 e0 t0: agent_ended
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere resumed session_lost started time_passed
least-and-no-restart-left
  allocated restarting warn; stop w2#2: exited_port_lost
  asked running warn; allocate w0#4: agent_evicted
  ending stopping end w0 w1#2 w2 w3#2: cluster_gone stop_requested
  ending stopping end-at-once w0; end w1#2 w2 w3#2: exited_failure
  gone stopping end w1#2 w2 w3#2: agent_ended
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere session_lost started time_passed
  running running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3: resumed
missing
  allocated running -: allocated
  asked restarting stop w0 w2: time_passed
  asked running -: begin cluster_waiting exited_failure exited_port_lost exited_success host_silent
    progress reattached session_lost started
  asked running end-at-once w1#2; allocate w1#3; end-at-once w3#2; allocate w3#3: resumed
  asked running warn; allocate w1#3: agent_ended agent_evicted
  ending stopping end w0 w1#2 w2 w3#2: cluster_gone stop_requested
  registered restarting warn; stop w0 w2: reported_elsewhere
  starting running start@1 w1#2: reported
new
  asked allocating -: agent_ended agent_evicted allocated cluster_waiting exited_failure
    exited_port_lost exited_success host_silent progress reattached reported reported_elsewhere
    session_lost started time_passed
  asked allocating allocate c0 w0 w1 p0 e0 t0: begin resumed
  asked failed finish failed: cluster_gone
  asked killed finish killed: stop_requested
observer-in-grace
  ending stopping end-at-once c0 w0 w1 e0: exited_success
  ending stopping end-at-once c0 w0 w1 e0; end t0: exited_failure
  ending stopping end-at-once c0 w0 w1; end e0 t0: cluster_gone exited_port_lost stop_requested
  gone stopping end-at-once c0 w0 w1; end t0: agent_ended agent_evicted
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere session_lost started
  running running end p0: resumed
  running running kill p0: time_passed
port-lost
  allocated restarting -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached reported resumed session_lost started
  allocated restarting kill c0 w0 p0 e0: time_passed
  asked restarting allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  registered restarting -: reported_elsewhere
registered
  asked allocating warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested time_passed
  registered allocating -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached reported reported_elsewhere session_lost started
  registered allocating end-at-once c0; allocate c0#2; end-at-once w0; allocate w0#2; end-at-once p0; allocate p0#2; end-at-once e0; allocate e0#2; end-at-once t0; allocate t0#2: resumed
resumed
  allocated restarting warn; stop c0 w0 p0 e0: exited_port_lost
  asked running kill c0; warn; allocate c0#2; kill w0; warn; allocate w0#2; kill w1; warn; allocate w1#2; kill p0; warn; allocate p0#2; kill e0; warn; allocate e0#2; kill t0; warn: time_passed
  asked running warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere resumed session_lost started
  starting running warn; start@1 w1#2: exited_failure
running
  allocated restarting warn; stop c0 w0 p0 e0: exited_port_lost
  asked running warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere resumed session_lost started time_passed
  starting running warn; start@1 w1#2: exited_failure
service-after
  ending running -: allocated begin cluster_waiting exited_failure exited_port_lost exited_success
    host_silent progress session_lost started
  ending running end p0: reattached reported reported_elsewhere resumed
  ending running kill p0: time_passed
  ending stopping end-at-once c0 w0 w1; end e0 t0: cluster_gone stop_requested
  gone running -: agent_ended agent_evicted
sidecar
  allocated running warn: exited_port_lost
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  gone running warn: agent_ended agent_evicted
  idle running -: exited_success
  idle running warn: exited_failure
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere resumed session_lost started time_passed
sidecar-in-grace
  ending stopping end-at-once c0 w0 w1 p0 e0 t0: stop_requested
  ending stopping end-at-once t0: exited_success
  ending stopping warn; end-at-once t0: exited_failure exited_port_lost
  gone stopping -: agent_ended agent_evicted
  running stopping -: allocated begin cluster_gone cluster_waiting host_silent progress reattached
    reported reported_elsewhere session_lost started
  running stopping end-at-once c0 w0 w1; end p0; end-at-once e0: resumed
  running stopping kill c0 w0 w1 e0: time_passed
silent
  allocated restarting warn; stop c0 w0 p0 e0: exited_port_lost
  asked running kill w1; warn; allocate w1#2: time_passed
  asked running warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  idle running -: exited_success
  running running -: allocated begin cluster_waiting host_silent progress reattached reported
    reported_elsewhere resumed session_lost started
  starting running warn; start@1 w1#2: exited_failure
spare
  asked running warn; allocate w3#2: agent_ended agent_evicted
  ending stopping end w0 w1 w2 w3: cluster_gone stop_requested
  registered running -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached reported reported_elsewhere resumed session_lost
    started time_passed
spare-allocated
  allocated running -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached resumed session_lost started
  asked running warn; allocate w3#3: agent_ended agent_evicted
  ending running warn; end w3#2: time_passed
  ending stopping end w0 w1 w2 w3#2: cluster_gone stop_requested
  registered running -: reported reported_elsewhere
spare-asked
  allocated running -: allocated
  asked running -: begin cluster_waiting exited_failure exited_port_lost exited_success host_silent
    progress reattached session_lost started time_passed
  asked running end-at-once w3#2; allocate w3#3: resumed
  asked running warn; allocate w3#3: agent_ended agent_evicted
  ending stopping end w0 w1 w2 w3#2: cluster_gone stop_requested
  registered running -: reported reported_elsewhere
spare-silent
  asked running kill w3; warn; allocate w3#2: time_passed
  asked running warn; allocate w3#2: agent_ended agent_evicted
  ending stopping end w0 w1 w2 w3: cluster_gone stop_requested
  registered running -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached reported reported_elsewhere resumed session_lost
    started
spare-stepping-forward
  asked restarting warn; allocate w3#2: agent_ended agent_evicted
  ending stopping end w0 w1#2 w2 w3: cluster_gone stop_requested
  registered restarting -: allocated begin cluster_waiting exited_failure exited_port_lost
    exited_success host_silent progress reattached reported reported_elsewhere session_lost started
  registered restarting end-at-once w1#2; allocate w1#3: resumed
  registered restarting kill w0 w2: time_passed
starting
  allocated restarting warn; stop c0 w0 p0 e0: exited_port_lost
  asked running warn; allocate w1#2: agent_ended agent_evicted
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested time_passed
  idle running -: exited_success
  running running -: started
  starting running -: allocated begin cluster_waiting host_silent progress reported
    reported_elsewhere resumed session_lost
  starting running start@1 w1: reattached
  starting running warn; start@1 w1#2: exited_failure
stopping
  allocated restarting -: exited_port_lost
  asked restarting allocate w1#2: agent_ended agent_evicted
  ending restarting kill w0 w1 p0 e0: time_passed
  ending stopping end c0 w0 w1 p0 e0 t0: cluster_gone stop_requested
  registered restarting -: exited_failure exited_success
  stopping restarting -: allocated begin cluster_waiting host_silent progress reported
    reported_elsewhere resumed session_lost started
  stopping restarting stop w1: reattached
)";

}  // namespace gangrun::gang
