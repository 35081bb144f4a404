#include "mirror/zookeeper_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangrun::mirror {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using zookeeper::Access;
using zookeeper::Kind;
using zookeeper::Node;

ZooKeeperPlace place() {
  return {.user = "alice", .job_name = "TensorFlow", .job_id = "application_1700000000000_0001"};
}

// The example of the "TensorFlow on YARN" design.
job::ClusterSpec design_spec() {
  return {
      .generation = 1,
      .tasks = {{"ps", {{"host1", 2222}, {"host2", 2222}}},
                {"worker", {{"host3", 2222}, {"host3", 3333}, {"host4", 2222}, {"host4", 3333}}}}};
}

ZooKeeperTask first_worker() {
  return {{"worker", 0}, {"host3", 2222}, "container_e03_1700000000000_0001_01_000002"};
}

std::vector<std::string> paths(const std::vector<Node>& nodes) {
  std::vector<std::string> all;
  for (const Node& node : nodes) all.push_back(node.path);
  return all;
}

TEST(ZooKeeperTree, ThePathsAreThoseOfTheDesign) {
  const auto nodes = zookeeper_tree(place(), design_spec(), {first_worker()});
  const std::string instance = "/registry/users/alice/TensorFlow/application_1700000000000_0001";
  EXPECT_THAT(paths(nodes),
              ElementsAre("/registry", "/registry/users", "/registry/users/alice",
                          "/registry/users/alice/TensorFlow", instance, instance + "/components",
                          instance + "/components/ctr-e03-1700000000000-0001-01-000002"));
}

TEST(ZooKeeperTree, WithALoginTheSharedNodesOfAUserAreHisOnly) {
  ZooKeeperPlace own = place();
  own.has_login = true;
  own.is_public = false;
  const auto nodes = zookeeper_tree(own, design_spec(), {first_worker()});
  ASSERT_EQ(nodes.size(), 7U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(nodes[i].access, Access::kAnyone) << i;
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(nodes[i].access, Access::kOwnerAndReaders) << i;
    EXPECT_TRUE(nodes[i].is_shared) << i;
  }
  for (std::size_t i = 4; i < 7; ++i) EXPECT_EQ(nodes[i].access, Access::kOwner) << i;
}

TEST(ZooKeeperTree, TheInstanceHasTheHostsOfTheDesignInAServiceRecord) {
  const auto nodes = zookeeper_tree(place(), design_spec(), {first_worker()});
  EXPECT_EQ(
      nodes[4].data,
      R"({"type":"JSONServiceRecord","description":"gangrun job TensorFlow","external":[],"internal":[],)"
      R"("yarn:id":"application_1700000000000_0001","yarn:persistence":"application","generation":"1",)"
      R"("DTF_PS_HOSTS":"host1:2222,host2:2222",)"
      R"("DTF_WORKER_HOSTS":"host3:2222,host3:3333,host4:2222,host4:3333"})");
}

TEST(ZooKeeperTree, AComponentHasTheTaskOfTheDesignInAServiceRecord) {
  const auto nodes = zookeeper_tree(place(), design_spec(), {first_worker()});
  EXPECT_EQ(
      nodes[6].data,
      R"({"type":"JSONServiceRecord","description":"task worker:0","external":[],"internal":[],)"
      R"("yarn:id":"container_e03_1700000000000_0001_01_000002","yarn:persistence":"container",)"
      R"("task_job_name":"worker","task_job_index":"0","task_port":"2222","task_host":"host3"})");
}

TEST(ZooKeeperTree, NothingOfAJobStaysAndWhatOthersUseIsOpenToThem) {
  const auto nodes = zookeeper_tree(place(), design_spec(), {first_worker()});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(nodes[i].kind, Kind::kPersistent);
    EXPECT_TRUE(nodes[i].is_shared);
    EXPECT_EQ(nodes[i].access, Access::kAnyone);
  }
  EXPECT_EQ(nodes[3].kind, Kind::kContainer);
  EXPECT_TRUE(nodes[3].is_shared);
  for (std::size_t i = 4; i < 7; ++i) {
    EXPECT_FALSE(nodes[i].is_shared);
    EXPECT_EQ(nodes[i].access, Access::kOwnerAndReaders);
    EXPECT_EQ(nodes[i].kind, i == 6 ? Kind::kEphemeral : Kind::kContainer);
  }
}

TEST(ZooKeeperTree, ReadableByTheJobOnly) {
  ZooKeeperPlace own = place();
  own.is_public = false;
  const auto nodes = zookeeper_tree(own, design_spec(), {first_worker()});
  EXPECT_EQ(nodes[2].access, Access::kAnyone);
  for (std::size_t i = 4; i < 7; ++i) EXPECT_EQ(nodes[i].access, Access::kOwner);
}

