#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "base/described.h"
#include "base/json.h"
#include "job/gpus.h"

namespace gangrun::cluster {

// The members of an agent's configuration (wire/agent_config.h) that a place sets, as it knows them
// better than the master. An absent one stays as it was.
struct PlacePart {
  std::optional<std::string> host{};
  std::optional<std::string> host_reason{};
  std::optional<std::string> working_folder{};
  std::optional<std::string> log_prefix{};
  std::optional<std::string> master_host{};
  std::optional<std::string> socket_path{};
  std::optional<bool> place_tells_end{};
  std::optional<job::Gpus> gpus{};
  std::optional<std::uint16_t> wanted_port{};
  std::optional<std::string> words_file{};

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(
        base::row("host", &PlacePart::host), base::row("host_reason", &PlacePart::host_reason),
        base::row("working_folder", &PlacePart::working_folder),
        base::row("log_prefix", &PlacePart::log_prefix),
        base::row("place_tells_end", &PlacePart::place_tells_end),
        base::row("gpus", &PlacePart::gpus), base::row("wanted_port", &PlacePart::wanted_port),
        base::row("master_host", &PlacePart::master_host),
        base::row("socket_path", &PlacePart::socket_path),
        base::row("words_file", &PlacePart::words_file));
  }
};

void set(const PlacePart& part, base::Json& agent_config);
PlacePart place_part_of(const base::Json& agent_config);

}  // namespace gangrun::cluster
