#include "process/core_files.h"

#include <sys/prctl.h>

namespace gangrun::process {

namespace {

void set_dumpable(unsigned long on) { ::prctl(PR_SET_DUMPABLE, on, 0UL, 0UL, 0UL); }

}  // namespace

void leave_no_core_file() { set_dumpable(0); }

OwnFilesInProc::OwnFilesInProc()
    : left_no_core_file_(::prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 0) {
  if (left_no_core_file_) set_dumpable(1);
}

OwnFilesInProc::~OwnFilesInProc() {
  if (left_no_core_file_) set_dumpable(0);
}

}  // namespace gangrun::process
