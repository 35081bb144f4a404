#include "ssh/node/caretaker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "process/pipe.h"
#include "process/spawn.h"
#include "process/wait_for.h"
#include "ssh/frames.h"
#include "ssh/keeper_messages.h"
#include "ssh/node/run_folder.h"

namespace gangrun::ssh::node {

namespace {

// Nobody tells a process that is not their parent of the end of agents, or of a lock.
constexpr std::chrono::seconds kLookAgain(1);
constexpr std::chrono::hours kLongestKeeper(24 * 365);
// So that the folder is not left where one of them is killed too.
constexpr int kCaretakers = 2;
constexpr std::chrono::milliseconds kBothEnds(500);
// The first caretaker's.
constexpr int kHasClientFd = 3;

// One works and the other waits for its end: who looks takes the folder's lock for a moment, and
// would look like a keeper to the other. None: the folder is gone, or going: nothing may be made in
// it here, as its keeper could not remove it then.
base::UniqueFd wait_for_turn(const std::string& run_folder, const base::Clock& clock) {
  const std::string path = run_folder + RunFolder::kTurn;
  base::UniqueFd turn(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  while (turn.valid() && ::fcntl(turn.get(), F_OFD_SETLK, &lock) != 0 && errno == EAGAIN) {
    (void)process::wait_any_readable({}, clock.now() + kLookAgain);
  }
  return turn;
}

// Until the keeper has no client any more, or is gone. In the first case ssh waits for us, too.
void watch_link(const KeeperSigns& keeper, const base::Clock& clock) {
  if (keeper.has_client < 0) return;
  (void)process::wait_readable(keeper.has_client, clock.now() + kLongestKeeper);
  // A keeper that is gone has closed both, one after the other.
  if (process::wait_readable(keeper.life, clock.now() + kBothEnds)) {
    const std::string last = ssh::to_bytes(ssh::MessageFrame{ssh::to_json(ssh::LeavingMessage{})});
    // A client that does not take it now hears no answers any more.
    (void)::write(keeper.link, last.data(), last.size());
  }
  ::close(keeper.link);
}

}  // namespace

base::Result<Caretakers> start_caretakers(const std::string& program, const std::string& run_folder,
                                          int link) {
  GANGRUN_ASSIGN(process::Pipe pipe, process::make_pipe());
  GANGRUN_ASSIGN(process::Pipe client, process::make_pipe());
  process::SpawnOptions options;
  options.argv = {program, "caretaker", run_folder};
  options.environment = process::inherited_environment();
  options.working_folder = "/";
  options.standard_input = pipe.read.get();
  // A signal that kills the keeper's group, or its terminal, is not to take it along.
  options.new_group = process::NewGroup::kSession;
  // They outlive us; whoever is the parent of orphans reaps them.
  for (int i = 0; i < kCaretakers; ++i) {
    const bool is_first = i == 0;
    options.standard_output = is_first ? link : -1;
    options.inherited.clear();
    if (is_first) options.inherited.push_back({client.read.get(), kHasClientFd});
    GANGRUN_TRY(process::spawn(options));
  }
  return Caretakers{std::move(pipe.write), std::move(client.write)};
}

void take_care(const KeeperSigns& keeper, const std::string& run_folder, const base::Clock& clock,
               std::chrono::milliseconds patience) {
  watch_link(keeper, clock);
  (void)process::wait_readable(keeper.life, clock.now() + kLongestKeeper);
  if (RunFolder::remove_without_lock(run_folder)) return;
  const base::UniqueFd turn = wait_for_turn(run_folder, clock);
  if (!turn.valid()) return;
  base::Instant last_alive = clock.now();
  while (true) {
    const base::Instant now = clock.now();
    // A client that comes again finds what was not told, as long as a keeper would have kept it.
    const bool is_time = now - last_alive >= patience;
    const RunFolder::State state =
        is_time ? RunFolder::end_abandoned(run_folder) : RunFolder::state_of(run_folder);
    if (state == RunFolder::State::kNotOurs) return;
    if (state == RunFolder::State::kAbandoned && is_time) return;
    if (state == RunFolder::State::kHasAgents) last_alive = now;
    (void)process::wait_any_readable({}, now + kLookAgain);
  }
}

int run_caretaker(const std::string& run_folder, const base::Clock& clock) {
  for (const int number : {SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  const bool is_first = ::fcntl(kHasClientFd, F_GETFD) >= 0;
  take_care({.life = STDIN_FILENO,
             .has_client = is_first ? kHasClientFd : -1,
             .link = is_first ? STDOUT_FILENO : -1},
            run_folder, clock, kLinesKept);
  return 0;
}

}  // namespace gangrun::ssh::node
