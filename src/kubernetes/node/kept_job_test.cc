#include "kubernetes/node/kept_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "base/files.h"
#include "base/test_folder.h"
#include "base/test_log.h"
#include "kubernetes/node/test_client_internal.h"
#include "net/certificate.h"
#include "wire/rest_client.h"
#include "wire/test_registry.h"

namespace gangrun::kubernetes::node {
namespace {

using testing::SizeIs;

TEST(KeptJob, TellsItsEndAndHandsOutWhatItHas) {
  const base::TestFolder folder;
  std::filesystem::create_directories(folder / "worker-0");
  ASSERT_TRUE(base::write_file_atomically(folder / "worker-0/model", "kept", 0600).ok());
  net::EventLoop loop;
  base::LogRecorder log;
  const base::Secret secret(wire::kJobSecret);
  const auto certificate = net::make_job_certificate("wine", std::chrono::hours(1));
  ASSERT_TRUE(certificate.ok());
  job::JobStatus status;
  status.id = "wine-1";
  status.state = job::JobState::kSucceeded;
  const std::uint16_t port = free_port();
  const auto kept = KeptJob::serve(loop, log,
                                   {.secret = secret,
                                    .certificate = *certificate,
                                    .port = port,
                                    .status = status,
                                    .output_folder = folder.path()});
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  const auto master = net::Endpoint::on_tls("127.0.0.1", port, certificate->fingerprint);
  const bool is_served = wire::while_serving(loop, [&] {
    EXPECT_EQ(wire::fetch_status(master, secret, wire::test_deadline()).value(), status);
    const auto list = wire::fetch_outputs(master, secret, "", wire::test_deadline());
    EXPECT_TRUE(list.ok() && list->is_whole);
    EXPECT_THAT(list->outputs, SizeIs(1));
    const auto bytes =
        wire::read_output(master, secret, "worker-0", "model", 0, wire::test_deadline());
    EXPECT_EQ(bytes.value_or(""), "kept");
    // As `fetch` ends.
    return wire::remove_outputs(master, secret, "worker-0", wire::test_deadline()).ok();
  });
  EXPECT_TRUE(is_served);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace gangrun::kubernetes::node
