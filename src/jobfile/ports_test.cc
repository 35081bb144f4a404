#include "jobfile/ports.h"

#include <gmock/gmock.h>

namespace gangrun::jobfile {
namespace {

using testing::ElementsAre;

TEST(ParsePorts, HasANumberOrNames) {
  EXPECT_EQ(parse_ports("2")->count, 2);
  EXPECT_TRUE(parse_ports("2")->names.empty());
  EXPECT_THAT(parse_ports("http")->names, ElementsAre("http"));
  EXPECT_THAT(parse_ports("http+grpc-web")->names, ElementsAre("http", "grpc-web"));
  EXPECT_EQ(parse_ports("http+grpc-web")->count, 2);
  for (const std::string_view text : {"", "0", "65", "-1", "2x", "a+", "+a", "a b", "a:b", "ü"}) {
    EXPECT_FALSE(parse_ports(text).ok()) << text;
  }
}

TEST(PortVariable, IsTheNameInCapitals) {
  EXPECT_EQ(job::port_variable("grpc-web_2"), "GANGRUN_PORT_GRPC_WEB_2");
}

TEST(CheckPortName, HasALimit) {
  EXPECT_TRUE(check_port_name(std::string(40, 'x')).ok());
  EXPECT_FALSE(check_port_name(std::string(41, 'x')).ok());
}

TEST(ParseInterface, IsOneWord) {
  for (const std::string_view text : {"eth0", "10.0.0.0/8", "fd00::/8", "enp0s1.100@x"}) {
    EXPECT_EQ(*parse_interface(text), text);
  }
  EXPECT_TRUE(parse_interface(std::string(64, 'x')).ok());
  for (const std::string& text : {std::string(), std::string(65, 'x'), std::string("a b"),
                                  std::string("a\n"), std::string("\xff")}) {
    EXPECT_FALSE(parse_interface(text).ok()) << text;
  }
}

}  // namespace
}  // namespace gangrun::jobfile
