#include "process/host_turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/format.h"
#include "base/pause.h"

namespace gangrun::process {

namespace {

constexpr std::chrono::milliseconds kLookAgain(10);

}  // namespace

std::optional<base::UniqueFd> wait_for_turn(const std::vector<std::string>& places,
                                            base::Instant deadline) {
  std::vector<base::UniqueFd> files;
  for (const std::string& place : places) {
    base::UniqueFd file(::open(place.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid()) files.push_back(std::move(file));
  }
  while (!files.empty()) {
    for (base::UniqueFd& file : files) {
      if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return std::move(file);
    }
    const base::Duration left = deadline - std::chrono::steady_clock::now();
    if (left <= base::Duration::zero()) return std::nullopt;
    base::pause_for(std::min<base::Duration>(left, kLookAgain));
  }
  return base::UniqueFd();
}

std::vector<std::string> processor_places() {
  std::vector<std::string> places;
  for (unsigned cpu = 0; cpu < std::max(1U, std::thread::hardware_concurrency()); ++cpu) {
    places.push_back(base::format("/sys/devices/system/cpu/cpu{}", cpu));
  }
  return places;
}

}  // namespace gangrun::process
