#include "mirror/zookeeper_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "job/described.h"
#include "net/certificate.h"

namespace gangrun::mirror {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ZooKeeperFilesTest : public testing::Test {
 protected:
  ZooKeeperFilesTest() {
    std::string pattern = testing::TempDir() + "zookeeper_filesXXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ZooKeeperFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(base::write_file_atomically(path, content, mode).ok());
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return name;
  }
  [[nodiscard]] std::string error(const job::ZooKeeper& zookeeper) const {
    const auto files = read_zookeeper_files(zookeeper, folder_);
    return files.ok() ? "" : files.error().message;
  }

  std::string folder_;
};

TEST_F(ZooKeeperFilesTest, TheyTravelAsTheyAre) {
  const auto certificate = net::make_job_certificate("job", std::chrono::hours(1));
  ASSERT_TRUE(certificate.ok());
  job::ZooKeeper zookeeper;
  zookeeper.tls = true;
  zookeeper.ca = write("ca.pem", certificate->certificate_pem, 0644);
  zookeeper.certificate = write("certificate.pem", certificate->certificate_pem, 0644);
  zookeeper.key = write("key.pem", certificate->key_pem.reveal());
  zookeeper.password_file = write("password", "of ann\r\n");
  const auto files = read_zookeeper_files(zookeeper, folder_);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_FALSE(files->empty());
  const auto again = base::from_json<ZooKeeperFiles>(base::to_json(*files));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->authorities_pem, certificate->certificate_pem);
  EXPECT_EQ(again->certificate_pem, certificate->certificate_pem);
  EXPECT_EQ(again->key_pem.reveal(), certificate->key_pem.reveal());
  EXPECT_EQ(again->password.reveal(), "of ann");
  EXPECT_FALSE(base::from_json<ZooKeeperFiles>({{"ca", ""}}).ok());
}

TEST_F(ZooKeeperFilesTest, WithoutFilesThereIsNothing) {
  const auto files = read_zookeeper_files({}, folder_);
  ASSERT_TRUE(files.ok());
  EXPECT_TRUE(files->empty());
}

TEST_F(ZooKeeperFilesTest, AWrongFileIsToldByItsField) {
  job::ZooKeeper zookeeper;
  zookeeper.tls = true;
  zookeeper.ca = "missing.pem";
  EXPECT_THAT(error(zookeeper),
              AllOf(StartsWith("zookeeper.ca: 'missing.pem': "), HasSubstr("No such file")));
  zookeeper.ca = write("empty.pem", "");
  EXPECT_THAT(error(zookeeper), StartsWith("zookeeper.ca: 'empty.pem': it is empty"));
  zookeeper.ca = write("no.pem", "no certificate");
  EXPECT_THAT(error(zookeeper), StartsWith("zookeeper.ca: 'no.pem': "));
  const auto certificate = net::make_job_certificate("job", std::chrono::hours(1));
  zookeeper.ca = "";
  zookeeper.certificate = write("certificate.pem", certificate->certificate_pem);
  zookeeper.key = write("key.pem", "no key");
  EXPECT_THAT(error(zookeeper), StartsWith("zookeeper.key: 'key.pem': "));
  zookeeper.key = write("key.pem", certificate->key_pem.reveal());
  zookeeper.certificate = "no.pem";
  EXPECT_THAT(error(zookeeper), StartsWith("zookeeper.certificate: 'no.pem': "));
}

TEST_F(ZooKeeperFilesTest, ASecretThatOthersMayReadIsRefused) {
  job::ZooKeeper zookeeper;
  zookeeper.password_file = write("password", "x", 0644);
  EXPECT_EQ(error(zookeeper),
            "zookeeper.password_file: 'password': every user of this machine may read it; `chmod "
            "o-r` helps");
  zookeeper.password_file = write("password", "x", 0640);
  EXPECT_EQ(error(zookeeper), "");
}

TEST_F(ZooKeeperFilesTest, APasswordIsOneLine) {
  job::ZooKeeper zookeeper;
  zookeeper.password_file = write("password", "\n");
  EXPECT_THAT(error(zookeeper), HasSubstr("it is empty"));
  zookeeper.password_file = write("password", "a\nb\n");
  EXPECT_THAT(error(zookeeper), HasSubstr("more than a line"));
  zookeeper.password_file = write("password", std::string(kMaxPasswordBytes + 1, 'x'));
  EXPECT_THAT(error(zookeeper), StartsWith("zookeeper.password_file: "));
}

}  // namespace
}  // namespace gangrun::mirror
