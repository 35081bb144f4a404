#pragma once

namespace gangrun::kubernetes::loader {

// How the kernel has started the loader.
struct Start {
  char** arguments;  // with its own name first; a null pointer ends each list
  char** environment;
  const unsigned char* random;  // 16 bytes
};

// Puts the program together and becomes it. Where it cannot, it says why in one line on standard
// error and returns the exit status for that.
int load(const Start& start);

}  // namespace gangrun::kubernetes::loader
