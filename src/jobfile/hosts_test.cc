#include "jobfile/hosts.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "jobfile/build.h"
#include "jobfile/plan_json.h"
#include "jobfile/spec_yaml.h"

namespace gangrun::jobfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Flags flags_with(const std::string& hosts, const std::string& roles = "worker:4") {
  Flags flags;
  flags.roles = {roles};
  flags.hosts = {hosts};
  flags.command = {"true"};
  return flags;
}

std::string hosts_error(const std::string& hosts) {
  const auto spec = build(std::nullopt, flags_with(hosts), Defaults{});
  return spec.ok() ? "" : spec.error().message;
}

TEST(Hosts, AreReadFromFlagsAndWrittenAsTheyWere) {
  const auto spec = build(std::nullopt, flags_with("h1:2, h2"), Defaults{});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(spec->hosts, ElementsAre(job::Host{"h1", 2}, job::Host{"h2", std::nullopt}));
  EXPECT_EQ(to_json(*spec).at("hosts"), (base::Json{"h1:2", "h2"}));
  const auto again = job_spec_from_json(to_json(*spec));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *spec);
}

// The end of an IPv6 address was taken for slots.
TEST(Hosts, MayBeIpv6Addresses) {
  const auto spec =
      build(std::nullopt, flags_with("[fd00::5]:8,fd00::6,::1, [fd00::7]"), Defaults{});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(spec->hosts,
              ElementsAre(job::Host{"fd00::5", 8}, job::Host{"fd00::6", std::nullopt},
                          job::Host{"::1", std::nullopt}, job::Host{"fd00::7", std::nullopt}));
  EXPECT_EQ(to_json(*spec).at("hosts"), (base::Json{"[fd00::5]:8", "fd00::6", "::1", "fd00::7"}));
  const auto again = job_spec_from_json(to_json(*spec));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *spec);
  const std::string form =
      "; a host is written NAME or NAME:SLOTS, an IPv6 address with slots [ADDRESS]:SLOTS";
  EXPECT_EQ(hosts_error("fd00::zz"), "--hosts: 'fd00::zz' is no IPv6 address" + form);
  EXPECT_EQ(hosts_error("a:1:2"), "--hosts: 'a:1:2' is no IPv6 address" + form);
  EXPECT_EQ(hosts_error("[fd00::5"), "--hosts: '[fd00::5' has no \"]\"" + form);
  EXPECT_EQ(hosts_error("[h1]:8"), "--hosts: '[h1]:8' has no IPv6 address in its brackets" + form);
  EXPECT_EQ(hosts_error("[::1]8"), "--hosts: '[::1]8' goes on behind its brackets" + form);
  EXPECT_THAT(hosts_error("[::1]:0"), HasSubstr("--hosts: '[::1]:0': slots: '0' is not"));
  const std::string scope =
      " has a scope, '%eth0', which is an interface of this host; allowed: a name, or an IPv6 "
      "address that means the same on all hosts";
  EXPECT_EQ(hosts_error("fe80::1%eth0"), "--hosts: 'fe80::1%eth0'" + scope);
  EXPECT_EQ(hosts_error("[fe80::1%eth0]:8"), "--hosts: '[fe80::1%eth0]:8'" + scope);
}

// Only the first part of a full name was allowed as much as all of it.
TEST(Hosts, HaveNamesOfDns) {
  const std::string part(63, 'p');
  const std::string longest = part + "." + part + "." + part + "." + std::string(61, 'p');
  EXPECT_EQ(hosts_error(longest), "");
  EXPECT_EQ(hosts_error(longest + ":8"), "");
  EXPECT_THAT(hosts_error(longest + "p"), HasSubstr("it has 254 characters; allowed"));
  EXPECT_THAT(hosts_error(part + "p"), HasSubstr("ppp…' has 64 characters; allowed: "));
  EXPECT_THAT(hosts_error("a." + part + "p"), HasSubstr("ppp…' has 64 characters; allowed: "));
  EXPECT_THAT(hosts_error("a..b"), HasSubstr("'a..b' is not the name of a host: it has nothing "
                                             "between two dots; allowed: "));
  EXPECT_THAT(hosts_error("a.."), HasSubstr("nothing between two dots"));
  EXPECT_THAT(hosts_error("a!b"), HasSubstr("it has '!'; allowed"));
  EXPECT_EQ(hosts_error("node_1.cluster-2.example."), "");
}

