#include "net/strangers.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace gangrun::net {

namespace {

constexpr std::size_t kHostHalf = 8;  // bytes of an IPv6 address that name a network

}  // namespace

std::string source_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &ip.sin_addr, text.data(), text.size());
    return text.data();
  }
  if (address.ss_family != AF_INET6) return {};
  in6_addr ip = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&ip)) {
    ::inet_ntop(AF_INET, &ip.s6_addr[sizeof ip - sizeof(in_addr)], text.data(), text.size());
    return text.data();
  }
  if (IN6_IS_ADDR_LOOPBACK(&ip)) return "::1";
  std::memset(&ip.s6_addr[kHostHalf], 0, sizeof ip - kHostHalf);
  ::inet_ntop(AF_INET6, &ip, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

bool Strangers::full(base::Instant now) const {
  return waiting_.size() >= most_ && !waiting_.empty() && now - waiting_.front().since < patience_;
}

std::list<Strangers::Stranger>::const_iterator Strangers::oldest(const std::string& source) const {
  const bool source_is_full = of(source) >= most_of_one();
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Stranger& each) {
    return !source_is_full || each.source == source;
  });
}

bool Strangers::has_room(const std::string& source, base::Instant now) const {
  if (of(source) < most_of_one() && waiting_.size() < most_) return true;
  const auto first = oldest(source);
  return first != waiting_.end() && now - first->since >= patience_;
}

Strangers::Verdict Strangers::come(Id id, const std::string& source, base::Instant now) {
  Verdict verdict{.welcome = true, .gives_way = std::nullopt};
  if (!has_room(source, now)) return {};
  if (of(source) >= most_of_one() || waiting_.size() >= most_) {
    const auto first = oldest(source);
    verdict.gives_way = first->id;
    remove(first);
  }
  places_[id] = waiting_.insert(waiting_.end(), {id, source, now});
  ++counts_[source];
  return verdict;
}

void Strangers::leave(Id id) {
  const auto found = places_.find(id);
  if (found != places_.end()) remove(found->second);
}

std::size_t Strangers::of(const std::string& source) const {
  const auto found = counts_.find(source);
  return found == counts_.end() ? 0 : found->second;
}

void Strangers::remove(std::list<Stranger>::const_iterator found) {
  const auto count = counts_.find(found->source);
  if (--count->second == 0) counts_.erase(count);
  places_.erase(found->id);
  waiting_.erase(found);
}

}  // namespace gangrun::net
