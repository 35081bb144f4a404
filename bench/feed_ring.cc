// How fast bytes go from one process into another by the feed, beside memcpy of the same bytes in
// one process into memory of the same size, which is written round and round likewise.
//
//   feed_ring FRAME_BYTES TOTAL_MIB
//
// Prints the GB/s of memcpy, of memcpy into as little memory as the feed uses while its reader
// keeps up, of the feed to a reader that takes each frame and returns it, and to one that copies
// each out; then the processor's seconds for each GB: of memcpy, of who feeds, of who takes. The
// clock starts when the ring has been full once, with nothing in it.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/secret.h"
#include "base/strings.h"
#include "feed/feeder.h"
#include "feed/listener.h"

namespace {

using namespace gangrun;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::size_t kMemory = 256 << 20;
constexpr std::size_t kSource = 16 << 20;
// The part of its memory that the ring uses while the reader keeps up.
constexpr std::size_t kWarm = 4 << 20;
constexpr base::Duration kLimit = std::chrono::minutes(5);

base::Instant now() { return std::chrono::steady_clock::now(); }

double gigabytes_per_s(std::uint64_t bytes, base::Duration time) {
  return static_cast<double>(bytes) / static_cast<double>(time.count());
}

std::uint64_t warm_frames(std::size_t frame) { return kMemory / frame + 1; }

// The bytes that are sent, `frame` at a time.
class Source {
 public:
  explicit Source(std::size_t frame) : bytes_(std::max(kSource, frame), 'x'), frame_(frame) {}
  std::string_view next() {
    if (at_ + frame_ > bytes_.size()) at_ = 0;
    at_ += frame_;
    return std::string_view(bytes_).substr(at_ - frame_, frame_);
  }

 private:
  std::string bytes_;
  std::size_t frame_;
  std::size_t at_ = 0;
};

struct Speed {
  double wall = 0;
  double feeder_cpu = 0;  // seconds for a GB
  double node_cpu = 0;
};

double cpu_s(int whose) {
  rusage used{};
  getrusage(whose, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Speed copy(std::size_t frame, std::uint64_t count, std::size_t size) {
  Source source(frame);
  std::vector<char> target(size, 'y');
  const double before = cpu_s(RUSAGE_SELF);
  const base::Instant start = now();
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (at + frame > size) at = 0;
    const std::string_view bytes = source.next();
    std::memcpy(target.data() + at, bytes.data(), frame);
    at += frame;
  }
  const Speed speed{
      .wall = gigabytes_per_s(count * frame, now() - start),
      .feeder_cpu = (cpu_s(RUSAGE_SELF) - before) * 1e9 / static_cast<double>(count * frame)};
  // So that the copies are not left out.
  if (target[size / 3] == 'z') std::puts("");
  return speed;
}

// The place in which the child that feeds leaves what it used from the start of the clock on.
struct Shared {
  double feeder_cpu_s;
};

base::Result<> feed_all(const std::string& name, const std::string& key, std::size_t frame,
                        std::uint64_t count, Shared& shared) {
  GANGRUN_ASSIGN(
      const auto feeder,
      feed::Feeder::connect(name, key, {.answer = kLimit, .no_progress = kLimit}, nullptr));
  Source source(frame);
  for (std::uint64_t i = 0; i < warm_frames(frame); ++i)
    GANGRUN_TRY(feeder->write(1, source.next()));
  GANGRUN_ASSIGN(const auto go, feeder->read(kLimit));
  const double before = cpu_s(RUSAGE_SELF);
  for (std::uint64_t i = 0; i < count; ++i) GANGRUN_TRY(feeder->write(1, source.next()));
  shared.feeder_cpu_s = cpu_s(RUSAGE_SELF) - before;
  return go.has_value() ? feeder->end() : base::internal("no go");
}

base::Result<> take(feed::Listener& listener, std::uint64_t count, std::string* target) {
  for (std::uint64_t i = 0; i < count; ++i) {
    GANGRUN_ASSIGN(const auto got, listener.read(kLimit, nullptr));
    if (!got.has_value() || got->kind != 1) return base::internal("the feed ended early");
    if (target != nullptr) std::memcpy(target->data(), got->data.data(), got->data.size());
  }
  return {};
}

base::Result<Speed> pass(std::size_t frame, std::uint64_t count, bool copies) {
  const std::string name = base::format("gangrun-bench-{}-{}", getpid(), copies);
  const std::string key = base::Secret::generate().reveal();
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  // Forked before there are threads.
  const pid_t child = fork();
  if (child == 0) {
    base::Result<> fed = base::not_found("");
    while (!fed.ok() && fed.error().code == base::Code::kNotFound)
      fed = feed_all(name, key, frame, count, *shared);
    _exit(fed.ok() ? 0 : 1);
  }
  GANGRUN_ASSIGN(const auto listener, feed::Listener::open(name, key, kMemory));
  std::string target(frame, 'x');
  GANGRUN_TRY(take(*listener, warm_frames(frame), &target));
  const base::Instant start = now();
  const double before = cpu_s(RUSAGE_SELF);
  GANGRUN_TRY(listener->write(2, "go", 0, kLimit, nullptr));
  GANGRUN_TRY(take(*listener, count, copies ? &target : nullptr));
  const auto bytes = static_cast<double>(count * frame);
  Speed speed{.wall = gigabytes_per_s(count * frame, now() - start),
              .node_cpu = (cpu_s(RUSAGE_SELF) - before) * 1e9 / bytes};
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return base::internal("the feeder failed");
  speed.feeder_cpu = shared->feeder_cpu_s * 1e9 / bytes;
  munmap(shared, sizeof(Shared));
  return speed;
}

base::Result<> measure(std::size_t frame, std::uint64_t total) {
  const std::uint64_t count = total / frame;
  const Speed plain = copy(frame, count, std::max(kMemory / 4 * 3, frame));
  const Speed warm = copy(frame, count, std::max(kWarm, frame));
  GANGRUN_ASSIGN(const Speed taken, pass(frame, count, false));
  GANGRUN_ASSIGN(const Speed copied, pass(frame, count, true));
  std::puts(base::format("{:.3f} {:.3f} {:.3f} {:.3f} {:.3f} {:.3f} {:.3f} {:.3f}", plain.wall,
                         warm.wall, taken.wall, copied.wall, plain.feeder_cpu, warm.feeder_cpu,
                         taken.feeder_cpu, taken.node_cpu)
                .c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const auto frame = base::parse_integer(argv[1]);
  const auto total = base::parse_integer(argv[2]);
  if (frame.value_or(0) <= 0 || total.value_or(0) <= 0) return EXIT_FAILURE;
  const auto measured =
      measure(static_cast<std::size_t>(*frame), static_cast<std::uint64_t>(*total) << 20);
  if (!measured.ok()) std::fputs((measured.error().message + "\n").c_str(), stderr);
  return measured.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
