#include "process/container_report.h"

#include <tuple>

#include "base/described_json.h"
#include "base/files.h"
#include "base/json.h"

namespace gangrun::base {

template <>
struct RowsOf<process::Usage> {
  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(late_row, process::Usage, memory_bytes, cpu_seconds));
  }
};

// Either a status or a signal.
template <>
struct RowsOf<process::Exit> {
  static constexpr auto rows() {
    using process::Exit;
    return std::tuple(tolerant_row_when<Exit>([](const Exit& exit) { return exit.signal == 0; },
                                              "status", &Exit::code),
                      tolerant_row_when<Exit>([](const Exit& exit) { return exit.signal != 0; },
                                              "signal", &Exit::signal),
                      late_row("core_dumped", &Exit::core_dumped));
  }
};

template <>
struct RowsOf<process::ContainerReport> {
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    using process::ContainerReport;
    return std::tuple(flat_row(&ContainerReport::usage),
                      row_if_set("error", &ContainerReport::error),
                      flat_row(&ContainerReport::exit));
  }
};

}  // namespace gangrun::base

namespace gangrun::process {

namespace {

constexpr std::size_t kMaxReportBytes = std::size_t{16} << 10U;

}  // namespace

base::Result<> write_container_report(const std::string& path, const ContainerReport& report) {
  return base::write_file_atomically(path, base::dump_json(base::to_json(report)), 0600);
}

std::optional<ContainerReport> read_container_report(const std::string& path) {
  const auto text = base::read_file(path, kMaxReportBytes);
  if (!text.ok()) return std::nullopt;
  const auto json = base::parse_json(*text, kMaxReportBytes);
  if (!json.ok()) return std::nullopt;
  const auto report = base::from_json<ContainerReport>(*json);
  return report.ok() ? std::optional(*report) : std::nullopt;
}

}  // namespace gangrun::process
