#pragma once

#include <memory>
#include <utility>

namespace gangrun::net {

// A callback that calls `work` as long as the object lives, of which a member function says
// weak_from_this(): `work` may use it.
template <typename Work>
auto while_alive(std::weak_ptr<const void> object, Work work) {
  return [object = std::move(object), work = std::move(work)](auto&&... values) {
    const auto kept = object.lock();
    if (kept == nullptr) return;
    Work called = work;  // it may drop this callback
    called(std::forward<decltype(values)>(values)...);
  };
}

}  // namespace gangrun::net
