// The cost of a journal: appends all records of a finished job's journal once more, as its master
// did, and prints the microseconds that took and the number of records.
//
//   journal_append JOURNAL_FOLDER EMPTY_FOLDER
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/format.h"
#include "journal/reader.h"
#include "journal/writer.h"

namespace {

using namespace gangrun;  // NOLINT(google-build-using-namespace): a program of one file

base::Result<> measure(const std::string& from, const std::string& to) {
  const base::SystemClock clock;
  GANGRUN_ASSIGN(const auto journal, journal::read_journal(from));
  const base::Instant start = clock.now();
  const journal::Opening opening{
      .job_id = "again", .attempt = 1, .started = clock.wall_now(), .origin = start};
  GANGRUN_ASSIGN(const auto writer, journal::Writer::create(to, opening));
  std::size_t records = 0;
  for (const journal::Segment& segment : journal.segments) {
    for (const journal::Record& record : segment.records) {
      GANGRUN_TRY(writer->append(record));
      ++records;
    }
  }
  const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - start);
  std::puts(base::format("{} {}", taken.count(), records).c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const auto measured = measure(argv[1], argv[2]);
  if (!measured.ok()) std::fputs((measured.error().message + "\n").c_str(), stderr);
  return measured.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
