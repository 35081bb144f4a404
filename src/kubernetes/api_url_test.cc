#include "kubernetes/api_url.h"

#include <gtest/gtest.h>

#include "net/http.h"

namespace gangrun::kubernetes {
namespace {

TEST(ApiUrl, WhatCouldBeMisreadIsEncoded) {
  EXPECT_EQ(api_target("", "/api/v1/pods", {}), "/api/v1/pods");
  EXPECT_EQ(api_target("", "/a b", {{"labelSelector", "x in (1,2)&y=%"}}),
            "/a%20b?labelSelector=x%20in%20%281%2C2%29%26y%3D%25");
  const auto back = net::parse_target(api_target("", "/p", {{"command", "a=b&c ü\n+"}}));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->query.at("command"), "a=b&c ü\n+");
}

TEST(ApiUrl, NamesMayRepeatAndKeepTheirOrder) {
  EXPECT_EQ(api_target("", "/p", {{"command", "sh"}, {"command", "-c"}, {"a", ""}}),
            "/p?command=sh&command=-c&a=");
}

TEST(ApiUrl, AServerBehindAPath) {
  EXPECT_EQ(api_target("/", "/api", {}), "/api");
  EXPECT_EQ(api_target("/k8s/clusters/c-1/", "/api", {}), "/k8s/clusters/c-1/api");
}

TEST(ApiUrl, PartsOfAPod) {
  EXPECT_EQ(pods_path("ns"), "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(pod_path("ns", "worker-0", "exec"), "/api/v1/namespaces/ns/pods/worker-0/exec");
}

TEST(ApiUrl, NamesThatCanStandInPaths) {
  EXPECT_TRUE(is_dns_label("a-1"));
  EXPECT_TRUE(is_dns_label(std::string(kMaxLabelBytes, 'a')));
  for (const std::string name : {"", "-a", "a-", "A", "a.b", "a_b"}) {
    EXPECT_FALSE(is_dns_label(name)) << name;
  }
  EXPECT_FALSE(is_dns_label(std::string(kMaxLabelBytes + 1, 'a')));
}

}  // namespace
}  // namespace gangrun::kubernetes
