#include "kubernetes/loader/loader.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <cerrno>
#include <cstddef>

#include "kubernetes/loader/sha256.h"
#include "kubernetes/loader/system_call.h"
#include "kubernetes/loader/unpack.h"
#include "kubernetes/loader/words.h"

namespace gangrun::kubernetes::loader {

namespace {

constexpr int kFailed = 125;
constexpr std::size_t kMaxPath = 4096;
constexpr const char* kMemory = "memory";
constexpr const char* kProgram = "gangrun-agent";
constexpr unsigned kProgramMode = 0555;
// linux/memfd.h, where it is new enough: kernels before 6.3 do not know it.
constexpr unsigned kMayBeExecuted = 0x10;
// statvfs() of the C library has it; the kernel's own flags of a mount are the same there.
constexpr long kNoExec = 8;
#if defined(__x86_64__)
constexpr unsigned kOwnMachine = EM_X86_64;
#else
constexpr unsigned kOwnMachine = EM_AARCH64;
#endif

struct Order {
  const char* digest;
  const char* where;
  char** program;  // its arguments, from its name on
};

std::size_t length_of(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

bool is_equal(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) {
    ++one;
    ++other;
  }
  return *one == *other;
}

// A path of two names; false where it is too long.
bool join(const char* folder, const char* name, char (&path)[kMaxPath]) {
  const std::size_t first = length_of(folder);
  const std::size_t second = length_of(name);
  if (first + 1 + second >= kMaxPath) return false;
  for (std::size_t at = 0; at < first; ++at) path[at] = folder[at];
  path[first] = '/';
  for (std::size_t at = 0; at <= second; ++at) path[first + 1 + at] = name[at];
  return true;
}

// "/proc/self/fd/7".
struct FdPath {
  explicit FdPath(int file) {
    char* digit = text + sizeof text - 1;
    do {
      *--digit = static_cast<char>('0' + file % 10);
      file /= 10;
    } while (file > 0);
    constexpr char kFolder[] = "/proc/self/fd/";
    for (std::size_t at = sizeof kFolder - 1; at > 0; --at) *--digit = kFolder[at - 1];
    start = digit;
  }

