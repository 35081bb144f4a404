#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"

namespace gangrun::net {

// The certificate that a job's server shows to those who connect, made for each job. Nobody signs
// for it: a client knows its fingerprint beforehand.
struct JobCertificate {
  std::string certificate_pem;
  base::Secret key_pem;
  std::string fingerprint;  // SHA-256 of the certificate's DER form, 64 hexadecimal digits
};

// A self-signed P-256 certificate, valid from an hour ago (clocks differ) for `validity`.
base::Result<JobCertificate> make_job_certificate(const std::string& common_name,
                                                  base::Duration validity);

base::Result<std::string> fingerprint_of(std::string_view certificate_pem);

}  // namespace gangrun::net
