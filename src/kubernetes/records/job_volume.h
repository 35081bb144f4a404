#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gangrun::kubernetes::records {

// The folder of a job in a volume that its masters mount one after another, or two at once:
//
//   JOB-ID/owner     the uid of the job's owner: the folder is this job's
//   JOB-ID/000002/   of the second master: journal/, keys/, outputs/
//
// A master writes only in a folder of its own, which begins as a copy of the one before. The head
// says whose folder counts, so what a master writes that has lost its office is never read.
class JobVolume {
 public:
  // Makes the folder in `parent`, and that too where it is missing. kAlreadyExists: another job has
  // a folder of this name.
  static base::Result<JobVolume> open(const std::string& parent, const std::string& job_id,
                                      const std::string& owner_uid);

  [[nodiscard]] std::string journal_of(int master) const { return in(master, "journal"); }
  [[nodiscard]] std::string keys_of(int master) const { return in(master, "keys"); }
  [[nodiscard]] std::string outputs_of(int master) const { return in(master, "outputs"); }

  // Makes a new folder of `master`, with the journal and the keys of the one whose folder counts
  // (0: none). They are on the disk when this returns. kDataLoss: that folder is not there.
  [[nodiscard]] base::Result<> begin(int master, int counting) const;
  // Once the folder of `master` counts: brings the outputs that earlier masters have kept into it,
  // and removes their folders.
  [[nodiscard]] base::Result<> take_outputs(int master) const;
  // All of the job.
  [[nodiscard]] base::Result<> remove() const;

 private:
  explicit JobVolume(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string folder_of(int master) const;
  [[nodiscard]] std::string in(int master, const char* what) const;
  [[nodiscard]] base::Result<std::vector<int>> masters_before(int master) const;
  [[nodiscard]] base::Result<> take_outputs_of(int from, int to) const;

  std::string folder_;
};

}  // namespace gangrun::kubernetes::records
