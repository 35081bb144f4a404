#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "feed/lent_ring.h"

namespace gangrun::core {

// The bytes of a caller's object, as long as this lives.
class Bytes {
 public:
  explicit Bytes(nanobind::handle object);
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  Bytes(Bytes&&) = delete;
  Bytes& operator=(Bytes&&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }

  [[nodiscard]] std::string_view view() const {
    return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

// Seconds as Python has them; ValueError where they are no time.
base::Duration seconds(double value);

// Adds Frame to the module, and Room, whose memoryview reserve() gives.
void add_buffers(nanobind::module_& module);

struct Room {
  std::span<char> bytes;
  std::shared_ptr<void> hold;
};

}  // namespace gangrun::core
