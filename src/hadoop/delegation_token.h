#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/credentials.h"
#include "hadoop/file_system.h"
#include "hadoop/server_principal.h"

// The pure part of delegation tokens: whose they are, and how long they are valid.
namespace gangrun::hadoop {

class Configuration;

// From when a token is good, and until when at most, however often it is renewed.
struct TokenLife {
  base::WallTime issued;
  base::WallTime ends;

  bool operator==(const TokenLife&) const = default;
};

// From Java's milliseconds since 1970; what is out of a clock's range becomes its end.
base::WallTime wall_time_of(std::int64_t milliseconds);

// The life of a token of HDFS or of the ResourceManager; none if its identifier is another one.
std::optional<TokenLife> life_of(const Token& token);
// The life of all: from the newest issue to the first end; none if no token tells.
std::optional<TokenLife> life_of(const Credentials& credentials);

// The service that a token for the file system must name, letter by letter, or nobody finds it:
// "ha-hdfs:NAME" of a pair, "10.0.0.1:8020" of a NameNode, or its name and port where
// hadoop.security.token.service.use_ip is false. kUnavailable where nobody knows the host.
base::Result<std::string> token_service(const Configuration& configuration,
                                        const FileSystem& file_system, const Addresses& addresses);
// The service of a token for the ResourceManagers, all of them.
base::Result<std::string> manager_token_service(const Configuration& configuration,
                                                const Addresses& addresses);

// The renewer of the tokens of an application: the ResourceManager's principal. kFailedPrecondition
// where the configuration does not tell it.
base::Result<std::string> token_renewer(const Configuration& configuration);

// The file systems for which a job needs tokens: the configuration's own one and those that `urls`
// name, each once; of a view (viewfs://) its targets. What is no HDFS needs none.
// kInvalidArgument.
base::Result<std::vector<FileSystem>> token_file_systems(const Configuration& configuration,
                                                         const std::vector<std::string>& urls);

}  // namespace gangrun::hadoop
