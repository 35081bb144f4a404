#include "kubernetes/node/proven_door.h"

#include <iterator>
#include <utility>

namespace gangrun::kubernetes::node {

ProvenDoor::ProvenDoor(net::EventLoop& loop, base::Logger& logger, base::Secret secret,
                       std::string_view greeting,
                       std::function<void(std::unique_ptr<ProvenStream>)> on_proven)
    : loop_(loop),
      logger_(logger),
      secret_(std::move(secret)),
      greeting_(greeting),
      on_proven_(std::move(on_proven)),
      listener_(loop, [this](base::UniqueFd socket) { on_connection(std::move(socket)); }) {}

void ProvenDoor::on_connection(base::UniqueFd socket) {
  if (unproven_.size() >= kMaxUnproven) unproven_.pop_front();
  const Place place = unproven_.emplace(unproven_.end());
  place->stream = std::make_unique<ProvenStream>(
      loop_, std::move(socket), Proof(secret_, greeting_, Proof::Side::kPod),
      ProvenStream::Callbacks{
          .on_proven = [this, place] { on_proven(place); },
          .on_frame = [](const LinkFrame&) {},
          .on_drained = nullptr,
          .on_over = [this, place](const base::Error& why) { on_over(place, why); }});
  place->limit = loop_.after(kProofLimit, [place] {
    place->stream->end(base::deadline_exceeded("who has connected proves nothing"));
  });
}

void ProvenDoor::on_proven(Place place) {
  std::unique_ptr<ProvenStream> stream = std::move(place->stream);
  unproven_.erase(place);
  on_proven_(std::move(stream));
}

void ProvenDoor::on_over(Place place, const base::Error& why) {
  // The kubelet looks whether somebody listens, as probes of other programs do.
  if (why.code == base::Code::kUnauthenticated) logger_.warning("{}", why.message);
  unproven_.erase(place);
}

}  // namespace gangrun::kubernetes::node
