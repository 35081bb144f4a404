#include "simulation/master.h"

#include <algorithm>

#include "base/format.h"
#include "base/overloaded.h"
#include "simulation/world.h"

namespace gangrun::simulation {

using base::format;
using std::chrono::milliseconds;

Master::Master(World& world, gang::Gang gang, std::unique_ptr<journal::Writer> writer)
    : world_(world),
      desk_({.heartbeat = milliseconds(world.schedule().heartbeat_ms),
             .master_lost = milliseconds(world.schedule().lease_ms)},
            *this, log_),
      writer_(std::move(writer)),
      recorded_(std::move(gang), *writer_, true) {}

void Master::begin(bool stops_at_once) {
  (void)writer_->append(journal::SpecRecord{world_.schedule().spec});
  if (stops_at_once) return handle(gang::StopRequested{"nobody", false});
  handle(gang::Begin{});
}

void Master::resume() {
  for (const gang::Task& task : gang().tasks()) {
    desk_.expect(task.id, task.allocated_attempt);
    desk_.set_attempt(task.id, task.attempt);
  }
  // A generation that the dead master decided to publish counts as published.
  world_.published_ = gang().cluster_spec().generation;
  world_.published_spec_ = gang().cluster_spec();
  if (world_.published_ > 0) publish(gang().cluster_spec());
  handle(gang::Resumed{});
}

void Master::handle(gang::Event event) {
  recorded_.add(std::move(event));
  if (handling_) return;
  handling_ = true;
  while (!world_.master_is_dying_) {
    const int whole = world_.disk_.back().whole;
    const auto handled = recorded_.next(world_.now());
    // It dies with the whole record on the disk or with none; only the first counts as happened.
    if (!handled || (world_.master_is_dying_ && world_.disk_.back().whole == whole)) break;
    act_upon(*handled);
  }
  handling_ = false;
  if (!world_.master_is_dying_) world_.judge_wait();
}

void Master::act_upon(const journal::RecordedGang::Handled& handled) {
  world_.records_.push_back({handled.event, world_.now()});
  if (world_.is_verbose()) {
    const gang::Event told = gang::moved_by(base::Instant{} - world_.origin_, handled.event);
    world_.say(format("<- {}", base::dump_json(gang::to_json(told))));
  }
  world_.judge_step(handled.event, handled.decisions);
  for (const gang::Decision& decision : handled.decisions) {
    if (!world_.master_is_dying_ && world_.master_dies_here())
      world_.kill_master("between decisions");
    if (world_.master_is_dying_) return;
    if (world_.is_verbose()) world_.say(format("   -> {}", describe(decision)));
    carry_out(decision);
  }
}

void Master::publish(const job::ClusterSpec& spec) {
  starts_.emplace(spec);
  desk_.set_generation(spec.generation);
}

void Master::carry_out(const gang::Decision& decision) {
  std::visit(
      base::Overloaded{
          [this](const gang::Allocate& asked) {
            desk_.expect(asked.task, asked.attempt);
            world_.start_agent(asked);
          },
          [this](const gang::Publish& published) {
            world_.judge_publish(published.spec);
            (void)writer_->append(journal::GenerationRecord{published.spec});
            publish(published.spec);
          },
          [this](const gang::Start& started) {
            (void)desk_.send_start(started.task, started.attempt, gang().restarts_used(), *starts_);
          },
          [this](const gang::Stop& stopped) { (void)desk_.send_stop(stopped.task, stopped.grace); },
          [this](const gang::End& ended) {
            if (desk_.send_end(ended.task, ended.grace)) return;
            world_.stop_agent(ended.task, ended.attempt, ended.grace.count());
          },
          [this](const gang::Kill& killed) { world_.stop_agent(killed.task, killed.attempt, 0); },
          [this](const gang::Warn& warning) { world_.judge_warning(warning.warning); },
          [this](const gang::Finish& finished) { end(finished); },
      },
      decision);
}

void Master::end(const gang::Finish& finish) {
  world_.judge_finish(finish);
  finish_ = finish;
  conclude();
}

void Master::conclude() {
  job::JobStatus status;
  status.id = "simulated-1";
  status.name = "simulated";
  status.state = finish_->state;
  status.cause = finish_->cause;
  status.submitted = status.ended = "2026-01-31T12:00:00.000Z";
  const bool concluded = recorded_.verdict(status, world_.now());
  if (world_.master_is_dying_ || !concluded) return;
  world_.over_ = true;
  world_.finish_ = finish_;
}

void Master::on_opened(std::size_t connection) { desk_.on_opened(connection, world_.now()); }
void Master::on_frame(std::size_t connection, std::string_view frame) {
  desk_.on_frame(connection, frame, world_.now());
}
void Master::on_closed(std::size_t connection) { desk_.on_closed(connection); }

std::optional<base::Instant> Master::next_deadline() const {
  const auto ours = recorded_.next_deadline();
  const auto desks = desk_.next_deadline();
  if (!ours || !desks) return ours ? ours : desks;
  return std::min(*ours, *desks);
}

void Master::on_time() {
  desk_.on_time(world_.now());
  if (world_.master_is_dying_) return;
  if (!finish_) return handle(gang::TimePassed{});
  if (!world_.over_) conclude();
  if (!world_.master_is_dying_) world_.judge_wait();
}

void Master::send(wire::SessionId session, wire::Frame frame) {
  if (!world_.master_is_dying_) world_.send_to_agent(session, std::move(frame));
}

void Master::close(wire::SessionId session, std::string_view) {
  if (!world_.master_is_dying_) world_.close_by_master(session);
}

void Master::event(agents::DeskEvent event) {
  if (world_.master_is_dying_) return;
  std::visit(base::Overloaded{
                 [this](const agents::PlaceReported& e) {
                   handle(gang::Reported{e.task, e.attempt, e.address});
                 },
                 [this](const agents::AgentReattached& e) {
                   handle(gang::Reattached{e.task, e.attempt});
                 },
                 [this](const agents::ProcessStarted& e) {
                   handle(gang::Started{e.task, e.attempt});
                 },
                 [this](const job::Exited& e) { handle(e); },
                 [this](const agents::Heartbeat& e) {
                   if (e.progress) handle(gang::Progress{e.task, e.attempt});
                 },
                 [this](const agents::PortLost& e) {
                   job::ExitReport report;
                   report.why.reason = job::Reason::kPortLost;
                   report.port_lost = true;
                   handle(job::Exited{e.task, e.attempt, report, world_.now()});
                 },
                 [this](const agents::SessionEnded& e) {
                   handle(gang::SessionLost{e.task, e.attempt});
                 },
                 // Told to people, and no news for the gang.
                 [](const base::OneOf<agents::LogLines, agents::FiguresTold, agents::AgentAsked,
                                      agents::Answered> auto&) {},
             },
             event);
}

}  // namespace gangrun::simulation
