#include "host/last_job.h"

#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "host/job_folder.h"

namespace gangrun::host {

namespace {

constexpr std::size_t kMaxNoteBytes = 512;

std::string note_path(const std::string& home) { return home + "/last-elsewhere"; }

struct Note {
  std::string id;
  std::string submitted;  // ISO 8601, UTC
};

std::optional<Note> read_note(const std::string& home) {
  const auto text = base::read_file(note_path(home), kMaxNoteBytes);
  if (!text.ok()) return std::nullopt;
  const std::size_t space = text->find(' ');
  const std::size_t end = text->find('\n');
  if (space == std::string::npos || end == std::string::npos || end < space) return std::nullopt;
  Note note{text->substr(0, space), text->substr(space + 1, end - space - 1)};
  if (!base::parse_iso8601(note.submitted).ok()) return std::nullopt;
  return note;
}

}  // namespace

base::Result<> note_job_elsewhere(const std::string& home, const std::string& id,
                                  base::WallTime submitted) {
  GANGRUN_TRY(base::make_folders(home, 0700));
  return base::write_file_atomically(
      note_path(home), base::format("{} {}\n", id, base::to_iso8601(submitted)), 0600);
}

void forget_job_elsewhere(const std::string& home, const std::string& id) {
  const auto note = read_note(home);
  if (note && note->id == id) base::remove_if_there(note_path(home));
}

std::optional<std::string> newest_is_elsewhere(const std::string& home) {
  auto note = read_note(home);
  if (!note) return std::nullopt;
  const auto ids = job_ids(home);
  const bool is_newer = !ids.ok() || ids->empty() || submitted_of(ids->front()) <= note->submitted;
  if (!is_newer) return std::nullopt;
  return std::move(note->id);
}

}  // namespace gangrun::host
