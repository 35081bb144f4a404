#pragma once

#include <memory>
#include <utility>

namespace gangrun::net {

// Whether an object is there, for callbacks that may be left when it is gone: a member of it, for
// an object with one owner.
class Life {
 public:
  Life() = default;
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() = default;

  // It expires when the object goes, also where that is in the middle of a callback.
  [[nodiscard]] std::weak_ptr<const void> sign() const { return sign_; }

 private:
  const std::shared_ptr<const bool> sign_ = std::make_shared<const bool>(true);
};

// A callback that calls `work` if the object is still there. Where `work` is the end of the object,
// it uses nothing of it after that.
template <typename Work>
auto while_alive(const Life& life, Work work) {
  return [sign = life.sign(), work = std::move(work)](auto&&... values) {
    if (!sign.expired()) work(std::forward<decltype(values)>(values)...);
  };
}

// The same for an object of several owners, of which a member function says weak_from_this(): it
// stays as long as `work` uses it.
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
