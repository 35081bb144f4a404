#pragma once

#include <cstddef>

#include "kubernetes/loader/sha256.h"
#include "kubernetes/loader/words.h"

namespace gangrun::kubernetes::loader {

// The program, as unpack() has found it.
struct Program {
  char digest[Sha256::kDigits + 1] = {};
  std::size_t bytes = 0;
  // The error of the first write that failed, below zero; all bytes are counted nevertheless.
  long write_error = 0;
};

// Joins the files part-0, part-1, ... of the open folder, which are one member of gzip, and writes
// what is in it to `file`. It takes the same memory for any program. False where the parts are not
// such a member, which `wrong` then says.
bool unpack(int folder, int file, Program& program, Words& wrong);

}  // namespace gangrun::kubernetes::loader
