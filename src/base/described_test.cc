#include "base/described.h"

#include <gmock/gmock.h>

#include "base/described_json.h"

namespace gangrun::base {
namespace {

struct Point {
  int x = 0;
  int y = 0;

  static constexpr auto rows() {
    return std::tuple(row("x", &Point::x), row("y", &Point::y, Range{0, 9}));
  }
  friend bool operator==(const Point&, const Point&) = default;
};

Error other_version(std::int64_t other) {
  return {Code::kFailedPrecondition, "version " + std::to_string(other)};
}

struct Everything {
  std::string name;
  std::string bytes;
  Secret secret;
  std::chrono::milliseconds grace{0};
  std::vector<std::uint16_t> ports;
  std::map<std::string, std::string> variables;
  std::optional<int> wanted;
  bool is_fed = false;
  double late = 0.5;
  std::vector<Point> points;
  std::optional<Point> flat;
  Json handle = Json::object();

  static constexpr std::string_view kName = "everything";
  static constexpr auto rows() {
    return std::tuple(FixedRow<Everything>{"version", 2, other_version},
                      row("name", &Everything::name, Bytes{4}),
                      row("bytes", &Everything::bytes, Hex{2}), row("secret", &Everything::secret),
                      row("grace_ms", &Everything::grace, Range{1, 100}),
                      row("ports", &Everything::ports, ListOf<Range>{2, {1, 9}}),
                      row("variables", &Everything::variables), row("wanted", &Everything::wanted),
                      row_if_set("is_fed", &Everything::is_fed),
                      late_row("late", &Everything::late), row("points", &Everything::points),
                      flat_row(&Everything::flat), row("handle", &Everything::handle),
                      derived_row(
                          "length", +[](const Everything& it) { return it.name.size(); }));
  }
  [[nodiscard]] Result<> complete() const {
    if (name != "bad") return {};
    return invalid_argument("a bad name");
  }
};

// As JSON has them, in this order; the fifth needs the preprocessor's second look at the list.
struct Named {
  int a = 1;
  std::string b = "b";
  int c = 3;
  bool d = true;
  int e = 5;

  GANGRUN_ROWS(Named, a, b, c, d, e);
  friend bool operator==(const Named&, const Named&) = default;
};

struct PartlyNamed {
  int a = 1;
  int b = 2;
  int c = 3;
  int d = 4;

