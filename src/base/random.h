#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace gangrun::base {

// Fills `bytes` with random ones of the kernel's, good enough for secrets.
void fill_random(std::span<std::byte> bytes);

// A random value of an unsigned type, or of an array of them.
template <typename T>
T random_number() {
  T value{};
  fill_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

// A name for a file until it is whole: hidden, short, and one that no other file has.
std::string name_until_whole();

}  // namespace gangrun::base
