#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gangrun::base {

// A regular file, opened as open(2) does it and for no program that we start. Anything else that
// has its name (a FIFO, a device, a socket, a folder) is kFailedPrecondition: nobody waits for it.
// Errors name the path.
Result<UniqueFd> open_file(const std::string& path, int flags, mode_t mode = 0);

// The whole of a regular file of at most `max_bytes`, in /proc too; a larger one is
// kResourceExhausted and is not read. Anything else is refused as by open_file().
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);
// How long a pipe that a user names is waited for while nothing comes.
inline constexpr seconds kMaxSilence(30);

// The same of what a user names as an input: a pipe is read to its end, too, and waited for; after
// `max_silence` without a byte it is kDeadlineExceeded. Standard input, by one of its names, is
// read from where it is.
Result<std::string> read_input(const std::string& path, std::size_t max_bytes,
                               Duration max_silence = kMaxSilence);

// Writes a file so that a reader sees either the old content or the new, never a part: a temporary
// name in the same folder, then rename. On failure the old file is untouched.
Result<> write_file_atomically(const std::string& path, std::string_view content, mode_t mode);

// Removes a file that is mostly not there: looking first takes no lock of the folder, which all
// agents of a host share. A failure leaves it there.
void remove_if_there(const std::string& path);

// A private file (0600) that must not exist yet, whatever the umask.
Result<> write_private_file(const std::string& path, std::string_view content);

// Creates `path` and its missing parents; an existing folder is fine.
Result<> make_folders(const std::string& path, mode_t mode);

// Every byte of `content` to `fd`, whatever the number of writes.
Result<> write_all(int fd, std::string_view content, std::string_view what);
// The same, and takes from `content` what was written: a disk that fills up has its beginning.
Result<> write_and_take(int fd, std::string_view& content, std::string_view what);

// Whether the kernel has anonymous files in memory (Linux 3.17), which can be sealed.
bool has_memory_files();

// An empty one, closed on exec unless the caller hands it on; on older kernels a file in /dev/shm
// without a name.
Result<UniqueFd> memory_file(const std::string& name);
// One that holds `content`, positioned at its start. For what must reach a child but neither a disk
// nor a command line.
Result<UniqueFd> memory_file(const std::string& name, std::string_view content);

// `length` bytes of a file from `offset`, fewer only where it ends. `what` begins the words of an
// error: "cannot read PATH".
Result<std::string> read_at(int fd, std::int64_t offset, std::size_t length, std::string_view what);

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The stream of a folder's entries; null where it cannot be opened, with errno.
using Folder = std::unique_ptr<DIR, CloseFolder>;

inline Folder open_folder(const std::string& path) { return Folder(::opendir(path.c_str())); }

}  // namespace gangrun::base
