#include "kubernetes/loader/words.h"

#include <cerrno>

#include "kubernetes/loader/system_call.h"

namespace gangrun::kubernetes::loader {

namespace {

constexpr int kStandardError = 2;

struct Meaning {
  int number;
  const char* words;
};

// The errors of its calls where something is wrong with a pod, mostly in the C library's words.
constexpr Meaning kMeanings[] = {
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {EIO, "Input/output error"},
    {ENOEXEC, "Exec format error"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EEXIST, "File exists"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {EMFILE, "Too many open files"},
    {ETXTBSY, "Text file busy"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {EROFS, "Read-only file system"},
    {ENAMETOOLONG, "File name too long"},
    {ENOSYS, "the kernel has no such call"},
    {ELOOP, "Too many levels of symbolic links"},
    {EOPNOTSUPP, "Operation not supported"},
    {EDQUOT, "Disk quota exceeded"},
    {E2BIG, "Argument list too long"},
};

}  // namespace

void Words::tell() const {
  Words line;
  line.say("gangrun-loader: ", text_);
  line.text_[line.size_] = '\n';
  system_call(SYS_write, kStandardError, line.text_, line.size_ + 1);
}

void Words::add(const char* text) {
  for (; *text != '\0' && size_ < kMaxSize; ++text) {
    const bool is_control = static_cast<unsigned char>(*text) < ' ' || *text == '\x7f';
    text_[size_++] = is_control ? '?' : *text;
  }
  text_[size_] = '\0';
}

void Words::add(unsigned long number) {
  char digits[24] = {};
  std::size_t first = sizeof digits - 1;
  do {
    digits[--first] = "0123456789"[number % 10];
    number /= 10;
  } while (number > 0);
  add(digits + first);
}

void Words::add(ErrorNumber error) {
  for (const Meaning& one : kMeanings) {
    if (one.number == -error.number) return add(one.words);
  }
  add("error ");
  add(static_cast<unsigned long>(-error.number));
}

}  // namespace gangrun::kubernetes::loader
