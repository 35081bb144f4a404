// Functions that our programs call and glibc 2.17 lacks. The linker leaves out those that a program
// does not need.
//
// Each is as the C library's own, but for what no caller here uses: no wait is a cancellation
// point.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#define GANGRUN_MISSING [[gnu::visibility("hidden")]]

namespace {

// The kernel's struct is the C library's on these processors.
#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the layout of struct stat on this processor is not known here"
#endif

constexpr std::size_t kMostEntropy = 256;

// From the device where the kernel has no call for it, which is older than 3.17.
bool read_random(unsigned char* bytes, std::size_t size) {
  const int device = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (device < 0) return false;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(device, bytes + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  ::close(device);
  if (done == size) return true;
  errno = EIO;
  return false;
}

bool fill_random(unsigned char* bytes, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::getrandom(bytes + done, size - done, 0);
    if (got < 0 && errno == ENOSYS) return read_random(bytes + done, size - done);
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return true;
}

bool covers(const dl_phdr_info& object, const ElfW(Phdr) & part, std::uintptr_t address) {
  const std::uintptr_t start = object.dlpi_addr + part.p_vaddr;
  return part.p_type == PT_LOAD && address >= start && address < start + part.p_memsz;
}

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

// 1 ends the walk over the objects.
int look_in(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool has_address = false;
  std::uintptr_t start = UINTPTR_MAX;
  std::uintptr_t end = 0;
  void* frames = nullptr;
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = object->dlpi_phdr[index];
    const std::uintptr_t at = object->dlpi_addr + part.p_vaddr;
    has_address = has_address || covers(*object, part, search.address);
    if (part.p_type == PT_LOAD && at < start) start = at;
    if (part.p_type == PT_LOAD && at + part.p_memsz > end) end = at + part.p_memsz;
    if (part.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(at);
  }
  if (!has_address) return 0;
  *search.found = {};
  search.found->dlfo_map_start = reinterpret_cast<void*>(start);
  search.found->dlfo_map_end = reinterpret_cast<void*>(end);
  search.found->dlfo_eh_frame = frames;
  return 1;
}

locale_t untranslated() {
  static const locale_t kLocale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return kLocale;
}

}  // namespace

extern "C" {

// 2.33

GANGRUN_MISSING int stat(const char* path, struct stat* found) noexcept {
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, found, 0));
}

GANGRUN_MISSING int lstat(const char* path, struct stat* found) noexcept {
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW));
}

GANGRUN_MISSING int fstat(int file, struct stat* found) noexcept {
  return static_cast<int>(::syscall(SYS_fstat, file, found));
}

GANGRUN_MISSING int fstat64(int file, struct stat64* found) noexcept {
  return static_cast<int>(::syscall(SYS_fstat, file, found));
}

// 2.25

GANGRUN_MISSING ssize_t getrandom(void* bytes, std::size_t size, unsigned flags) {
  return ::syscall(SYS_getrandom, bytes, size, flags);
}

GANGRUN_MISSING int getentropy(void* bytes, std::size_t size) {
  if (size > kMostEntropy) {
    errno = EIO;
    return -1;
  }
  return fill_random(static_cast<unsigned char*>(bytes), size) ? 0 : -1;
}

GANGRUN_MISSING void explicit_bzero(void* bytes, std::size_t size) noexcept {
  ::memset(bytes, 0, size);
  __asm__ __volatile__("" : : "r"(bytes) : "memory");  // who reads it is not known to the compiler
}

// 2.27, 2.30

GANGRUN_MISSING int memfd_create(const char* name, unsigned flags) noexcept {
  return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}

GANGRUN_MISSING pid_t gettid() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

// 2.32

// Whether shared counters may do without atomic operations: nobody tells us here, so never.
GANGRUN_MISSING char __libc_single_threaded = 0;

GANGRUN_MISSING const char* strerrordesc_np(int number) noexcept {
  const char* const text = ::strerror_l(number, untranslated());
  return ::strncmp(text, "Unknown error", 13) == 0 ? nullptr : text;
}

GANGRUN_MISSING const char* sigabbrev_np(int number) noexcept {
  switch (number) {
#define GANGRUN_SIGNAL(name) \
  case SIG##name: return #name
    GANGRUN_SIGNAL(HUP);
    GANGRUN_SIGNAL(INT);
    GANGRUN_SIGNAL(QUIT);
    GANGRUN_SIGNAL(ILL);
    GANGRUN_SIGNAL(TRAP);
    GANGRUN_SIGNAL(ABRT);
    GANGRUN_SIGNAL(BUS);
    GANGRUN_SIGNAL(FPE);
    GANGRUN_SIGNAL(KILL);
    GANGRUN_SIGNAL(USR1);
    GANGRUN_SIGNAL(SEGV);
    GANGRUN_SIGNAL(USR2);
    GANGRUN_SIGNAL(PIPE);
    GANGRUN_SIGNAL(ALRM);
    GANGRUN_SIGNAL(TERM);
    GANGRUN_SIGNAL(STKFLT);
    GANGRUN_SIGNAL(CHLD);
    GANGRUN_SIGNAL(CONT);
    GANGRUN_SIGNAL(STOP);
    GANGRUN_SIGNAL(TSTP);
    GANGRUN_SIGNAL(TTIN);
    GANGRUN_SIGNAL(TTOU);
    GANGRUN_SIGNAL(URG);
    GANGRUN_SIGNAL(XCPU);
    GANGRUN_SIGNAL(XFSZ);
    GANGRUN_SIGNAL(VTALRM);
    GANGRUN_SIGNAL(PROF);
    GANGRUN_SIGNAL(WINCH);
    GANGRUN_SIGNAL(POLL);
    GANGRUN_SIGNAL(PWR);
    GANGRUN_SIGNAL(SYS);
#undef GANGRUN_SIGNAL
    default: return nullptr;
  }
}

// 2.35: by it exceptions find what they unwind.
GANGRUN_MISSING int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), found};
  return ::dl_iterate_phdr(look_in, &search) == 1 ? 0 : -1;
}

// 2.36: for std::random_device. It has no way to say that it cannot.
GANGRUN_MISSING std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (!fill_random(reinterpret_cast<unsigned char*>(&value), sizeof(value))) ::abort();
  return value;
}

}  // extern "C"
