#include "process/program_output.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "process/pipe.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

// The limits for what a program says of its failure.
constexpr std::size_t kMaxErrorBytes = std::size_t{64} << 10U;
constexpr std::size_t kMaxReasonBytes = 300;
// The time that a program which was killed may take to be gone.
constexpr std::chrono::seconds kKilled(1);

// One of the two streams, until its end.
struct Stream {
  base::UniqueFd read;
  std::size_t max_bytes = 0;
  std::string text{};
  bool is_too_long = false;

  // Reads what is there now. All that is over the limit is read and dropped.
  void take() {
    std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t got = ::read(read.get(), buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EINTR)) return read.reset();
    if (got < 0) return;
    const auto size = static_cast<std::size_t>(got);
    if (text.size() + size > max_bytes) {
      is_too_long = true;
    } else {
      text.append(buffer.data(), size);
    }
  }
};

// Both are read, as a program that finds a full pipe stands still. False: the time is over.
bool read_both(Stream& output, Stream& errors, base::Instant deadline) {
  while (true) {
    std::vector<int> open;
    for (const Stream* stream : {&output, &errors}) {
      if (stream->read.valid()) open.push_back(stream->read.get());
    }
    if (open.empty()) return true;
    if (!wait_any_readable(open, deadline)) return false;
    for (Stream* stream : {&output, &errors}) {
      if (stream->read.valid() && wait_readable(stream->read.get(), base::Instant{}))
        stream->take();
    }
  }
}

}  // namespace

base::Result<std::string> program_output(const std::vector<std::string>& argv,
                                         base::Instant deadline, std::size_t max_bytes) {
  const std::string& name = argv.front();
  GANGRUN_ASSIGN(Pipe out, make_pipe());
  GANGRUN_ASSIGN(Pipe err, make_pipe());
  SpawnOptions options;
  options.argv = argv;
  options.environment = inherited_environment();
  options.standard_output = out.write.get();
  options.standard_error = err.write.get();
  options.parent_death_signal = SIGTERM;
  GANGRUN_ASSIGN(Child child, spawn(options));
  out.write.reset();
  err.write.reset();
  Stream output{std::move(out.read), max_bytes};
  Stream errors{std::move(err.read), kMaxErrorBytes};
  const bool is_read = read_both(output, errors, deadline);
  const base::Result<Exit> exit =
      is_read ? child.wait(deadline) : base::Result<Exit>(base::deadline_exceeded(name));
  if (!exit.ok()) {
    child.end_group(kKilled);
    return base::deadline_exceeded(base::format("{} takes too long", name));
  }
  if (!exit->succeeded()) {
    const auto lines = base::split(base::trim(errors.text), '\n');
    const std::string why = lines.empty() ? "" : std::string(base::trim(lines.back()));
    return base::Error{base::Code::kFailedPrecondition,
                       base::format("{} {}{}{}", name, exit->to_words(), why.empty() ? "" : ": ",
                                    base::shorten(base::printable(why), kMaxReasonBytes))};
  }
  if (output.is_too_long) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("{} writes more than {} bytes", name, max_bytes)};
  }
  return std::move(output.text);
}

}  // namespace gangrun::process
