// The loader's program, without a C library: where the kernel begins, and what zlib and the
// compiler take for granted.

#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "kubernetes/loader/loader.h"
#include "kubernetes/loader/system_call.h"

namespace {

using gangrun::kubernetes::loader::system_call;

struct Pair {
  std::uintptr_t kind;
  const unsigned char* value;
};

// A kernel gives 16 random bytes since 2.6.29.
constexpr unsigned char kNotRandom[16] = {};
constexpr std::size_t kMaxAllocated = std::size_t{128} << 10U;  // zlib takes 40 KiB, once
constexpr std::size_t kAlignment = 16;

alignas(kAlignment) unsigned char room[kMaxAllocated];
std::size_t allocated = 0;

}  // namespace

extern "C" {

// zlib as it is installed finds an overwritten stack by this word.
#if defined(__x86_64__)
struct {
  void* self;
  std::uintptr_t others[4];
  std::uintptr_t guard;  // at 40 bytes from where the register fs points
} gangrun_thread;
#else
std::uintptr_t gangrun_guard asm("__stack_chk_guard");
#endif

[[noreturn]] void gangrun_stop() asm("__stack_chk_fail");
[[noreturn]] void gangrun_stop() {
  constexpr int kAborted = 134;
  while (true) system_call(SYS_exit_group, kAborted);
}

void* memcpy(void* to, const void* from, std::size_t size) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  for (std::size_t at = 0; at < size; ++at) target[at] = source[at];
  return to;
}

void* memmove(void* to, const void* from, std::size_t size) {
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  if (target <= source) return memcpy(to, from, size);
  for (; size > 0; --size) target[size - 1] = source[size - 1];
  return to;
}

void* memset(void* to, int byte, std::size_t size) {
  auto* target = static_cast<unsigned char*>(to);
  for (std::size_t at = 0; at < size; ++at) target[at] = static_cast<unsigned char>(byte);
  return to;
}

int memcmp(const void* one, const void* other, std::size_t size) {
  const auto* first = static_cast<const unsigned char*>(one);
  const auto* second = static_cast<const unsigned char*>(other);
  for (std::size_t at = 0; at < size; ++at) {
    if (first[at] != second[at]) return first[at] < second[at] ? -1 : 1;
  }
  return 0;
}

void* malloc(std::size_t size) {
  if (size > kMaxAllocated - allocated) return nullptr;
  void* found = room + allocated;
  allocated += (size + kAlignment - 1) / kAlignment * kAlignment;
  if (allocated > kMaxAllocated) allocated = kMaxAllocated;
  return found;
}

void free(void* /*taken*/) {}

// The kernel's words lie from `stack` on: the number of arguments, the arguments, a null, the
// environment, a null, and pairs.
[[noreturn]] void gangrun_start(std::uintptr_t* stack) {
  auto** arguments = reinterpret_cast<char**>(stack + 1);
  char** environment = arguments + *stack + 1;
  char** end = environment;
  while (*end != nullptr) ++end;
  const unsigned char* random = kNotRandom;
  for (const auto* pair = reinterpret_cast<Pair*>(end + 1); pair->kind != AT_NULL; ++pair) {
    if (pair->kind == AT_RANDOM) random = pair->value;
  }
  std::uintptr_t guard = 0;
  memcpy(&guard, random + sizeof guard, sizeof guard);
#if defined(__x86_64__)
  gangrun_thread.self = &gangrun_thread;
  gangrun_thread.guard = guard;
  constexpr int kSetFs = 0x1002;
  system_call(SYS_arch_prctl, kSetFs, &gangrun_thread);
#else
  gangrun_guard = guard;
#endif
  const int status = gangrun::kubernetes::loader::load(
      {.arguments = arguments, .environment = environment, .random = random});
  while (true) system_call(SYS_exit_group, status);
}
}

#if defined(__x86_64__)
asm(".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call gangrun_start\n");
#else
asm(".globl _start\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x0, sp\n"
    "  bl gangrun_start\n");
#endif