  static constexpr auto rows() {
    return std::tuple(GANGRUN_EACH(row, PartlyNamed, a, b), row("see", &PartlyNamed::c),
                      GANGRUN_EACH(row_if_set, PartlyNamed, d));
  }
};

struct Nothing {
  static constexpr std::string_view kName = "nothing";
  static constexpr auto rows() { return std::tuple(); }
};

struct Open {
  int known = 0;
  static constexpr bool kIsOpen = true;
  static constexpr auto rows() { return std::tuple(row("known", &Open::known)); }
  static Result<std::optional<Json>> renewed(const Json& json) {
    if (!json.contains("older")) return std::optional<Json>();
    Json now = {{"known", json["older"]}};
    return std::optional(std::move(now));
  }
};

using Message = std::variant<Everything, Nothing>;

Everything full() {
  Everything all;
  all.name = "abc";
  all.bytes = "\xff";
  all.secret = Secret("s");
  all.grace = std::chrono::milliseconds(7);
  all.ports = {1, 9};
  all.variables = {{"A", "b"}};
  all.wanted = 3;
  all.is_fed = true;
  all.points = {{1, 2}};
  all.flat = Point{3, 4};
  all.handle = {{"k", 1}};
  return all;
}

constexpr const char* kFull =
    R"({"version":2,"name":"abc","bytes":"ff","secret":"s","grace_ms":7,"ports":[1,9],)"
    R"("variables":{"A":"b"},"wanted":3,"is_fed":true,"late":0.5,"points":[{"x":1,"y":2}],)"
    R"("x":3,"y":4,"handle":{"k":1},"length":3})";

TEST(Described, WritesItsMembersInTheirOrder) { EXPECT_EQ(dump_json(to_json(full())), kFull); }

TEST(Described, LeavesOutWhatIsNotSet) {
  Everything few;
  EXPECT_EQ(dump_json(to_json(few)),
            R"({"version":2,"name":"","bytes":"","secret":"","grace_ms":0,"ports":[],)"
            R"("variables":{},"late":0.5,"points":[],"handle":{},"length":0})");
}

TEST(Described, ReadsWhatItWrites) {
  const auto json = *parse_json(kFull, 1000);
  const auto back = from_json<Everything>(json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(to_json(*back), json);
  EXPECT_EQ(back->secret.reveal(), "s");
  EXPECT_EQ(back->flat, (Point{3, 4}));
}

// The result of a change of one member of the full object.
std::string error_of(std::string_view key, const Json& value) {
  Json json = *parse_json(kFull, 1000);
  if (value.is_discarded()) {
    json.erase(std::string(key));
  } else {
    json[key] = value;
  }
  const auto read = from_json<Everything>(json);
  return read.ok() ? "none" : read.error().message;
}

TEST(Described, NamesTheMemberThatIsWrong) {
  const Json absent(Json::value_t::discarded);
  EXPECT_EQ(error_of("name", absent), R"("name" is missing)");
  EXPECT_EQ(error_of("name", 1), R"("name" must be a string)");
  EXPECT_EQ(error_of("name", "abcde"), R"("name" must be at most 4 bytes long)");
  EXPECT_EQ(error_of("name", "bad"), "a bad name");
  EXPECT_EQ(error_of("bytes", "f"), R"("bytes" must be pairs of hexadecimal digits)");
  EXPECT_EQ(error_of("bytes", "ffffff"), R"("bytes" must be at most 4 bytes long)");
  EXPECT_EQ(error_of("grace_ms", 0), R"("grace_ms" must be from 1 to 100)");
  EXPECT_EQ(error_of("grace_ms", 1.5), R"("grace_ms" must be a whole number in range)");
  EXPECT_EQ(error_of("ports", {1, 2, 3}), R"("ports" must be a list of at most 2)");
  EXPECT_EQ(error_of("ports", {0}), R"("ports" must be from 1 to 9)");
  EXPECT_EQ(error_of("ports", 1), R"("ports" must be a list)");
  EXPECT_EQ(error_of("variables", {{"A", 1}}), R"(variables: "A" must be a string)");
  EXPECT_EQ(error_of("wanted", "x"), R"("wanted" must be a whole number in range)");
  EXPECT_EQ(error_of("points", {{{"x", 1}}}), R"(points: "y" is missing)");
  EXPECT_EQ(error_of("x", absent), R"("x" is missing)");
  EXPECT_EQ(error_of("other", 1), R"(unknown member "other")");
  EXPECT_EQ(error_of("version", 3), "version 3");
  EXPECT_EQ(error_of("version", absent), R"("version" is missing)");
}

TEST(Described, TakesTheDefaultOfWhatMayBeAbsent) {
  const Json absent(Json::value_t::discarded);
  EXPECT_EQ(error_of("wanted", absent), "none");
  EXPECT_EQ(error_of("is_fed", absent), "none");
  EXPECT_EQ(error_of("late", absent), "none");
  EXPECT_EQ(error_of("length", absent), "none");
}

TEST(Described, RefusesWhatIsNoObject) {
  for (const char* text : {"[]", "1", "null", "\"a\""}) {
    EXPECT_EQ(from_json<Point>(*parse_json(text, 9)).error().message, "it must be an object");
  }
}

TEST(Described, AnOpenOneMayHaveMore) {
  EXPECT_EQ(from_json<Open>({{"known", 1}, {"newer", 2}})->known, 1);
  EXPECT_EQ(from_json<Open>({{"older", 3}})->known, 3);
}

TEST(Described, SeveralAreToldApartByTheirNames) {
  const Message message = full();
  const Json json = tagged_json("type", message);
  EXPECT_TRUE(dump_json(json).starts_with(R"({"type":"everything","version":2,)"));
  const auto back = tagged_from<Message>("type", json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(tagged_json("type", *back), json);
  EXPECT_TRUE(
      std::holds_alternative<Nothing>(*tagged_from<Message>("type", {{"type", "nothing"}})));

  const auto error = [](const Json& wrong) {
    return tagged_from<Message>("type", wrong).error().message;
  };
  EXPECT_EQ(error({{"type", "nothing"}, {"a", 1}}), R"(nothing: unknown member "a")");
  EXPECT_EQ(error({{"type", "everything"}, {"version", 2}}), R"(everything: "name" is missing)");
  EXPECT_EQ(error({{"type", "x"}}), R"(unknown message "x")");
  EXPECT_EQ(error({{"a", "x"}}), R"("type" is missing)");
  EXPECT_EQ(error(Json::array()), R"(expected an object with "type")");
}

TEST(Described, ASampleCanBeRead) {
  const Json json = to_json(sample_of<Everything>());
  const auto back = from_json<Everything>(json);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(dump_json(json),
            R"({"version":2,"name":"a","bytes":"61","secret":"a","grace_ms":1,"ports":[1],)"
            R"("variables":{"a":"a"},"wanted":0,"late":0.0,"points":[{"x":0,"y":0}],"x":0,"y":0,)"
            R"("handle":{},"length":1})");
}

TEST(Described, TellsOfItsMembers) {
  std::vector<std::string> rows;
  for (const MemberWords& member : members_of<Everything>()) {
    rows.push_back(member.key + " | " + member.type + " | " + member.bounds);
  }
  EXPECT_THAT(
      rows, testing::ElementsAre("version | 2 | ", "name | a string | at most 4 bytes long",
                                 "bytes | a string | at most 2 bytes, as hexadecimal digits",
                                 "secret | a secret | ", "grace_ms | milliseconds | from 1 to 100",
                                 "ports | a list: a whole number | at most 2, each from 1 to 9",
                                 "variables | an object of names: a string | ",
                                 "wanted | a whole number | ", "is_fed | true or false | ",
                                 "late | a number | ", "points | a list: an object | ",
                                 "x | a whole number | ", "y | a whole number | from 0 to 9",
                                 "handle | any JSON | ", "length | a whole number | "));
}

TEST(Described, MembersAreNamedOnce) {
  const Json json = {{"a", 1}, {"b", "b"}, {"c", 3}, {"d", true}, {"e", 5}};
  EXPECT_EQ(dump_json(to_json(Named{})), dump_json(json));
  EXPECT_EQ(*from_json<Named>({{"a", 2}, {"b", ""}, {"c", 4}, {"d", false}, {"e", 6}}),
            (Named{2, "", 4, false, 6}));
  EXPECT_FALSE(from_json<Named>({{"a", 2}}).ok());
  EXPECT_EQ(dump_json(to_json(PartlyNamed{})), dump_json({{"a", 1}, {"b", 2}, {"see", 3}}));
}

}  // namespace
}  // namespace gangrun::base
