#include "sasl/gssapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace gangrun::sasl {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// Tests without a ticket and a KDC: what works with both is tested on a secured cluster
// (tests/yarn/test_kerberos.py).
class Gssapi : public testing::Test {
 protected:
  Gssapi() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    ::setenv("KRB5CCNAME", ("FILE:" + folder_ + "/cache").c_str(),
             1);                                                   // NOLINT(concurrency-mt-unsafe)
    ::setenv("KRB5_CONFIG", (folder_ + "/krb5.conf").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  ~Gssapi() override { ::rmdir(folder_.c_str()); }

  std::string folder_ = testing::TempDir() + "gssapi_XXXXXX";  // nothing is in it
};

TEST_F(Gssapi, WithoutATicketTheSentenceTellsWhatToRun) {
  const auto identity = open_identity({});
  ASSERT_FALSE(identity.ok());
  // A machine without the library is told to get it.
  EXPECT_THAT(identity.error().message,
              AnyOf(HasSubstr("run kinit"), HasSubstr("no Kerberos library"),
                    HasSubstr("not set up on this machine")));
}

TEST_F(Gssapi, AKeytabThatIsNotThereIsToldBeforeTheLibraryIsLoaded) {
  const auto identity = open_identity({.principal = "alice@R", .keytab = folder_ + "/keytab"});
  ASSERT_FALSE(identity.ok());
  EXPECT_THAT(identity.error().message, HasSubstr("the keytab cannot be read"));
}

TEST_F(Gssapi, ANameThatIsNoneIsRefused) {
  const auto identity = open_identity({.principal = "a@b@c"});
  ASSERT_FALSE(identity.ok());
  EXPECT_EQ(identity.error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace gangrun::sasl
