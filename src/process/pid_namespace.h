#pragma once

#include <sys/types.h>

#include <array>
#include <string>

#include "base/unique_fd.h"

namespace gangrun::process::pid_namespace {

// The steps into a PID namespace. They are made of system calls alone, so that they may also be
// tried in a child of a program that has threads.
enum class Step { kNone, kUnshare, kUserMap, kMountNamespace, kMounts, kProc };

struct StepFailure {
  Step step = Step::kNone;
  int error_number = 0;

  [[nodiscard]] bool happened() const { return step != Step::kNone; }
};

// The maps of user and group in an unprivileged user's namespace: themselves. Made beforehand, as
// it takes formatting.
struct IdMaps {
  bool may_use_user_namespace = false;
  std::array<char, 40> user{};
  std::array<char, 40> group{};
};
IdMaps own_id_maps();

// The next child of this process will be the first of a new PID namespace. Without privilege this
// also takes a user namespace, in which user and group are the same as before. Root without
// the privilege does not: there other users' numbers would be lost.
StepFailure unshare_children(const IdMaps& maps);

// In that child: mounts of its own that follow the host's, with a /proc that shows the namespace.
StepFailure become_init();

// The numbers of processes inside begin far from those of other namespaces, so that two namespaces
// of one host rarely use the same: files that are named by host and process number stay apart.
//
// The /proc of the namespace outside, to be opened before become_init() hides it.
base::UniqueFd open_outer_proc();
// In the first process inside, where the kernel lets numbers be chosen (CONFIG_CHECKPOINT_RESTORE);
// else nothing happens.
void spread_numbers(const base::UniqueFd& outer_proc);
// The first number for a first process whose number outside is `outer`; all numbers are below
// `end`, the kernel's pid_max. Two of the former never give the same, and neighbours are far apart:
// each of n in a row has about (end - 300) / (2.7 n) numbers or more before the next begins.
pid_t first_number(pid_t outer, pid_t end);

// "cannot mount a /proc of its own: Operation not permitted"
std::string words(const StepFailure& failure);

}  // namespace gangrun::process::pid_namespace
