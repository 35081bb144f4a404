#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/described.h"
#include "base/result.h"

// The messages between a starter (starter.h) and its cluster, each the text of one packet
// (docs/protocols/starter.md).
namespace gangrun::process::starter {

// One that says no more than which agent it is about.
template <base::Name kIs>
struct About {
  std::string key;

  static constexpr std::string_view kName = kIs.text;
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() { return std::tuple(base::row("key", &About::key)); }
};

struct StartOrder {
  std::string key;
  std::vector<std::string> arguments;
  std::vector<int> fds;  // the numbers that those of the packet get

  static constexpr std::string_view kName = "start";
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("key", &StartOrder::key),
                      base::row("arguments", &StartOrder::arguments),
                      base::row("fds", &StartOrder::fds));
  }
};
using WatchOrder = About<"watch">;     // an agent that an earlier cluster has started
using EndOrder = About<"end">;         // ask it to end
using KillOrder = About<"kill">;       // end it, and its task, at once
using GiveUpOrder = About<"give_up">;  // the same, and tell soon who survives
using Order = std::variant<StartOrder, WatchOrder, EndOrder, KillOrder, GiveUpOrder>;

using StartReport = About<"started">;  // the packet names the agent's process
struct EndReport {
  std::string key;
  std::optional<int> status;  // as of wait(); none: it was not started
  std::size_t survivors = 0;
  std::string error;  // why it was not started

  static constexpr std::string_view kName = "ended";
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("key", &EndReport::key), base::row("status", &EndReport::status),
        base::tolerant_row_when<EndReport>(has_status, "survivors", &EndReport::survivors),
        base::row_if_set("error", &EndReport::error));
  }
  static bool has_status(const EndReport& report) { return report.status.has_value(); }
};
using ReplacedReport = About<"replaced">;  // a newer cluster has the job; no key
using UnknownReport = About<"unknown">;    // it has ended before, or never was
using Report = std::variant<StartReport, EndReport, ReplacedReport, UnknownReport>;

std::string to_text(const Order& order);
std::string to_text(const Report& report);
base::Result<Order> order_from(std::string_view text);
base::Result<Report> report_from(std::string_view text);

}  // namespace gangrun::process::starter
