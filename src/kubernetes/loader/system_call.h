#pragma once

#include <sys/syscall.h>

#include <type_traits>

namespace gangrun::kubernetes::loader {

template <typename T>
long as_word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

// A call of the kernel, without a C library: its result, or below zero the number of the error.
template <typename... Arguments>
long system_call(long number, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= 5);
  const long words[5] = {as_word(arguments)...};
#if defined(__x86_64__)
  long result = number;
  register long fourth asm("r10") = words[3];
  register long fifth asm("r8") = words[4];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long called asm("x8") = number;
  register long result asm("x0") = words[0];
  register long second asm("x1") = words[1];
  register long third asm("x2") = words[2];
  register long fourth asm("x3") = words[3];
  register long fifth asm("x4") = words[4];
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(called), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
               : "memory");
  return result;
#else
#error "how is the kernel called on this processor?"
#endif
}

}  // namespace gangrun::kubernetes::loader
