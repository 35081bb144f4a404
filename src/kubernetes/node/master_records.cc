#include "kubernetes/node/master_records.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "journal/segments.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/records/journal_maps.h"
#include "kubernetes/records/map_reader.h"
#include "kubernetes/records/volume_journal.h"

namespace gangrun::kubernetes::node {

namespace {

using base::Result;

Result<> empty_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::remove_all(path, failed);
  if (failed) return base::from_errno(failed.value(), base::format("remove {}", path));
  return base::make_folders(path, 0700);
}

// The error of the field, with the way out where there is one.
base::Error about_volume(base::Error error) {
  if (error.code == base::Code::kPermissionDenied) {
    error.message += base::format(
        "; the user of the job's pods has to be able to write there: {} makes a volume writable "
        "for "
        "a group that they are in",
        "`kubernetes: {pod: {spec: {securityContext: {fsGroup: NUMBER}}}}`");
  }
  return std::move(error).context(pods::kJournalField);
}

}  // namespace

MasterRecords::MasterRecords(records::RecordPlace place, records::HeadKeeper& head, Options options)
    : place_(std::move(place)),
      head_(head),
      options_(std::move(options)),
      journal_folder_(in_run_folder("journal")),
      key_folder_(in_run_folder("keys")),
      output_folder_(in_run_folder("outputs")) {}

std::string MasterRecords::in_run_folder(const char* name) const {
  return base::format("{}/{}", options_.run_folder, name);
}

Result<> MasterRecords::open(const records::Head& claimed, const std::function<bool()>& is_over,
                             base::Instant deadline) {
  if (outlive_the_pod()) {
    const Result<> opened = open_volume(claimed, is_over, deadline);
    return opened.ok() ? opened : about_volume(opened.error());
  }
  // Folders that another master of this pod left may have less than the records.
  GANGRUN_TRY(empty_folder(journal_folder_));
  GANGRUN_TRY(empty_folder(key_folder_));
  GANGRUN_TRY(records::fetch_keys(place_, claimed, key_folder_, deadline));
  return records::fetch_journal(place_, claimed, journal_folder_, deadline);
}

Result<records::JobVolume> MasterRecords::volume() const {
  return records::JobVolume::open(options_.volume_folder, place_.job_id, place_.owner.uid);
}

Result<> MasterRecords::open_volume(const records::Head& claimed,
                                    const std::function<bool()>& is_over, base::Instant deadline) {
  GANGRUN_ASSIGN(const records::JobVolume volume, this->volume());
  Result<> begun = volume.begin(claimed.master, claimed.folder);
  if (!begun.ok()) {
    // The job runs, and somebody may make room.
    const bool may_pass =
        begun.error().code == base::Code::kResourceExhausted && claimed.folder > 0;
    return may_pass ? base::unavailable(begun.error().message) : begun;
  }
  // The answer may come after this has returned.
  const auto is_told = std::make_shared<bool>(false);
  head_.change([own = claimed.master](records::Head& to) { to.folder = own; },
               [is_told] { *is_told = true; });
  (void)place_.loop.run_until([&] { return *is_told || is_over(); }, deadline);
  if (!*is_told) return base::deadline_exceeded("the API server does not take the job's head");
  journal_folder_ = volume.journal_of(claimed.master);
  key_folder_ = volume.keys_of(claimed.master);
  output_folder_ = volume.outputs_of(claimed.master);
  const Result<> taken = volume.take_outputs(claimed.master);
  if (!taken.ok()) {
    place_.logger.warning("not all that earlier masters left is cleared away: {}",
                          taken.error().message);
  }
  return {};
}

host::Records MasterRecords::for_master() {
  far_results_.emplace(place_, head_);
  host::Records records{.journal_folder = journal_folder_,
                        .log_folder = {},
                        .tasks = {.result_folder = in_run_folder("results"),
                                  .key_folder = key_folder_,
                                  .output_folder = output_folder_,
                                  .far_results = &*far_results_},
                        .gives_outputs = true};
  if (outlive_the_pod()) {
    volume_keys_.emplace(place_.loop, head_, key_folder_);
    records.tasks.far_keys = &*volume_keys_;
    records.far_copy = [this](int segment) -> std::unique_ptr<journal::FarCopy> {
      return std::make_unique<records::VolumeJournal>(
          place_.loop, place_.logger, head_,
          records::VolumeJournal::Options{
              .segment_path = journal::segment_path(journal_folder_, segment),
              .on_lost = options_.on_lost});
    };
    return records;
  }
  map_keys_.emplace(place_, head_);
  records.tasks.far_keys = &*map_keys_;
  records.far_copy = [this](int segment) -> std::unique_ptr<journal::FarCopy> {
    return std::make_unique<records::JournalMaps>(
        place_, head_,
        records::JournalMaps::Options{
            .segment_path = journal::segment_path(journal_folder_, segment),
            .segment = segment,
            .on_full = options_.on_full});
  };
  return records;
}

Result<> MasterRecords::remove() const {
  if (!outlive_the_pod()) return {};
  GANGRUN_ASSIGN(const records::JobVolume volume, this->volume());
  return volume.remove();
}

}  // namespace gangrun::kubernetes::node
