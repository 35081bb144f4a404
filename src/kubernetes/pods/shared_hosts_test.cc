#include "kubernetes/pods/shared_hosts.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "kubernetes/pods/manifests_for_tests.h"

namespace gangrun::kubernetes::pods {
namespace {

using base::Json;

ManifestInput large_job(int workers) {
  ManifestInput input = test::wine_job();
  input.spec.tasks.push_back(test::tasks_of("ps", 2));
  input.spec.tasks.front().instances = workers;
  return input;
}

// The variables in the container: Kubernetes puts in what comes before.
std::map<std::string, std::string> expanded(const Json& environment, const Json& config_map) {
  std::map<std::string, std::string> found;
  for (const Json& variable : environment) {
    std::string value;
    if (variable.contains("valueFrom")) {
      const Json& from = variable["valueFrom"]["configMapKeyRef"];
      EXPECT_EQ(from["name"], config_map["metadata"]["name"]);
      value = config_map["data"].at(from["key"].get<std::string>()).get<std::string>();
    } else {
      value = variable["value"].get<std::string>();
      for (const auto& [name, text] : found) {
        const std::string reference = base::format("$({})", name);
        const std::size_t at = value.find(reference);
        if (at != std::string::npos) value.replace(at, reference.size(), text);
      }
    }
    found[variable["name"].get<std::string>()] = value;
  }
  return found;
}

Json variable(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

TEST(SharedHosts, AFewAddressesStandInThePods) {
  EXPECT_TRUE(shared_hosts(large_job(30)).empty());
  EXPECT_EQ(hosts_config_map(large_job(30), {}, test::wine_owner()), std::nullopt);
  const Json variables = Json::array({variable("A", "worker-0:2222")});
  EXPECT_EQ(refer_to_hosts(large_job(30), {}, variables), variables);
}

TEST(SharedHosts, ThoseOfALargeTypeStandOnceAndAreFoundWhole) {
  const ManifestInput input = large_job(100);
  const std::vector<SharedHosts> hosts = shared_hosts(input);
  ASSERT_EQ(hosts.size(), 2U) << "the two ps are few";
  const Json map = hosts_config_map(input, hosts, test::wine_owner()).value();
  EXPECT_EQ(map["metadata"]["name"], "wine-20260131-120000-3fa1-hosts");
  EXPECT_EQ(map["metadata"]["ownerReferences"][0]["uid"], "u-1");

  const std::string list = hosts[0].text;
  EXPECT_TRUE(list.starts_with(
      "worker-0.wine-20260131-120000-3fa1.lab.svc:2222,worker-1.wine-20260131-120000-3fa1."));
  const std::string config =
      R"({"cluster":{"ps":["p:1"],"worker":[)" + hosts[1].text + R"(]},"task":{"index":3}})";
  EXPECT_EQ(Json::parse(config)["cluster"]["worker"].size(), 100U);
  const Json environment =
      refer_to_hosts(input, hosts,
                     Json::array({variable("DTF_WORKER_HOSTS", list), variable("RANK", "3"),
                                  variable("TF_CONFIG", config)}));
  EXPECT_LT(environment.dump().size(), 700U);
  EXPECT_EQ(expanded(environment, map),
            (std::map<std::string, std::string>{{"DTF_WORKER_HOSTS", list},
                                                {"GANGRUN_HOSTS_WORKER", list},
                                                {"GANGRUN_QUOTED_HOSTS_WORKER", hosts[1].text},
                                                {"RANK", "3"},
                                                {"TF_CONFIG", config}}));
}

TEST(SharedHosts, OnlyWhatIsReferredToIsInThePod) {
  const ManifestInput input = large_job(100);
  const std::vector<SharedHosts> hosts = shared_hosts(input);
  const Json secret = {{"name", "S"}, {"valueFrom", {{"secretKeyRef", {{"name", "s"}}}}}};
  const Json environment = refer_to_hosts(
      input, hosts, Json::array({secret, variable("H", "on " + hosts[0].text + " only")}));
  ASSERT_EQ(environment.size(), 3U);
  EXPECT_EQ(environment[0]["name"], "GANGRUN_HOSTS_WORKER");
  EXPECT_EQ(environment[1], secret);
  EXPECT_EQ(environment[2], variable("H", "on $(GANGRUN_HOSTS_WORKER) only"));
}

TEST(SharedHosts, WhatAConfigMapHasNoRoomForStandsInThePods) {
  ManifestInput input = large_job(6000);
  input.spec.tasks[1].instances = 6000;
  const std::vector<SharedHosts> hosts = shared_hosts(input);
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[1].variable, "GANGRUN_QUOTED_HOSTS_WORKER");
}

}  // namespace
}  // namespace gangrun::kubernetes::pods
