#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"

namespace gangrun::net {

// The host of a connection: an IPv4 address, or the first half of an IPv6 address, as one host
// has all of the second half.
std::string source_of(const sockaddr_storage& address);

// The connections of a server that have not shown yet that they may be there. They have a share of
// their own, and each source has a part of it, so that half-open ones leave room for the others.
class Strangers {
 public:
  using Id = std::uint64_t;

  static constexpr base::Duration kPatience = base::seconds(2);

  // The decision about one that has just come.
  struct Verdict {
    bool welcome = false;
    std::optional<Id> gives_way;  // this one is to be closed, and not known here any more
    [[nodiscard]] bool crowded() const { return !welcome || gives_way.has_value(); }
  };

  // How many there may be: `most` in all, half of them of one source. After `patience` one gives
  // way to another, if there are too many.
  void limit(std::size_t most, base::Duration patience = kPatience) {
    most_ = most;
    patience_ = patience;
  }

  // Whether the next one has to wait until it is accepted: all are there, and none for long.
  [[nodiscard]] bool full(base::Instant now) const;

  // Whether the next one of this source would be welcome.
  [[nodiscard]] bool has_room(const std::string& source, base::Instant now) const;

  // `id` is new. It is one of them afterwards if it is welcome.
  Verdict come(Id id, const std::string& source, base::Instant now);

  // It has shown that it may be there, or has gone. Unknown ones change nothing.
  void leave(Id id);

  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] std::size_t of(const std::string& source) const;

 private:
  struct Stranger {
    Id id = 0;
    std::string source;
    base::Instant since;
  };

  [[nodiscard]] std::size_t most_of_one() const { return most_ < 2 ? 1 : most_ / 2; }
  // The connection that would give way to one of this source, if there are too many.
  [[nodiscard]] std::list<Stranger>::const_iterator oldest(const std::string& source) const;
  void remove(std::list<Stranger>::const_iterator found);

  std::size_t most_ = 0;
  base::Duration patience_ = kPatience;
  std::list<Stranger> waiting_;  // in the order in which they came
  std::map<Id, std::list<Stranger>::iterator> places_;
  std::map<std::string, std::size_t> counts_;
};

}  // namespace gangrun::net
