#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents/desk.h"
#include "base/log.h"
#include "gang/gang.h"
#include "journal/recorded_gang.h"
#include "journal/writer.h"

namespace gangrun::simulation {

class World;

class NoLog final : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

// Gang, desk and journal put together as master/master.cc does. It may die in every write and
// between any two decisions.
class Master final : private agents::DeskOutput {
 public:
  Master(World& world, gang::Gang gang, std::unique_ptr<journal::Writer> writer);

  // The first of a job, or one that goes on.
  void begin(bool stops_at_once);
  void resume();
  void end(const gang::Finish& finish);
  void handle(gang::Event event);

  void on_opened(std::size_t connection);
  void on_frame(std::size_t connection, std::string_view frame);
  void on_closed(std::size_t connection);
  [[nodiscard]] std::optional<base::Instant> next_deadline() const;
  void on_time();

  [[nodiscard]] const gang::Gang& gang() const { return recorded_.gang(); }
  [[nodiscard]] const journal::RecordedGang& recorded() const { return recorded_; }

 private:
  void send(wire::SessionId session, wire::Frame frame) override;
  void close(wire::SessionId session, std::string_view reason) override;
  void event(agents::DeskEvent event) override;

  void act_upon(const journal::RecordedGang::Handled& handled);
  void conclude();
  void carry_out(const gang::Decision& decision);
  void publish(const job::ClusterSpec& spec);

  World& world_;
  NoLog log_;
  agents::Desk desk_;
  std::unique_ptr<journal::Writer> writer_;
  journal::RecordedGang recorded_;
  std::optional<agents::Starts> starts_;  // of the published generation
  std::optional<gang::Finish> finish_;
  bool handling_ = false;
};

}  // namespace gangrun::simulation
