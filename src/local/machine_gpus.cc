#include "local/machine_gpus.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"
#include "process/pipe.h"
#include "process/wait_for.h"

namespace gangrun::local {

namespace {

constexpr std::chrono::seconds kLibraryLimit(10);
constexpr std::size_t kMaxDriverFileBytes = std::size_t{1} << 16U;

// A GPU as the variables that limit GPUs name it, and what tasks get of it: itself or its parts.
struct Entry {
  std::string uuid;  // empty where nothing tells it
  std::vector<job::Gpu> gpus;
};

// Locks are files.
std::string lock_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

// `number` is its place among all that programs see, and `fallback` the name of its lock where it
// has no UUID.
Entry entry_of(std::string uuid, std::size_t number, std::string fallback) {
  if (uuid.empty()) return {{}, {{base::format("{}", number), std::move(fallback), {}, {}}}};
  return {uuid, {{uuid, lock_name(uuid), {}, {}}}};
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The value of a key in lines "KEY: VALUE" or "KEY VALUE"; empty if there is none.
std::string value_in(const std::string& text, std::string_view key) {
  for (const std::string& line : base::split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    std::string_view rest = std::string_view(line).substr(key.size());
    if (rest.starts_with(':'))
      rest.remove_prefix(1);
    else if (!rest.starts_with(' '))
      continue;
    return std::string(base::trim(rest));
  }
  return {};
}

bool is_there(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

// Numbers of /dev/nvidia0, /dev/nvidia1, ….
std::vector<std::int64_t> nvidia_devices(const std::string& folder) {
  constexpr std::string_view kPrefix = "nvidia";
  std::vector<std::int64_t> numbers;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(kPrefix)) continue;
    const auto number = base::parse_integer(std::string_view(name).substr(kPrefix.size()));
    if (number && *number >= 0) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string lock_of_device(std::int64_t number) { return base::format("gpu-{}", number); }

// The GPUs that the driver names, if their device is there. Its folders are named by the place on
// the bus.
std::vector<Entry> entries_of_nvidia_driver(const GpuSources& sources) {
  std::vector<Entry> entries;
  for (const std::string& bus : names_in(sources.nvidia_driver)) {
    const auto text = base::read_file(base::format("{}/{}/information", sources.nvidia_driver, bus),
                                      kMaxDriverFileBytes);
    if (!text.ok()) continue;
    const auto minor = base::parse_integer(value_in(*text, "Device Minor"));
    if (!minor || !is_there(base::format("{}/nvidia{}", sources.devices, *minor))) continue;
    std::string uuid = value_in(*text, "GPU UUID");
    // It says "GPU-????????-…" until something has used the GPU.
    if (uuid.find('?') != std::string::npos) uuid.clear();
    entries.push_back(entry_of(std::move(uuid), entries.size(), lock_of_device(*minor)));
  }
  return entries;
}

std::vector<Entry> entries_of_nvidia(const GpuSources& sources) {
  std::vector<Entry> entries;
  const auto listed = sources.nvidia_library();
  if (!listed) {
    entries = entries_of_nvidia_driver(sources);
    if (!entries.empty()) return entries;
    for (const std::int64_t number : nvidia_devices(sources.devices)) {
      entries.push_back(entry_of({}, entries.size(), lock_of_device(number)));
    }
    return entries;
  }
  for (const NvidiaGpu& gpu : *listed) {
    Entry entry = entry_of(gpu.uuid, entries.size(), {});
    if (!gpu.parts.empty()) entry.gpus.clear();
    for (const std::string& part : gpu.parts) {
      entry.gpus.push_back({part, lock_name(part), lock_name(gpu.uuid), {}});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// As ROCr names it (its UUIDs): by 16 hexadecimal digits of the driver's number; old GPUs have 0.
std::string uuid_of_amd(const std::string& unique_id) {
  std::uint64_t id = 0;
  const char* end = unique_id.data() + unique_id.size();
  const auto read = std::from_chars(unique_id.data(), end, id);
  if (read.ec != std::errc() || read.ptr != end || id == 0) return {};
  return base::format("GPU-{:016x}", id);
}

std::vector<Entry> entries_of_amd(const GpuSources& sources) {
  if (!is_there(sources.devices + "/kfd")) return {};
  std::vector<std::int64_t> nodes;
  for (const std::string& name : names_in(sources.amd_driver)) {
    if (const auto node = base::parse_integer(name)) nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  std::vector<Entry> entries;
  for (const std::int64_t node : nodes) {
    // The file of a GPU which this process may not use cannot be read.
    const auto text = base::read_file(base::format("{}/{}/properties", sources.amd_driver, node),
                                      kMaxDriverFileBytes);
    if (!text.ok()) continue;
    // Processors are nodes too, without such units.
    const auto units = base::parse_integer(value_in(*text, "simd_count"));
    const auto minor = base::parse_integer(value_in(*text, "drm_render_minor"));
    if (!units || *units <= 0 || !minor) continue;
    const std::string device = base::format("dri/renderD{}", *minor);
    if (!is_there(base::format("{}/{}", sources.devices, device))) continue;
    Entry entry = entry_of(uuid_of_amd(value_in(*text, "unique_id")), entries.size(),
                           base::format("gpu-render-{}", *minor));
    entry.gpus.front().device = device;
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool is_uuid(std::string_view word) { return word.starts_with("GPU-") || word.starts_with("MIG-"); }

// The only one whose UUID begins so, or its only part whose UUID does; none where several do.
std::optional<Entry> with_uuid(const std::vector<Entry>& entries, std::string_view beginning) {
  std::vector<Entry> found;
  for (const Entry& entry : entries) {
    if (entry.uuid.starts_with(beginning)) found.push_back(entry);
    for (const job::Gpu& gpu : entry.gpus) {
      if (gpu.name != entry.uuid && gpu.name.starts_with(beginning)) {
        found.push_back({gpu.name, {gpu}});
      }
    }
  }
  return found.size() == 1 ? std::optional<Entry>(found.front()) : std::nullopt;
}

// Those that `value` names. What comes after a word that names none is not seen by programs either.
std::vector<Entry> visible(const std::vector<Entry>& entries, const std::string& value) {
  const bool has_uuids =
      std::ranges::any_of(entries, [](const Entry& entry) { return !entry.uuid.empty(); });
  std::vector<Entry> chosen;
  for (const std::string& untrimmed : base::split(value, ',')) {
    const std::string word(base::trim(untrimmed));
    const auto number = base::parse_integer(word);
    std::optional<Entry> named;
    if (number && *number >= 0 && *number < static_cast<std::int64_t>(entries.size())) {
      named = entries[static_cast<std::size_t>(*number)];
    } else if (is_uuid(word) && has_uuids) {
      named = with_uuid(entries, word);
    } else if (is_uuid(word) && !entries.empty()) {
      // Nothing here tells which it is: who has set the variable knows.
      named = entry_of(word, 0, {});
    }
    if (!named) break;
    chosen.push_back(*std::move(named));
  }
  return chosen;
}

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

// The GPUs that this process may use as NVIDIA's management library (NVML, loaded here) lists them,
// by their place on the bus. None where there is no such library, or it fails, or does not answer
// within `limit`: a broken driver never returns, so another process asks it.
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

}  // namespace

GpuSources system_gpu_sources() {
  return {.nvidia_library = [] { return gpus_of_nvidia_library(kLibraryLimit); }};
}

job::Gpus usable_gpus(const GpuSources& sources,
                      const std::map<std::string, std::string>& environment) {
  job::Gpus gpus;
  std::vector<Entry> entries = entries_of_nvidia(sources);
  const auto limit = [&](std::string_view variable) {
    const auto value = environment.find(std::string(variable));
    if (value == environment.end()) return false;
    entries = visible(entries, value->second);
    return true;
  };
  if (!entries.empty()) {
    limit("CUDA_VISIBLE_DEVICES");
  } else {
    gpus.maker = job::GpuMaker::kAmd;
    entries = entries_of_amd(sources);
    limit("ROCR_VISIBLE_DEVICES");
    // Numbers of the second list count what the first lets through.
    if (!limit("HIP_VISIBLE_DEVICES")) limit("CUDA_VISIBLE_DEVICES");
  }
  for (const Entry& entry : entries) {
    for (const job::Gpu& gpu : entry.gpus) {
      if (std::find(gpus.list.begin(), gpus.list.end(), gpu) == gpus.list.end()) {
        gpus.list.push_back(gpu);
      }
    }
  }
  return gpus;
}

}  // namespace gangrun::local
