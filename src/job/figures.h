#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "base/json.h"
#include "base/result.h"

// The figures that a task tells of itself while it runs: its step, its loss, how far it is.
namespace gangrun::job {

inline constexpr std::size_t kMaxFigures = 64;
inline constexpr std::size_t kMaxFigureNameBytes = 64;
inline constexpr std::size_t kMaxFigureTextBytes = 256;
// The largest file that may hold them, however it is indented.
inline constexpr std::size_t kMaxFiguresBytes = std::size_t{64} << 10U;

using Figure = std::variant<std::int64_t, double, std::string>;
using Figures = std::map<std::string, Figure>;

// NaN and the infinities, which JSON does not have, become null, and are read as NaN.
base::Json to_json(const Figures& figures);
// The error names the figure and what is allowed.
base::Result<Figures> figures_from_json(const base::Json& json);

// "loss=0.25 step=1200", for people.
std::string to_words(const Figures& figures);

}  // namespace gangrun::job
