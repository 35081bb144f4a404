#include "process/container_report.h"

#include "base/files.h"
#include "base/json.h"

namespace gangrun::process {

namespace {

constexpr std::size_t kMaxReportBytes = std::size_t{16} << 10U;

}  // namespace

base::Result<> write_container_report(const std::string& path, const ContainerReport& report) {
  base::Json json = {{"memory_bytes", report.usage.memory_bytes},
                     {"cpu_seconds", report.usage.cpu_seconds}};
  if (!report.error.empty()) json["error"] = report.error;
  if (report.exit) {
    const bool exited = report.exit->signal == 0;
    json[exited ? "status" : "signal"] = exited ? report.exit->code : report.exit->signal;
    json["core_dumped"] = report.exit->core_dumped;
  }
  return base::write_file_atomically(path, base::dump_json(json), 0600);
}

std::optional<ContainerReport> read_container_report(const std::string& path) {
  const auto text = base::read_file(path, kMaxReportBytes);
  if (!text.ok()) return std::nullopt;
  const auto json = base::parse_json(*text, kMaxReportBytes);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  ContainerReport report;
  const auto memory = base::json_member_or<std::uint64_t>(*json, "memory_bytes", 0);
  const auto cpu = base::json_member_or<double>(*json, "cpu_seconds", 0.0);
  const auto error = base::json_member_or<std::string>(*json, "error", "");
  if (memory.ok()) report.usage.memory_bytes = *memory;
  if (cpu.ok()) report.usage.cpu_seconds = *cpu;
  if (error.ok()) report.error = *error;
  const auto status = base::json_member<int>(*json, "status");
  const auto signal = base::json_member<int>(*json, "signal");
  const auto core = base::json_member_or<bool>(*json, "core_dumped", false);
  if (!status.ok() && !signal.ok()) return report;
  Exit exit;
  exit.code = status.ok() ? *status : 0;
  exit.signal = status.ok() ? 0 : *signal;
  exit.core_dumped = core.ok() && *core;
  report.exit = exit;
  return report;
}

}  // namespace gangrun::process