TEST(ZooKeeperTree, BeforeAGenerationThereAreNoHosts) {
  const auto nodes = zookeeper_tree(place(), {}, {first_worker()});
  EXPECT_THAT(nodes[4].data, AllOf(Not(HasSubstr("DTF_")), Not(HasSubstr("generation"))));
}

TEST(ZooKeeperTree, NothingBeforeTheFirstTaskHasReported) {
  EXPECT_THAT(zookeeper_tree(place(), design_spec(), {}), IsEmpty());
}

TEST(ZooKeeperTree, WithoutContainersTheTasksHaveTheirOwnNames) {
  const auto nodes =
      zookeeper_tree(place(), {}, {{{"worker", 0}, {"h", 1}, ""}, {{"ps", 12}, {"h", 2}, ""}});
  EXPECT_THAT(nodes[6].path, testing::EndsWith("/components/worker-0"));
  EXPECT_THAT(nodes[7].path, testing::EndsWith("/components/ps-12"));
  EXPECT_THAT(nodes[7].data, HasSubstr(R"("yarn:id":"ps-12")"));
}

TEST(ZooKeeperTree, TheRootMayHavePartsOrBeZooKeepersOwn) {
  ZooKeeperPlace deep = place();
  deep.root = "/a/b";
  EXPECT_THAT(paths(zookeeper_tree(deep, {}, {first_worker()})), testing::Contains("/a").Times(1));
  EXPECT_EQ(zookeeper_tree(deep, {}, {first_worker()})[2].path, "/a/b/users");
  deep.root = "/";
  EXPECT_EQ(zookeeper_tree(deep, {}, {first_worker()})[0].path, "/users");
}

TEST(ZooKeeperTree, TypesWithOneVariableHaveNone) {
  const job::ClusterSpec spec{
      .generation = 1,
      .tasks = {{"data-node", {{"h", 1}}}, {"data_node", {{"h", 2}}}, {"ps", {{"fd00::5", 3}}}}};
  const auto data = zookeeper_tree(place(), spec, {first_worker()})[4].data;
  EXPECT_THAT(data, Not(HasSubstr("DATA_NODE")));
  EXPECT_THAT(data, HasSubstr(R"("DTF_PS_HOSTS":"[fd00::5]:3")"));
}

TEST(ZooKeeperTree, MoreAddressesThanANodeHoldsAreLeftToTheComponents) {
  job::ClusterSpec spec;
  spec.generation = 1;
  spec.tasks["worker"].assign(100'000, {"some-host.example.com", 12345});
  const auto data = zookeeper_tree(place(), spec, {first_worker()})[4].data;
  EXPECT_LE(data.size(), kMaxRecordBytes);
  EXPECT_THAT(data, AllOf(HasSubstr("the components have them"), Not(HasSubstr("DTF_"))));
}

// As Hadoop's RegistryUtils.homePathForUser() does.
TEST(ZooKeeperTree, UsersAreNamedAsInYarnsRegistry) {
  for (const auto& [name, in_registry] :
       std::map<std::string, std::string>{{"root", "root"},
                                          {"Alice", "alice"},
                                          {"alice@EXAMPLE.COM", "alice"},
                                          {"a_b", "a_b"},
                                          {"yarn/host@REALM", "yarn"},
                                          {"j.doe", "j.doe"},
                                          {"@x", "@x"},
                                          {"a/b", "a"}}) {
    const auto user = registry_user(name);
    ASSERT_TRUE(user.ok()) << name;
    EXPECT_EQ(*user, in_registry);
  }
  for (const char* name : {"", "J\xc3\xb6rg", "a b", "..", "/x"}) {
    EXPECT_FALSE(registry_user(name).ok()) << name;
  }
}

// As its RegistryPathUtils.encodeYarnID() does.
TEST(ZooKeeperTree, ContainersAreNamedAsInYarnsRegistry) {
  EXPECT_EQ(registry_container("container_e03_1700000000000_0001_01_000002"),
            "ctr-e03-1700000000000-0001-01-000002");
}

TEST(ZooKeeperTree, TheDigestIsOfTheSecretAndDoesNotTellIt) {
  const auto credentials = zookeeper_credentials(base::Secret("s3cret"));
  // printf 'gangrun zookeeper %s' s3cret | sha256sum
  EXPECT_EQ(credentials.reveal(),
            "gangrun:71e212d217d81f0b7ceb70b52bf684f9dad9215485f5bed35a2370d0120fceb6");
}

}  // namespace
}  // namespace gangrun::mirror
