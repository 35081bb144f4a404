#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/described.h"
#include "base/described_json.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"

// How the types that every room has stand in JSON: included by described_json.h.
namespace gangrun::base {

template <typename T>
requires std::is_arithmetic_v<T> || std::is_same_v<T, std::string>
struct JsonOf<T> {
  static Json write(const T& value) { return value; }
  static Result<> read(const Json& value, std::string_view key, T& out) {
    if (json_detail::read(value, out)) return {};
    return wrong_member(key, json_detail::type_name<T>());
  }
  static std::string words() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return "a whole number";
    return std::string(json_detail::type_name<T>());
  }
  static T sample() {
    if constexpr (std::is_same_v<T, std::string>) return "a";
    return T{};
  }
};

// A number of the unit of a time, which the key names: "grace_ms".
template <typename Rep, typename Period>
struct JsonOf<std::chrono::duration<Rep, Period>> {
  using Time = std::chrono::duration<Rep, Period>;

  static Json write(Time value) { return value.count(); }
  static Result<> read(const Json& value, std::string_view key, Time& out) {
    Rep count = 0;
    GANGRUN_TRY(JsonOf<Rep>::read(value, key, count));
    out = Time(count);
    return {};
  }
  static std::string words() {
    if constexpr (std::is_same_v<Time, std::chrono::milliseconds>) return "milliseconds";
    if constexpr (std::is_same_v<Time, std::chrono::seconds>) return "seconds";
    return "nanoseconds";
  }
  static Time sample() { return {}; }
};

// By this host's clock, whose beginning means nothing elsewhere.
template <>
struct JsonOf<Instant> {
  static Json write(Instant value) { return value.time_since_epoch().count(); }
  static Result<> read(const Json& value, std::string_view key, Instant& out) {
    Duration since{};
    GANGRUN_TRY(JsonOf<Duration>::read(value, key, since));
    out = Instant(since);
    return {};
  }
  static std::string words() { return "nanoseconds"; }
  static Instant sample() { return {}; }
};

template <>
struct JsonOf<WallTime> {
  static Json write(WallTime value) { return to_iso8601(value); }
  static Result<> read(const Json& value, std::string_view key, WallTime& out) {
    std::string text;
    GANGRUN_TRY(JsonOf<std::string>::read(value, key, text));
    GANGRUN_ASSIGN(out, parse_iso8601(text));
    return {};
  }
  static std::string words() { return "a moment (ISO 8601)"; }
  static WallTime sample() { return {}; }
};

template <>
struct JsonOf<Json> {
  static Json write(const Json& value) { return value; }
  static Result<> read(const Json& value, std::string_view /*key*/, Json& out) {
    out = value;
    return {};
  }
  static std::string words() { return "any JSON"; }
  static Json sample() { return Json::object(); }
};

template <>
struct JsonOf<Secret> {
  static Json write(const Secret& value) { return value.reveal(); }
  static Result<> read(const Json& value, std::string_view key, Secret& out) {
    std::string text;
    GANGRUN_TRY(JsonOf<std::string>::read(value, key, text));
    out = Secret(std::move(text));
    return {};
  }
  static std::string words() { return "a secret"; }
  static Secret sample() { return Secret("a"); }
};

template <typename T>
struct JsonOf<std::vector<T>> {
  static Json write(const std::vector<T>& values) { return kAny.write(values); }
  static Result<> read(const Json& value, std::string_view key, std::vector<T>& out) {
    return kAny.read(value, key, out);
  }
  static std::string words() { return "a list: " + JsonOf<T>::words(); }
  static std::vector<T> sample() { return {JsonOf<T>::sample()}; }

 private:
  static constexpr ListOf<Plain> kAny{};
};

template <typename T>
struct JsonOf<std::map<std::string, T>> {
  static Json write(const std::map<std::string, T>& values) {
    Json json = Json::object();
    for (const auto& [name, value] : values) json[name] = JsonOf<T>::write(value);
    return json;
  }
  static Result<> read(const Json& json, std::string_view key, std::map<std::string, T>& out) {
    if (!json.is_object()) return wrong_member(key, "an object");
    out.clear();
    for (const auto& [name, value] : json.items()) {
      GANGRUN_TRY(JsonOf<T>::read(value, name, out[name]).context(key));
    }
    return {};
  }
  static std::string words() { return "an object of names: " + JsonOf<T>::words(); }
  static std::map<std::string, T> sample() { return {{"a", JsonOf<T>::sample()}}; }
};

template <Described T>
struct JsonOf<T> {
  static Json write(const T& value) { return to_json(value); }
  static Result<> read(const Json& json, std::string_view key, T& out) {
    GANGRUN_ASSIGN(out, from_json<T>(json).context(key));
    return {};
  }
  static std::string words() { return "an object"; }
  static T sample() { return sample_of<T>(); }
};

}  // namespace gangrun::base