TEST(Hosts, AreReadFromAFileAndFlagsWin) {
  const auto draft =
      parse_spec("tasks: {worker: {instances: 2}}\ncommand: x\nhosts: [h1:1, h2:1]\n", "job.yaml");
  ASSERT_TRUE(draft.ok()) << draft.error().message;
  const auto spec = build(*draft, Flags{}, Defaults{});
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(spec->hosts, ElementsAre(job::Host{"h1", 1}, job::Host{"h2", 1}));
  Flags flags;
  flags.hosts = {"h3"};
  const auto other = build(*draft, flags, Defaults{});
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_THAT(other->hosts, ElementsAre(job::Host{"h3", std::nullopt}));
}

TEST(Hosts, ErrorsOfAFileSayWhereTheyStand) {
  const auto refused = [](const std::string& hosts) {
    const auto draft = parse_spec("tasks: {worker: }\ncommand: x\nhosts: " + hosts, "job.yaml");
    if (!draft.ok()) return draft.error().message;
    const auto spec = build(*draft, Flags{}, Defaults{});
    return spec.ok() ? std::string() : spec.error().message;
  };
  EXPECT_THAT(refused("h1"),
              HasSubstr("job.yaml:3:8: hosts: 'h1' is not allowed; allowed: a list"));
  EXPECT_THAT(refused("[]"), HasSubstr("hosts: no host is named"));
  EXPECT_THAT(refused("[a, a]"), HasSubstr("job.yaml:3:8: hosts: 'a' is named twice"));
}

TEST(Hosts, ErrorsNameTheFieldTheValueAndWhatIsAllowed) {
  EXPECT_THAT(hosts_error("h1:0"), HasSubstr("--hosts: 'h1:0': slots: '0' is not"));
  EXPECT_THAT(hosts_error("h1:two"), HasSubstr("--hosts: 'h1:two': slots: 'two' is not"));
  EXPECT_THAT(hosts_error(":2"), HasSubstr("--hosts: ':2' has no name; a host is written NAME"));
  EXPECT_THAT(hosts_error("../h"),
              HasSubstr("--hosts: '../h' is not the name of a host: it begins with"));
  EXPECT_THAT(hosts_error("h1:2,h1:2"), HasSubstr("--hosts: 'h1' is named twice"));
  EXPECT_THAT(hosts_error("h1:2,h2:1"),
              HasSubstr("--hosts: 3 slots are fewer than the 4 tasks; allowed: at least"));
  EXPECT_EQ(hosts_error("h1:2,h2:2"), "");
  EXPECT_EQ(hosts_error("h1:1,h2"), "");
}

TEST(Hosts, NeedSlotsForTheLeastThatASingleTypeGoesOnWith) {
  const auto error = [](const std::string& tasks, const std::string& hosts) {
    const auto draft =
        parse_spec("tasks: {" + tasks + "}\ncommand: x\nhosts: [" + hosts + "]", "job.yaml");
    if (!draft.ok()) return draft.error().message;
    const auto spec = build(*draft, Flags{}, Defaults{});
    return spec.ok() ? std::string() : spec.error().message;
  };
  const std::string worker = "worker: {instances: 4, min_instances: 2}";
  EXPECT_EQ(error(worker, "'a:1', 'b:1'"), "");
  EXPECT_THAT(error(worker, "'a:1'"),
              HasSubstr("1 slots are fewer than the 2 tasks that it needs"));
  // Workers that the gang can do without might take the slot that the ps needs.
  EXPECT_THAT(error(worker + ", ps: {instances: 1}", "'a:4'"),
              HasSubstr("4 slots are fewer than the 5 tasks;"));
  EXPECT_EQ(error("worker: {instances: 2, spares: 1}", "'a:2'"), "");
}

// The agents are placed type by type: the spare had the only slot that was left for the worker.
TEST(Hosts, ASpareDoesNotTakeTheSlotOfAnotherType) {
  const auto draft = parse_spec(
      "tasks: {ps: {instances: 1, spares: 1}, worker: {}}\ncommand: x\nhosts: ['a:2']", "job.yaml");
  const auto spec = build(*draft, Flags{}, Defaults{});
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(spec.error().message,
              HasSubstr("2 slots are fewer than the 3 tasks with their spares; allowed: at least"));
}

TEST(Hosts, HaveALimit) {
  Flags flags = flags_with("h", "worker:1");
  for (int i = 0; i < 1000; ++i) flags.hosts.push_back("h" + std::to_string(i));
  const auto spec = build(std::nullopt, flags, Defaults{});
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(spec.error().message, HasSubstr("1001 hosts are more than the limit of 1000"));
}

}  // namespace
}  // namespace gangrun::jobfile
