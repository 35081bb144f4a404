#include "job/figures.h"

#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/overloaded.h"
#include "base/strings.h"
#include "job/json_text.h"

namespace gangrun::job {

namespace {

base::Result<Figure> figure_from(const std::string& name, const base::Json& value) {
  if (value.is_number_float()) return Figure(value.get<double>());
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return Figure(value.get<double>());
  }
  if (value.is_number_integer()) return Figure(value.get<std::int64_t>());
  if (value.is_null()) return Figure(std::numeric_limits<double>::quiet_NaN());
  if (value.is_string() && value.get_ref<const std::string&>().size() <= kMaxFigureTextBytes) {
    const base::Json text = json_text(value.get_ref<const std::string&>(), kMaxFigureTextBytes);
    return Figure(text.get<std::string>());
  }
  return base::invalid_argument(base::format(
      "figure '{}' must be a number or a text of at most {} bytes", name, kMaxFigureTextBytes));
}

}  // namespace

base::Json to_json(const Figures& figures) {
  base::Json json = base::Json::object();
  for (const auto& [name, figure] : figures) {
    json[name] = std::visit(
        base::Overloaded{
            [](std::int64_t whole) { return base::Json(whole); },
            [](double number) { return std::isfinite(number) ? base::Json(number) : base::Json(); },
            [](const std::string& text) { return json_text(text, kMaxFigureTextBytes); },
        },
        figure);
  }
  return json;
}

base::Result<Figures> figures_from_json(const base::Json& json) {
  if (!json.is_object()) return base::invalid_argument("figures must be an object");
  if (json.size() > kMaxFigures) {
    return base::invalid_argument(
        base::format("{} figures; at most {} are allowed", json.size(), kMaxFigures));
  }
  Figures figures;
  for (const auto& [name, value] : json.items()) {
    if (name.empty() || name.size() > kMaxFigureNameBytes) {
      return base::invalid_argument(base::format("the name of figure '{}' must have 1 to {} bytes",
                                                 base::shorten(name, kMaxFigureNameBytes),
                                                 kMaxFigureNameBytes));
    }
    GANGRUN_ASSIGN(figures[name], figure_from(name, value));
  }
  return figures;
}

std::string to_words(const Figures& figures) {
  std::string words;
  for (const auto& [name, figure] : figures) {
    if (!words.empty()) words += ' ';
    words += name + '=';
    words += std::visit(base::Overloaded{
                            [](std::int64_t whole) { return base::format("{}", whole); },
                            [](double number) { return base::format("{:.6g}", number); },
                            [](const std::string& text) { return text; },
                        },
                        figure);
  }
  return words;
}

}  // namespace gangrun::job
