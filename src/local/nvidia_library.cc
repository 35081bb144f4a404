#include "local/nvidia_library.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/pipe.h"
#include "process/wait_for.h"

namespace gangrun::local {

namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
// NVML_DEVICE_UUID_V2_BUFFER_SIZE, NVML_SUCCESS and NVML_DEVICE_MIG_ENABLE of nvml.h.
constexpr unsigned kUuidBytes = 96;
constexpr int kSuccess = 0;
constexpr unsigned kMigEnabled = 1;
// More answers than any machine gives.
constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20U;

using Device = void*;

// The functions of NVML that are used; those for parts are missing in old ones.
class Nvml {
 public:
  explicit Nvml(void* library) : library_(library) {}

  template <typename... Arguments>
  [[nodiscard]] bool call(const char* name, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }

  [[nodiscard]] std::string uuid_of(Device device) const {
    std::array<char, kUuidBytes> text{};
    return call("nvmlDeviceGetUUID", device, text.data(), kUuidBytes) ? text.data() : "";
  }

 private:
  void* library_;
};

std::vector<std::string> parts_of(const Nvml& nvml, Device device) {
  unsigned current = 0;
  unsigned pending = 0;
  if (!nvml.call("nvmlDeviceGetMigMode", device, &current, &pending) || current != kMigEnabled) {
    return {};
  }
  unsigned most = 0;
  (void)nvml.call("nvmlDeviceGetMaxMigDeviceCount", device, &most);
  std::vector<std::string> parts;
  for (unsigned index = 0; index < most; ++index) {
    Device part = nullptr;
    if (!nvml.call("nvmlDeviceGetMigDeviceHandleByIndex", device, index, &part)) continue;
    if (std::string uuid = nvml.uuid_of(part); !uuid.empty()) parts.push_back(std::move(uuid));
  }
  return parts;
}

// A line for each GPU: its UUID and those of its parts. Nothing where NVML cannot be used.
std::string answer_of(const Nvml& nvml) {
  unsigned count = 0;
  if (!nvml.call("nvmlInit_v2") || !nvml.call("nvmlDeviceGetCount_v2", &count)) return {};
  std::string answer = "\n";
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    // A container may not use all that are listed.
    if (!nvml.call("nvmlDeviceGetHandleByIndex_v2", index, &device)) continue;
    const std::string uuid = nvml.uuid_of(device);
    if (uuid.empty()) continue;
    answer += uuid;
    for (const std::string& part : parts_of(nvml, device)) answer += " " + part;
    answer += "\n";
  }
  return answer;
}

// The output of the other process until it ends; none if that takes too long.
std::optional<std::string> read_all(int fd, base::Instant deadline) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < kMaxAnswerBytes) {
    if (!process::wait_readable(fd, deadline)) return std::nullopt;
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<NvidiaGpu>> gpus_of_nvidia_library(std::chrono::milliseconds limit) {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  base::Result<process::Pipe> answers = process::make_pipe();
  if (!answers.ok()) return std::nullopt;
  const base::Instant deadline = base::SystemClock().now() + limit;
  const pid_t child = ::fork();
  if (child == 0) {
    (void)base::write_all(answers->write.get(), answer_of(Nvml(library)), "the GPUs");
    ::_exit(0);
  }
  answers->write.reset();
  if (child < 0) return std::nullopt;
  const auto answer = read_all(answers->read.get(), deadline);
  (void)::kill(child, SIGKILL);
  // A driver that holds it keeps it after that as well: then it is left to init at our end.
  while (::waitpid(child, nullptr, answer ? 0 : WNOHANG) < 0 && errno == EINTR) {
  }
  if (!answer || answer->empty()) return std::nullopt;
  std::vector<NvidiaGpu> gpus;
  for (const std::string& line : base::split(*answer, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string> words = base::split(line, ' ');
    gpus.push_back({words.front(), {words.begin() + 1, words.end()}});
  }
  return gpus;
}

}  // namespace gangrun::local
