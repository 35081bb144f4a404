#pragma once

#include <string>
#include <string_view>

#include "base/described_json.h"
#include "base/json.h"
#include "base/result.h"
#include "job/choice.h"
#include "job/cluster_spec.h"
#include "job/figures.h"
#include "job/reason.h"
#include "job/spec.h"
#include "job/task_id.h"

// How values of jobs stand in the JSON of described structs (base/described.h).
namespace gangrun::base {

template <job::IsChoice T>
struct JsonOf<T> {
  static Json write(T value) { return job::to_string(value); }
  static Result<> read(const Json& json, std::string_view key, T& out) {
    std::string name;
    GANGRUN_TRY(JsonOf<std::string>::read(json, key, name));
    for (const auto& [value, its_name] : job::kChoice<T>.names) {
      if (its_name != name) continue;
      out = value;
      return {};
    }
    return wrong_member(key, words());
  }
  static std::string words() { return one_of(job::choice_names<T>()); }
  static T sample() { return job::kChoice<T>.names.front().first; }
};

// One that this version does not know is read as kUnknown.
template <>
struct JsonOf<job::Reason> {
  static Json write(job::Reason reason) { return to_string(reason); }
  static Result<> read(const Json& json, std::string_view key, job::Reason& out);
  static std::string words() { return "a reason"; }
  static job::Reason sample() { return job::Reason::kSignal; }
};

template <>
struct JsonOf<job::TaskId> {
  static Json write(const job::TaskId& task);
  static Result<> read(const Json& json, std::string_view key, job::TaskId& out);
  static std::string words() { return "a task"; }
  static job::TaskId sample() { return {"worker", 0}; }
};

template <>
struct JsonOf<job::Address> {
  static Json write(const job::Address& address);
  static Result<> read(const Json& json, std::string_view key, job::Address& out);
  static std::string words() { return "host:port"; }
  static job::Address sample() { return {"a", 1}; }
};

template <>
struct JsonOf<job::ClusterSpec> {
  static Json write(const job::ClusterSpec& spec) { return job::to_json(spec); }
  static Result<> read(const Json& json, std::string_view key, job::ClusterSpec& out);
  static std::string words() { return "a cluster spec"; }
  static job::ClusterSpec sample() { return {1, {{"worker", {{"a", 1}}}}}; }
};

template <>
struct JsonOf<job::Figures> {
  static Json write(const job::Figures& figures) { return job::to_json(figures); }
  static Result<> read(const Json& json, std::string_view key, job::Figures& out);
  static std::string words() { return "figures"; }
  static job::Figures sample() { return {{"a", job::Figure(1.5)}}; }
};

}  // namespace gangrun::base
