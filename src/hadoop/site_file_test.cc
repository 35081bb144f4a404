#include "hadoop/site_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"

namespace gangrun::hadoop {
namespace {

using testing::HasSubstr;

base::Result<std::string> no_file(const std::string& name) {
  return base::not_found(base::format("no {}", name));
}

base::Result<std::vector<Property>> parse(std::string_view text) {
  return parse_site_file(text, "yarn-site.xml", no_file);
}

std::string error_of(std::string_view text) {
  const auto parsed = parse(text);
  return parsed.ok() ? "no error" : parsed.error().message;
}

TEST(SiteFile, PropertiesComeInTheirOrderWithTheirLines) {
  const auto properties = parse(R"(<?xml version="1.0"?>
<!-- a comment with <property> -->
<configuration>
  <property><name> a.b </name><value>one &amp; two</value></property>
  <property name="c" value="3" final="true"/>
  <property>
    <name>d</name><value><![CDATA[<x>]]></value><final>true</final><description>words</description>
  </property>
  <property><name>empty</name><value></value></property>
  <property><name>without</name></property>
</configuration>)");
  ASSERT_TRUE(properties.ok()) << properties.error().message;
  const std::vector<Property> expected{
      {.name = "a.b", .value = "one & two", .file = "yarn-site.xml", .line = 4},
      {.name = "c", .value = "3", .final = true, .file = "yarn-site.xml", .line = 5},
      {.name = "d", .value = "<x>", .final = true, .file = "yarn-site.xml", .line = 6},
      {.name = "empty", .value = "", .file = "yarn-site.xml", .line = 9},
  };
  EXPECT_EQ(*properties, expected);
}

TEST(SiteFile, BrokenXmlIsToldWithFileAndLine) {
  EXPECT_THAT(error_of("<configuration>\n<property>\n<name>a</nam>\n"),
              testing::StartsWith("yarn-site.xml:3: "));
  EXPECT_THAT(error_of(""), testing::StartsWith("yarn-site.xml:1: "));
  EXPECT_EQ(error_of("\n<configurations/>"),
            "yarn-site.xml:2: <configurations> stands where <configuration> is expected");
  EXPECT_EQ(error_of("<configuration>\n<property><value>1</value></property></configuration>"),
            "yarn-site.xml:2: a property has no <name>");
}

TEST(SiteFile, EntitiesOfADocumentTypeAreNotExpanded) {
  const auto properties = parse(
      "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>"
      "<configuration><property><name>n</name><value>&b;</value></property></configuration>");
  ASSERT_TRUE(properties.ok());
  EXPECT_EQ(properties->at(0).value, "&b;");
}

TEST(SiteFile, AnIncludedFileStandsInThePlaceOfItsInclude) {
  const std::map<std::string, std::string> files{
      {"b.xml",
       "<configuration>\n<property><name>b</name><value>2</value></property></configuration>"}};
  const auto properties = parse_site_file(
      "<configuration xmlns:xi=\"x\"><property name=\"a\" value=\"1\"/><xi:include href=\"b.xml\"/>"
      "<property name=\"c\" value=\"3\"/></configuration>",
      "a.xml",
      [&files](const std::string& name) { return base::Result<std::string>(files.at(name)); });
  ASSERT_TRUE(properties.ok()) << properties.error().message;
  ASSERT_EQ(properties->size(), 3U);
  EXPECT_EQ(properties->at(1),
            (Property{.name = "b", .value = "2", .final = false, .file = "b.xml", .line = 2}));
}

TEST(SiteFile, AMissingIncludeIsAnErrorUnlessThereIsAFallback) {
  EXPECT_EQ(error_of("<configuration>\n<xi:include href=\"b.xml\"/></configuration>"),
            "yarn-site.xml:2: <xi:include>: no b.xml");
  const auto properties = parse(
      "<configuration><xi:include href=\"b.xml\"><xi:fallback><property name=\"a\" value=\"1\"/>"
      "</xi:fallback></xi:include></configuration>");
  ASSERT_TRUE(properties.ok()) << properties.error().message;
  EXPECT_EQ(properties->at(0).name, "a");
}

TEST(SiteFile, AnIncludeFromTheNetworkIsRefused) {
  EXPECT_THAT(error_of("<configuration><xi:include href=\"http://a/b\"/></configuration>"),
              HasSubstr("expected a file's name"));
}

TEST(SiteFile, FilesThatIncludeThemselvesEndSoon) {
  const auto read_with = [](std::string_view text) {
    const auto parsed = parse_site_file(text, "a.xml", [text](const std::string&) {
      return base::Result<std::string>(std::string(text));
    });
    return parsed.ok() ? "no error" : parsed.error().message;
  };
  EXPECT_THAT(read_with("<configuration><xi:include href=\"a.xml\"/></configuration>"),
              HasSubstr("more than 8 deep"));
  // Each includes seven others: the number of files ends it, long before the depth.
  std::string many = "<configuration>";
  for (int i = 0; i < 7; ++i) {
    many += "<include href=\"a.xml\"><fallback/></include>";
  }
  EXPECT_THAT(read_with(many + "</configuration>"), HasSubstr("deep"));
  int files = 0;
  const auto parsed = parse_site_file(
      "<configuration>" + many.substr(15) + "</configuration>", "a.xml",
      [&files, &many](const std::string&) {
        return base::Result<std::string>(++files % 8 == 0 ? std::string("<configuration/>")
                                                          : many + "</configuration>");
      });
  ASSERT_FALSE(parsed.ok());
  EXPECT_LE(files, kMaxFilesOfAConfiguration + 1);
}

}  // namespace
}  // namespace gangrun::hadoop
