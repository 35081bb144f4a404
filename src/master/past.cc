#include "master/past.h"

#include <utility>

#include "journal/reader.h"
#include "master/master.h"

namespace gangrun::master {

base::Result<Past> past_of(const std::string& journal_folder, std::chrono::milliseconds lease,
                           const base::Clock& clock) {
  Past past;
  const auto journal = journal::read_journal(journal_folder);
  if (!journal.ok() && journal.error().code == base::Code::kNotFound) return past;
  if (!journal.ok()) return journal.error();
  past.segments = journal->segments.back().number;
  auto replayed = journal::replay(*journal, gang_limits(lease), clock.now(), clock.wall_now());
  if (replayed.ok()) {
    past.replayed = std::move(*replayed);
  } else if (replayed.error().code != base::Code::kNotFound) {
    return replayed.error();
  }
  return past;
}

}  // namespace gangrun::master
