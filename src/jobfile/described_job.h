#pragma once

#include <string>
#include <string_view>

#include "base/described_json.h"
#include "base/json.h"
#include "base/result.h"
#include "job/spec.h"

// How a job stands in the JSON of described structs (base/described.h).
namespace gangrun::base {

// As programs read it; sections of places are carried unread.
template <>
struct JsonOf<job::JobSpec> {
  static Json write(const job::JobSpec& spec);
  static Result<> read(const Json& json, std::string_view key, job::JobSpec& out);
  static std::string words() { return "a job"; }
  static job::JobSpec sample();
};

}  // namespace gangrun::base
