#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "host/job_master.h"
#include "kubernetes/records/far_maps.h"
#include "kubernetes/records/head_keeper.h"
#include "kubernetes/records/job_volume.h"
#include "kubernetes/records/record_place.h"
#include "kubernetes/records/volume_keys.h"

namespace gangrun::kubernetes::node {

// The records of a pod's master: in config maps, with files in the pod that these are copied to and
// from, or on a volume. Results are in config maps always: commands read them there when no master
// is left.
class MasterRecords {
 public:
  struct Options {
    std::string run_folder;     // of the pod
    std::string volume_folder;  // with the folders of jobs; empty: there is no volume
    // There is only room for the end of the job any more.
    std::function<void()> on_full{};
    // Nothing that is recorded counts from now on.
    std::function<void(const base::Error& why)> on_lost{};
  };

  // `head` outlives this.
  MasterRecords(records::RecordPlace place, records::HeadKeeper& head, Options options);
  MasterRecords(const MasterRecords&) = delete;
  MasterRecords& operator=(const MasterRecords&) = delete;

  // Brings what earlier masters have kept to where this one, which `claimed` the head, goes on with
  // it. Runs the loop, until `is_over` at most. kUnavailable and kDeadlineExceeded may pass.
  base::Result<> open(const records::Head& claimed, const std::function<bool()>& is_over,
                      base::Instant deadline);
  // The folders of the records, once open() has brought them.
  [[nodiscard]] const std::string& journal_folder() const { return journal_folder_; }
  [[nodiscard]] const std::string& output_folder() const { return output_folder_; }
  // For a master; the result uses this.
  host::Records for_master();

  [[nodiscard]] bool outlive_the_pod() const { return !options_.volume_folder.empty(); }
  // All that the volume has of the job.
  [[nodiscard]] base::Result<> remove() const;

 private:
  [[nodiscard]] base::Result<records::JobVolume> volume() const;
  base::Result<> open_volume(const records::Head& claimed, const std::function<bool()>& is_over,
                             base::Instant deadline);
  [[nodiscard]] std::string in_run_folder(const char* name) const;

  const records::RecordPlace place_;
  records::HeadKeeper& head_;
  const Options options_;
  std::string journal_folder_;
  std::string key_folder_;
  std::string output_folder_;
  std::optional<records::MapResults> far_results_;
  std::optional<records::MapKeys> map_keys_;
  std::optional<records::VolumeKeys> volume_keys_;
};

}  // namespace gangrun::kubernetes::node
