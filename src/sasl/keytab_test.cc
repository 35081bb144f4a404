#include "sasl/keytab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>

#include "base/files.h"

namespace gangrun::sasl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string number(std::uint32_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> static_cast<unsigned>(shift));
  }
  return out;
}

std::string counted(const std::string& text) {
  return number(static_cast<std::uint32_t>(text.size()), 2) + text;
}

std::string entry_of(const Principal& principal) {
  std::string body = number(static_cast<std::uint32_t>(principal.components.size()), 2);
  body += counted(principal.realm);
  for (const std::string& component : principal.components) body += counted(component);
  body += number(1, 4) + number(1'700'000'000, 4) + number(2, 1);
  body += number(18, 2) + counted(std::string(32, 'k')) + number(2, 4);
  return number(static_cast<std::uint32_t>(body.size()), 4) + body;
}

const std::string kHead("\x05\x02", 2);
const Principal kAlice{{"alice"}, "R"};
const Principal kServer{{"rm", "host"}, "R"};

// A file that goes with the test.
class File {
 public:
  explicit File(const std::string& content) {
    EXPECT_GE(::mkstemp(path_.data()), 0);
    EXPECT_TRUE(base::write_file_atomically(path_, content, 0600).ok());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "keytab_XXXXXX";
};

TEST(Keytab, NamesEachPrincipalOnce) {
  const auto names = parse_keytab(kHead + entry_of(kAlice) + entry_of(kServer) + entry_of(kAlice));
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_THAT(*names, ElementsAre(kAlice, kServer));
}

TEST(Keytab, HolesAndTheEndOfAFileThatIsLongerAreSkipped) {
  const std::string hole = number(0U - 5U, 4) + "xxxxx";
  const auto names = parse_keytab(kHead + hole + entry_of(kAlice) + number(0, 4) + "garbage");
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_THAT(*names, ElementsAre(kAlice));
  EXPECT_TRUE(parse_keytab(kHead)->empty());
}

TEST(Keytab, CutAnywhereItIsAnErrorOrShorter) {
  const std::string whole = kHead + entry_of(kAlice);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto names = parse_keytab(whole.substr(0, size));
    if (size == kHead.size()) continue;
    EXPECT_EQ(names.error().code, base::Code::kDataLoss) << size;
  }
}

TEST(Keytab, WhatIsNoneIsRefused) {
  EXPECT_EQ(parse_keytab("hello").error().message, "it is not a keytab");
  EXPECT_THAT(parse_keytab("\x05\x01").error().message, HasSubstr("version 1; 2 is known"));
  // A length that no file has, and the lowest number, whose opposite is none of 32 bits.
  EXPECT_FALSE(parse_keytab(kHead + "\x7f\xff\xff\xff").ok());
  EXPECT_FALSE(parse_keytab(kHead + std::string("\x80\0\0\0", 4)).ok());
  EXPECT_FALSE(parse_keytab(kHead + number(4, 4) + number(0, 4)).ok());
}

TEST(Keytab, TheNameThatIsMeantIsFound) {
  const File file(kHead + entry_of(kAlice) + entry_of(kServer));
  EXPECT_EQ(*find_in_keytab(file.path(), "alice"), kAlice);
  EXPECT_EQ(*find_in_keytab(file.path(), "rm/host@R"), kServer);
  const auto unknown = find_in_keytab(file.path(), "alice@OTHER");
  EXPECT_THAT(unknown.error().message, HasSubstr("has no key of alice@OTHER, but of alice@R, "
                                                 "rm/host@R: klist -kt "));
  EXPECT_THAT(find_in_keytab(file.path(), "").error().message, HasSubstr("must say which"));
  const File one(kHead + entry_of(kAlice));
  EXPECT_EQ(*find_in_keytab(one.path(), ""), kAlice);
  const File none(kHead);
  EXPECT_THAT(find_in_keytab(none.path(), "alice").error().message, HasSubstr("is empty"));
}

TEST(Keytab, AFileThatIsNotThereIsNamed) {
  const File other(kHead);
  const std::string path = other.path() + ".none";
  const auto missing = find_in_keytab(path, "alice");
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("the keytab cannot be read"));
  EXPECT_THAT(missing.error().message, HasSubstr(path));
}

}  // namespace
}  // namespace gangrun::sasl
