#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gangrun::base {

// Keys keep the order in which they were added, so that what people read has a sensible order.
using Json = nlohmann::ordered_json;

// Deeper documents are refused: nothing of ours nests more, and a recursive parser has a stack.
inline constexpr int kMaxJsonDepth = 64;

// One JSON document from outside: no more than `max_bytes` long, at most kMaxJsonDepth deep, no
// duplicate handling beyond "last one wins". The error says where the text is wrong.
Result<Json> parse_json(std::string_view text, std::size_t max_bytes);

// One line without spaces. A path, a word or a variable is bytes: those that are not UTF-8 are
// written as Python does, "\udc80" to "\udcff", and parse_json() makes the same bytes of that
// again.
std::string dump_json(const Json& json);
// The same for people: indented by two.
std::string dump_json_indented(const Json& json);
// Adds what dump_json() makes of a text, mostly without a document: for thousands of them.
void append_json(std::string& out, std::string_view text);

// The member `key` of `object` as a T, or an error that names the key and the type it must have.
template <typename T>
Result<T> json_member(const Json& object, std::string_view key);

// The same, or `fallback` where the key is absent or null.
template <typename T>
Result<T> json_member_or(const Json& object, std::string_view key, T fallback);

}  // namespace gangrun::base

// Compiled once, in json.cc, instead of in every source that sees this: the library's literals,
// which nothing here uses, would have each of them compile the parser of another kind of JSON.
extern template nlohmann::json nlohmann::json::parse<const char*>(const char*, const char*,
                                                                  nlohmann::json::parser_callback_t,
                                                                  bool, bool);
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

#include "base/json_members.h"  // IWYU pragma: export
