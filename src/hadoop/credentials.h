#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace gangrun::hadoop {

inline constexpr std::string_view kMasterTokenKind = "YARN_AM_RM_TOKEN";
inline constexpr std::string_view kManagerTokenKind = "RM_DELEGATION_TOKEN";
inline constexpr std::string_view kHdfsTokenKind = "HDFS_DELEGATION_TOKEN";

// A right on one of Hadoop's services (hadoop.common.TokenProto).
struct Token {
  std::string identifier;  // bytes
  base::Secret password;   // bytes
  std::string kind;
  std::string service;
};

// The contents of a token file (Hadoop's Credentials), as HADOOP_TOKEN_FILE_LOCATION names one.
struct Credentials {
  std::map<std::string, Token> tokens{};          // by alias
  std::map<std::string, base::Secret> secrets{};  // bytes, by alias
};

inline constexpr std::size_t kMaxCredentialsBytes = std::size_t{16} << 20U;

// Reads both versions of the format. kInvalidArgument where it is neither, kDataLoss where it is
// cut off.
base::Result<Credentials> parse_credentials(std::string_view bytes);
// As version 0, which every Hadoop reads.
std::string encode_credentials(const Credentials& credentials);

// Hadoop's own variable-length integer (WritableUtils), which is not protobuf's: one byte from -112
// to 127; else a first byte that tells sign and length, and up to 8 bytes, the highest first.
void append_variable_integer(std::string& out, std::int64_t value);

// Takes one from the front of `bytes`; none where they end before it does.
std::optional<std::int64_t> take_variable_integer(std::string_view& bytes);

// For WebHDFS' "delegation" parameter: URL-safe base64 of the whole token. A secret.
base::Secret to_url_text(const Token& token);
// The other way round: what a NameNode gives. kInvalidArgument and kDataLoss.
base::Result<Token> token_from_url_text(std::string_view text);

}  // namespace gangrun::hadoop
