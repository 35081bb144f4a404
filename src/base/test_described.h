#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"
#include "base/test_project_files.h"

// For tests of described messages and of the documents that list them.
namespace gangrun::base {

// A document's description of a message.
struct MessageWords {
  std::string name;
  std::vector<MemberWords> members;
};

template <typename... Each>
std::vector<MessageWords> words_of_each(const std::variant<Each...>* /*message*/) {
  return {{std::string(Each::kName), members_of<Each>()}...};
}
template <typename... Each>
std::vector<std::variant<Each...>> sample_of_each(const std::variant<Each...>* /*message*/) {
  return {sample_of<Each>()...};
}

// The table of a document: a line for each member.
inline std::string members_table(const std::vector<MessageWords>& messages) {
  std::string table = "| message | member | value |\n|---|---|---|\n";
  for (const MessageWords& message : messages) {
    if (message.members.empty()) table += format("| `{}` | | |\n", message.name);
    bool is_first = true;
    for (const MemberWords& member : message.members) {
      std::string value = member.type;
      if (!member.bounds.empty()) value += format(", {}", member.bounds);
      if (member.presence != Presence::kAlways) value += "; may be absent";
      table += format("| {} | `{}` | {} |\n", is_first ? format("`{}`", message.name) : "",
                      member.key, value);
      is_first = false;
    }
  }
  return table;
}

// The document has the table of these messages under this name.
inline void expect_table_in_document(const std::string& path, const std::string& name,
                                     const std::vector<MessageWords>& messages) {
  expect_made(path, with_table(read_project_file(path), name, members_table(messages)));
}
template <typename Variant>
void expect_in_document(const std::string& path, const std::string& name) {
  expect_table_in_document(path, name, words_of_each(static_cast<const Variant*>(nullptr)));
}

// A sample of a message that has no name can be read; it is in a fuzzer's corpus, behind `prefix`.
template <Described T>
void expect_sample_in_corpus(const std::string& path, const std::string& prefix, const T& sample) {
  const Json json = to_json(sample);
  const auto back = from_json<T>(json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(to_json(*back), json);
  expect_made("fuzz/corpus/" + path, prefix + dump_json(json));
}

// A sample of each message can be read; it is in the fuzzer's corpus, behind `prefix`.
template <typename Variant>
void expect_samples_in_corpus(std::string_view tag, const std::string& corpus,
                              const std::string& prefix = {}) {
  for (const Variant& sample : sample_of_each(static_cast<const Variant*>(nullptr))) {
    const Json json = tagged_json(tag, sample);
    const auto back = tagged_from<Variant>(tag, json);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(tagged_json(tag, *back), json);
    expect_made(format("fuzz/corpus/{}_{}", corpus, json.at(std::string(tag)).get<std::string>()),
                prefix + dump_json(json));
  }
}

}  // namespace gangrun::base
