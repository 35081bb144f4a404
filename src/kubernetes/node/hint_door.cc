#include "kubernetes/node/hint_door.h"

#include <utility>

#include "base/format.h"
#include "base/overloaded.h"

namespace gangrun::kubernetes::node {

HintDoor::HintDoor(net::EventLoop& loop, base::Logger& logger, base::Secret secret,
                   std::function<void(const job::Address&)> on_hint)
    : loop_(loop),
      logger_(logger),
      on_hint_(std::move(on_hint)),
      door_(loop, logger, std::move(secret), kAgentGreeting,
            [this](std::unique_ptr<ProvenStream> stream) { on_caller(std::move(stream)); }) {}

base::Result<std::uint16_t> HintDoor::listen(const std::vector<std::uint16_t>& ports) {
  base::Result<std::uint16_t> listening = base::invalid_argument("no port is given");
  for (const std::uint16_t port : ports) {
    listening = door_.listen(port);
    if (listening.ok()) break;
  }
  return listening;
}

void HintDoor::on_caller(std::unique_ptr<ProvenStream> stream) {
  if (callers_.size() >= kMaxHints) callers_.pop_front();
  const Place place = callers_.emplace(callers_.end());
  place->stream = std::move(stream);
  place->stream->set_callbacks(
      {.on_proven = [] {},
       .on_frame = [this, place](const LinkFrame& frame) { on_frame(*place->stream, frame); },
       .on_drained = nullptr,
       .on_over = [this, place](const base::Error&) { callers_.erase(place); }});
  place->limit = loop_.after(kHintLimit, [place] {
    place->stream->end(base::deadline_exceeded("the client has told nothing"));
  });
}

void HintDoor::on_frame(ProvenStream& stream, const LinkFrame& frame) {
  const base::Result<> taken =
      std::visit(base::Overloaded{
                     [this](const HintFrame& hint) { return on_hint(hint); },
                     [](const base::OneOf<HereFrame, CarryFrame, PingFrame, AnswerFrame,
                                          net::OpenFrame, net::StreamFrame> auto&) {
                       return base::Result<>(base::Error{base::Code::kDataLoss,
                                                         "the client has sent what is no hint"});
                     },
                 },
                 frame);
  if (taken.ok()) return stream.send(AnswerFrame{});
  logger_.warning("{}", taken.error().message);
  stream.end(taken.error());
}

base::Result<> HintDoor::on_hint(const HintFrame& hint) {
  if (hint.attempt < newest_attempt_) {
    return base::Error{
        base::Code::kAlreadyExists,
        base::format("master {} calls, but the job's master is {}", hint.attempt, newest_attempt_)};
  }
  GANGRUN_ASSIGN(const job::Address address, job::parse_address(hint.address));
  newest_attempt_ = hint.attempt;
  on_hint_(address);
  return {};
}

}  // namespace gangrun::kubernetes::node
