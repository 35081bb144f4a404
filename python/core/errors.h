#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "base/result.h"

namespace gangrun::core {

// Adds the exceptions of the feed to the module.
void add_exceptions(nanobind::module_& module);

// The exception that an error is: NotThere, PeerGone, Refused, TimeoutError, MemoryError,
// ValueError, PermissionError, OSError. One that a signal has raised already goes on as it is.
[[noreturn]] void raise(const base::Error& error);

template <typename T>
T value_or_raise(base::Result<T>&& result) {
  if (!result.ok()) raise(result.error());
  return *std::move(result);
}

inline void check(const base::Result<>& result) {
  if (!result.ok()) raise(result.error());
}

}  // namespace gangrun::core
