#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::process {

// A mounted cgroup v2 hierarchy, or a controller of version 1, as /proc/self/mountinfo shows it.
struct CgroupMount {
  std::string root;    // the part of the hierarchy that is mounted
  std::string folder;  // where
  bool version_2 = false;
  std::vector<std::string> controllers;  // of version 1
};

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// The path of a process in a hierarchy, from the text of /proc/PID/cgroup; `controller` empty: the
// path in version 2.
std::optional<std::string> parse_own_cgroup(std::string_view text, std::string_view controller);

// The cgroups that we are in, and where they are mounted, as /proc told at one moment.
class OwnCgroups {
 public:
  static base::Result<OwnCgroups> read();

  // The folder of our own group in version 2, or for a controller of version 1.
  [[nodiscard]] base::Result<std::string> folder(std::string_view controller = "") const;

 private:
  OwnCgroups(std::string own, std::string_view mountinfo)
      : own_(std::move(own)), mounts_(parse_cgroup_mounts(mountinfo)) {}

  std::string own_;  // as in /proc/self/cgroup
  std::vector<CgroupMount> mounts_;
};

// The same for who asks for one of them only.
base::Result<std::string> own_cgroup_folder(std::string_view controller = "");

// A cgroup (version 2) of our own making, below our own one, for the processes of one task. Not
// removed on destruction: guardian and agent both hold one, and the last to go removes it.
class TaskCgroup {
 public:
  // Makes the folder gangrun-`name`.`namespace`.`pid`, by which all can tell whether its maker,
  // this process, is alive. kAlreadyExists where there is one: names are not used twice.
  static base::Result<TaskCgroup> create(const std::string& name);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // For SpawnOptions::cgroup_procs_fd.
  [[nodiscard]] int procs_fd() const { return procs_.get(); }

  // Those in it and in the groups below it that its processes made.
  [[nodiscard]] std::vector<pid_t> processes() const;

  // Kills all at once, by one write where the kernel can (5.14); else stops the group first, so
  // that nothing in it forks any more, and kills one by one. Does not wait for their end.
  void kill_all() const;
  // The second way; public for its test.
  void kill_one_by_one() const;

  // Removes it with the groups below it. The processes must have been killed.
  [[nodiscard]] base::Result<> remove(base::Instant deadline) const;

 private:
  TaskCgroup(std::string folder, base::UniqueFd procs)
      : folder_(std::move(folder)), procs_(std::move(procs)) {}

  std::string folder_;
  base::UniqueFd procs_;
};

// Removes the groups below our own one that are nobody's: empty, and their maker has ended. They
// are left where guardian and agent were killed at once. Gives how many it removed.
int remove_abandoned_cgroups();

}  // namespace gangrun::process