  char text[40] = {};
  const char* start = nullptr;
};

// The folder of a path, if it has part-0; else below zero.
int folder_with_parts(const char* file, std::size_t length) {
  while (length > 0 && file[length - 1] != '/') --length;
  if (length == 0 || length >= kMaxPath) return -1;
  char folder[kMaxPath] = {};
  for (std::size_t at = 0; at < length; ++at) folder[at] = file[at];
  const auto opened =
      static_cast<int>(system_call(SYS_openat, AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (opened < 0) return -1;
  if (system_call(SYS_faccessat, opened, "part-0", 0) == 0) return opened;
  system_call(SYS_close, opened);
  return -1;
}

// The folder that the loader is in. The kubelet may have replaced what its folder's link leads to
// since it was started: its parts are where it was called, then.
int open_own_folder(const char* called, Words& wrong) {
  char path[kMaxPath] = {};
  const long length =
      system_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
  if (length > 0) {
    const int found = folder_with_parts(path, static_cast<std::size_t>(length));
    if (found >= 0) return found;
  }
  const int found = folder_with_parts(called, length_of(called));
  if (found < 0) wrong.say("part-0 is not beside it: ", length > 0 ? path : called);
  return found;
}

const char* name_of(unsigned machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "aarch64";
    case EM_386: return "x86 of 32 bits";
    case EM_ARM: return "arm of 32 bits";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390x";
    case EM_RISCV: return "riscv";
    default: return "another processor";
  }
}

bool fits_machine(int file, Words& wrong) {
  Elf64_Ehdr header = {};
  const long got = system_call(SYS_pread64, file, &header, sizeof header, 0);
  constexpr unsigned char kMagic[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
  bool is_program = got == static_cast<long>(sizeof header);
  for (int at = 0; at < SELFMAG; ++at) is_program = is_program && header.e_ident[at] == kMagic[at];
  if (!is_program) {
    return wrong.say("what is in the parts is no program: it is not of the format ELF");
  }
  if (header.e_machine == kOwnMachine) return true;
  return wrong.say("the program is for ", name_of(header.e_machine), ", and this machine is ",
                   name_of(kOwnMachine));
}

// Unpacks the program to an open file, and finds that it is the right one.
bool fill(int file, const Order& order, int parts, Words& wrong) {
  Program program;
  if (!unpack(parts, file, program, wrong)) return false;
  if (!is_equal(program.digest, order.digest)) {
    return wrong.say("the program of the parts is another one: its SHA-256 is ", program.digest,
                     " instead of ", order.digest);
  }
  if (program.write_error != 0) {
    return wrong.say(order.where, " has no room for the program, which needs ", program.bytes,
                     " bytes: ", ErrorNumber{program.write_error});
  }
  return fits_machine(file, wrong);
}

bool run_from_memory(const Order& order, int parts, char** environment, Words& wrong) {
  constexpr const char* kElsewhere = "; a folder, of an emptyDir, may be given instead of memory";
  constexpr unsigned kFlags = 1U | 2U;  // close on exec, may be sealed
  long file = system_call(SYS_memfd_create, kProgram, kFlags | kMayBeExecuted);
  if (file == -EINVAL) file = system_call(SYS_memfd_create, kProgram, kFlags);
  if (file == -EACCES || file == -EPERM) {
    return wrong.say("the node allows no program in memory (vm.memfd_noexec, or a profile): ",
                     ErrorNumber{file}, kElsewhere);
  }
  if (file < 0) return wrong.say("no file in memory: ", ErrorNumber{file}, kElsewhere);
  if (!fill(static_cast<int>(file), order, parts, wrong)) return false;
  // Nobody writes to it any more; what is not allowed here is not needed.
  constexpr unsigned kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  system_call(SYS_fcntl, file, F_ADD_SEALS, kSeals);
  long failed = system_call(SYS_execveat, file, "", order.program, environment, AT_EMPTY_PATH);
  if (failed == -ENOSYS || failed == -EPERM) {
    const FdPath path(static_cast<int>(file));
    failed = system_call(SYS_execve, path.start, order.program, environment);
  }
  const bool is_forbidden = failed == -EACCES || failed == -EPERM;
  return wrong.say("the program in memory cannot be executed: ", ErrorNumber{failed},
                   is_forbidden ? kElsewhere : "");
}

// A folder of the pod, that takes the program as one file.
class Folder {
 public:
  Folder(const Order& order, const unsigned char* random) : order_{order} {
    constexpr std::size_t kRandomBytes = 8;
    char* end = temporary_ + sizeof ".gangrun-agent." - 1;
    for (std::size_t at = 0; at < kRandomBytes; ++at) {
      *end++ = "0123456789abcdef"[random[at] >> 4U];
      *end++ = "0123456789abcdef"[random[at] & 0xfU];
    }
  }

  bool open(Words& wrong) {
    const long opened =
        system_call(SYS_openat, AT_FDCWD, order_.where, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) {
      return wrong.say("the folder ", order_.where, " cannot be opened: ", ErrorNumber{opened});
    }
    folder_ = static_cast<int>(opened);
    struct statfs mounted = {};
    if (system_call(SYS_fstatfs, folder_, &mounted) == 0 && (mounted.f_flags & kNoExec) != 0) {
      return wrong.say("the folder ", order_.where,
                       " is mounted noexec: no program in it can be executed");
    }
    return true;
  }

  // Whether an earlier container of the pod has left the program there.
  [[nodiscard]] bool has_program() const {
    const auto file = static_cast<int>(
        system_call(SYS_openat, folder_, kProgram, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file < 0) return false;
    struct stat found = {};
    const bool is_program = system_call(SYS_fstat, file, &found) == 0 &&
                            found.st_mode == (S_IFREG | kProgramMode) && is_right(file);
    system_call(SYS_close, file);
    return is_program;
  }

  bool make_program(int parts, Words& wrong) {
    if (!create(wrong)) return false;
    if (!fill(file_, order_, parts, wrong) || !finish(wrong)) {
      if (has_name_) system_call(SYS_unlinkat, folder_, temporary_, 0);
      return false;
    }
    return true;
  }

  bool run(char** environment, Words& wrong) const {
    char path[kMaxPath] = {};
    if (!join(order_.where, kProgram, path)) {
      return wrong.say("the folder has too long a name: ", order_.where);
    }
    const long failed = system_call(SYS_execve, path, order_.program, environment);
    return wrong.say(path, " cannot be executed: ", ErrorNumber{failed});
  }

 private:
  [[nodiscard]] bool is_right(int file) const {
    unsigned char bytes[std::size_t{64} << 10U] = {};
    Sha256 digest;
    while (true) {
      const long got = system_call(SYS_read, file, bytes, sizeof bytes);
      if (got == -EINTR) continue;
      if (got < 0) return false;
      if (got == 0) break;
      digest.add(bytes, static_cast<std::size_t>(got));
    }
    char digits[Sha256::kDigits + 1] = {};
    digest.finish(digits);
    return is_equal(digits, order_.digest);
  }

  // A file without a name leaves nothing behind if the container is killed meanwhile.
  bool create(Words& wrong) {
    long made = system_call(SYS_openat, folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kProgramMode);
    if (made == -EOPNOTSUPP || made == -EISDIR || made == -ENOENT) {
      made = system_call(SYS_openat, folder_, temporary_, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC,
                         kProgramMode);
      has_name_ = made >= 0;
    }
    if (made < 0) {
      return wrong.say("the folder ", order_.where, " takes no file: ", ErrorNumber{made});
    }
    file_ = static_cast<int>(made);
    return true;
  }

  // The file gets its name at once, when it is whole. It is closed: what is open for writing cannot
  // be executed.
  bool finish(Words& wrong) {
    long failed = system_call(SYS_fchmod, file_, kProgramMode);
    if (failed == 0 && !has_name_) {
      failed = system_call(SYS_linkat, AT_FDCWD, FdPath(file_).start, folder_, temporary_,
                           AT_SYMLINK_FOLLOW);
      has_name_ = failed == 0;
    }
    if (failed == 0) failed = system_call(SYS_close, file_);
    if (failed == 0) failed = system_call(SYS_renameat, folder_, temporary_, folder_, kProgram);
    if (failed == 0) return true;
    return wrong.say(order_.where, "/", kProgram, " cannot be made: ", ErrorNumber{failed});
  }

  const Order& order_;
  int folder_ = -1;
  int file_ = -1;
  bool has_name_ = false;
  char temporary_[sizeof ".gangrun-agent." + 16] = ".gangrun-agent.";
};

bool is_digest(const char* text) {
  std::size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    const char letter = text[length];
    bool is_digit = false;
    for (const char digit : "0123456789abcdef") is_digit = is_digit || letter == digit;
    if (!is_digit) return false;
  }
  return length == Sha256::kDigits;
}

// Returns only where it fails.
bool run(const Start& start, Words& wrong) {
  char** words = start.arguments;
  for (int needed = 0; needed < 4; ++needed) {
    if (words[needed] == nullptr) {
      return wrong.say("usage: loader SHA256 memory|FOLDER NAME [ARGUMENT...]");
    }
  }
  const Order order{.digest = words[1], .where = words[2], .program = words + 3};
  if (!is_digest(order.digest)) {
    return wrong.say("no SHA-256, which has 64 digits of 0 to 9 and a to f: ", order.digest);
  }
  if (is_equal(order.where, kMemory)) {
    const int parts = open_own_folder(words[0], wrong);
    return parts >= 0 && run_from_memory(order, parts, start.environment, wrong);
  }
  Folder folder(order, start.random);
  if (!folder.open(wrong)) return false;
  if (!folder.has_program()) {
    const int parts = open_own_folder(words[0], wrong);
    if (parts < 0 || !folder.make_program(parts, wrong)) return false;
  }
  return folder.run(start.environment, wrong);
}

}  // namespace

int load(const Start& start) {
  Words wrong;
  run(start, wrong);
  wrong.tell();
  return kFailed;
}

}  // namespace gangrun::kubernetes::loader
