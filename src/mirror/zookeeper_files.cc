#include "mirror/zookeeper_files.h"

#include <sys/stat.h>

#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "job/units.h"
#include "net/call.h"

namespace gangrun::mirror {

namespace {

using base::Result;

std::string in_folder(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : base::format("{}/{}", folder, path);
}

base::Error wrong_file(const char* key, const std::string& path, std::string_view what) {
  return base::invalid_argument(
      base::format("zookeeper.{}: {}: {}", key, job::in_quotes(path), what));
}

// Empty where none is named.
Result<std::string> read_named(const char* key, const std::string& path, const std::string& folder,
                               std::size_t max_bytes) {
  if (path.empty()) return std::string();
  auto text = base::read_file(in_folder(folder, path), max_bytes);
  if (!text.ok()) return wrong_file(key, path, text.error().message);
  return text;
}

Result<base::Secret> read_secret_file(const char* key, const std::string& path,
                                      const std::string& folder, std::size_t max_bytes) {
  GANGRUN_ASSIGN(std::string text, read_named(key, path, folder, max_bytes));
  base::Secret secret(std::move(text));
  if (path.empty()) return secret;
  struct stat info {};
  const std::string whole = in_folder(folder, path);
  if (::stat(whole.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0) {
    return wrong_file(key, path, "every user of this machine may read it; `chmod o-r` helps");
  }
  return secret;
}

Result<base::Secret> read_password(const job::ZooKeeper& zookeeper, const std::string& folder) {
  GANGRUN_ASSIGN(const base::Secret text, read_secret_file("password_file", zookeeper.password_file,
                                                           folder, kMaxPasswordBytes));
  if (zookeeper.password_file.empty()) return base::Secret();
  std::string password = text.reveal();
  if (password.ends_with('\n')) password.pop_back();
  if (password.ends_with('\r')) password.pop_back();
  if (password.empty()) return wrong_file("password_file", zookeeper.password_file, "it is empty");
  if (password.find_first_of(std::string_view("\n\0", 2)) != std::string::npos) {
    return wrong_file("password_file", zookeeper.password_file,
                      "it has more than a line; allowed: a password and nothing else");
  }
  return base::Secret(std::move(password));
}

// Whether TLS can be begun with them, and if not, whose fault it is.
Result<> check_pem(const job::ZooKeeper& zookeeper, const ZooKeeperFiles& files) {
  constexpr const char* kAnyServer = "https://localhost";
  const auto with_authorities =
      net::Remote::make({.url = kAnyServer, .authorities_pem = files.authorities_pem});
  if (!with_authorities.ok()) {
    return wrong_file("ca", zookeeper.ca, with_authorities.error().message);
  }
  const auto with_all = net::Remote::make({.url = kAnyServer,
                                           .authorities_pem = files.authorities_pem,
                                           .certificate_pem = files.certificate_pem,
                                           .key_pem = files.key_pem});
  if (with_all.ok()) return {};
  const bool is_key = with_all.error().message.starts_with("key_pem");
  return wrong_file(is_key ? "key" : "certificate", is_key ? zookeeper.key : zookeeper.certificate,
                    with_all.error().message);
}

}  // namespace

Result<ZooKeeperFiles> read_zookeeper_files(const job::ZooKeeper& zookeeper,
                                            const std::string& folder) {
  ZooKeeperFiles files;
  GANGRUN_ASSIGN(files.authorities_pem, read_named("ca", zookeeper.ca, folder, kMaxPemBytes));
  GANGRUN_ASSIGN(files.certificate_pem,
                 read_named("certificate", zookeeper.certificate, folder, kMaxPemBytes));
  GANGRUN_ASSIGN(files.key_pem, read_secret_file("key", zookeeper.key, folder, kMaxPemBytes));
  GANGRUN_ASSIGN(files.password, read_password(zookeeper, folder));
  if (!zookeeper.ca.empty() && files.authorities_pem.empty()) {
    return wrong_file("ca", zookeeper.ca, "it is empty");
  }
  if (zookeeper.tls) GANGRUN_TRY(check_pem(zookeeper, files));
  return files;
}

}  // namespace gangrun::mirror
