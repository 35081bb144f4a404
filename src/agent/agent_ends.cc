#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "agent/agent.h"
#include "agent/image_run.h"
#include "base/files.h"
#include "base/format.h"

// How a run ends: what it has left goes to the master first, and then its end.
namespace gangrun::agent {

namespace {

// The time that the outputs of a run may take beyond its grace, and the time for those that have
// come whole by then: less than the gang allows (Gang::Limits::kill_allowance).
constexpr std::chrono::seconds kOutputsAllowance(5);
constexpr std::chrono::seconds kLastOutputs(3);

}  // namespace

// Everything of the run is dead by now.
void Agent::on_run_ended(job::ExitReport report) {
  const job::Address reported = address();
  execs_.end(base::format("{} has ended", job::to_string(config_.task)));
  run_.reset();
  rendezvous_.reset();
  if (runs_image()) remove_environments(config_);
  const PortEnd ports = port_end(report);
  const RunCircumstances known{.has_notice = notice_.is_pending(loop_.now()),
                               .agent_ends_for = end_reason_,
                               .lost_port = ports.lost};
  switch (judge(report, known)) {
    case PortsNext::kNothing: break;
    case PortsNext::kHoldAgain:
      if (!ports.words.empty()) report.why.detail = ports.words;
      // An end of its own counts as what it is; the others learn of the port when it starts again.
      if (!hold_ports_again()) report.port_lost = phases_.is_stop_asked();
      break;
    case PortsNext::kTakeOthers:
      report.why.detail = ports.words;
      take_other_ports();
      break;
  }
  if (!last_words_) run_end_ = job::RunEnd{run_attempt_, report};
  last_run_ = LastRun{std::move(report), loop_.now(), reported};
  act(phases_.run_ended());
}

void Agent::send_result() {
  tell_figures();
  base::remove_if_there(figures_.path());
  auto opened = open_result(result_path_);
  if (!opened.ok()) {
    lose_result(opened.error().message);
    return keep_outputs();
  }
  if (opened->size == 0) return keep_outputs();
  upload_.emplace(std::move(opened->file), opened->size, run_attempt_, numbers_,
                  [this](const wire::AskMessage& question) { ask(question); });
  upload_->begin(loop_.now());
  after_result_part();
}

void Agent::after_result_part() {
  if (!upload_->is_over()) {
    const base::Instant now = loop_.now();
    base::Instant limit = now + kResultPartTimeout;
    if (upload_by_) limit = std::min(limit, *upload_by_);
    upload_limit_ = loop_.at(limit, [this, left = limit - now] {
      upload_->give_up(base::format("it could not be sent in {}", base::to_words(left)));
      after_result_part();
    });
    return;
  }
  upload_limit_.reset();
  if (const std::string trouble = upload_->trouble(); !trouble.empty()) lose_result(trouble);
  upload_.reset();
  base::remove_if_there(result_path_);
  keep_outputs();
}

void Agent::send_outputs_to_master() {
  const auto& named = config_.spec.outputs_of(task_spec_);
  if (!named || named->empty()) return;
  std::optional<std::uint64_t> limit;
  if (const auto mib = config_.spec.outputs_limit_mib) {
    limit = static_cast<std::uint64_t>(*mib) << 20U;
  }
  output_upload_.emplace(loop_, OutputUpload::Order{config_.working_folder, *named, limit},
                         numbers_, [this](const wire::AskMessage& question) { ask(question); });
  outputs_ = {
      .keep = [this](Outputs::Done done) { output_upload_->keep(run_attempt_, std::move(done)); },
      .cut_short = [this] { output_upload_->cut_short(); },
      .can_wait = true};
}

// A run that has failed starts again unless its job has no restart left, which the task does not
// know for sure.
bool Agent::may_run_again() const {
  if (phases_.is_ending()) return false;
  const bool may_restart = restarts_ < config_.spec.restarts.max;
  return phases_.is_stop_asked() || (!last_run_->report.success && may_restart);
}

void Agent::keep_outputs() {
  if (!outputs_.keep || are_outputs_on_way_) return act(phases_.result_over());
  if (!outputs_.can_wait || !may_run_again()) return begin_outputs();
  phases_.owe_outputs();
  act(phases_.result_over());
}

void Agent::begin_outputs() {
  are_outputs_on_way_ = true;
  limit_outputs();
  outputs_.keep([this, turn = ++outputs_turn_](std::string lost, const std::string& missing) {
    if (are_outputs_on_way_ && turn == outputs_turn_) on_outputs_kept(std::move(lost), missing);
  });
}

// Outputs that have come whole by then are kept, which may take a moment.
void Agent::limit_outputs() {
  if (!are_outputs_on_way_ || !outputs_by_) return;
  outputs_limit_ = loop_.at(*outputs_by_, [this] { cut_outputs_short(); });
}

void Agent::cut_outputs_short() {
  outputs_limit_ = loop_.after(
      kLastOutputs, [this] { on_outputs_kept("the time that the task has to stop is over", {}); });
  outputs_.cut_short();
}

void Agent::on_outputs_kept(std::string lost, const std::string& missing) {
  outputs_limit_.reset();
  are_outputs_on_way_ = false;
  if (!missing.empty()) tell_in_log(base::format("gangrun: outputs: {}", missing));
  if (!lost.empty()) tell_in_log(base::format("gangrun: outputs were not all kept: {}", lost));
  if (last_run_) last_run_->report.lost_outputs = std::move(lost);
  act(phases_.result_over());
}

void Agent::limit_run(std::chrono::milliseconds grace) {
  outputs_by_ =
      std::min(outputs_by_.value_or(base::Instant::max()), loop_.now() + grace + kOutputsAllowance);
  execs_.end(base::format("{} is to stop", job::to_string(config_.task)));
  run_->stop(grace);
}

// The run's end counts as what it is.
void Agent::lose_result(std::string_view why) {
  upload_.reset();
  tell_in_log(base::format("gangrun: the result was not kept: {}", why));
}

// Among the task's own lines, for who reads its log and for who follows the job.
void Agent::tell_in_log(const std::string& line) {
  const std::string path = config_.log_prefix + ".err";
  const auto file = config_.in_pod ? own_output(true)
                                   : base::open_file(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
  const auto written =
      file.ok() ? base::write_all(file->get(), line + "\n", path) : base::Result<>(file.error());
  if (!written.ok()) logger_.warning("{}: {}", line, written.error().message);
  if (session_) session_->log(wire::Stream::kErr, line);
}

void Agent::tell_end() {
  upload_limit_.reset();
  if (upload_) lose_result("the task was ended while it was sent");
  if (std::exchange(are_outputs_on_way_, false)) {
    outputs_limit_.reset();
    outputs_.cut_short();
    last_run_->report.lost_outputs = "the task was ended while they were written";
  }
  LastRun ended = *std::exchange(last_run_, std::nullopt);
  if (session_) {
    session_->exited(std::move(ended.report), ended.at);
    if (address() != ended.address) session_->set_address(address(), more_ports());
  }
  act(phases_.end_told());
}

}  // namespace gangrun::agent
