// The files that a journal's reader may find in a folder: an input is the text of the only segment.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "journal/reader.h"
#include "journal/record.h"
#include "journal/segments.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own

// One folder for all inputs of the process; it goes with the process.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "journal-fuzz-XXXXXX").string();
    GANGRUN_CHECK(::mkdtemp(name.data()) != nullptr, name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string& folder() {
  static const Folder made;
  return made.path();
}

// Whatever can be read can be written and is understood as the same again.
void write_again(const journal::Segment& segment) {
  if (segment.header) {
    const auto again = journal::parse_header(journal::header_line(*segment.header));
    GANGRUN_CHECK(again.ok() && *again == *segment.header, segment.header->job_id);
  }
  std::int64_t number = 1;
  for (const journal::Record& record : segment.records) {
    const std::string line = journal::record_line(record, number);
    const auto again = journal::parse_record(line, number++);
    GANGRUN_CHECK(again.ok() && journal::record_line(*again, number - 1) == line, line);
  }
}

std::optional<job::JobState> newest_state(const journal::Segment& segment) {
  std::optional<job::JobState> state;
  for (const journal::Record& record : segment.records) {
    if (const auto* status = std::get_if<journal::StatusRecord>(&record)) {
      state = status->status.state;
    } else if (const auto* verdict = std::get_if<journal::VerdictRecord>(&record)) {
      state = verdict->status.state;
    }
  }
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::ofstream(journal::segment_path(folder(), 1), std::ios::binary | std::ios::trunc) << input;
  const auto journal = journal::read_journal(folder());
  const auto status = journal::last_status(folder());
  if (!journal.ok()) return 0;
  const journal::Segment& segment = journal->segments.front();
  write_again(segment);
  // The way from the end finds what the way from the beginning finds, as long as the lines are
  // written as ours are.
  if (status.ok() && *status) {
    GANGRUN_CHECK(newest_state(segment).has_value(), input);
  }
  return 0;
}
