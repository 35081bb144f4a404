#include "yarn/master_config.h"

namespace gangrun::yarn {

base::Result<> YarnMasterConfig::complete() {
  GANGRUN_ASSIGN(certificate.fingerprint, net::fingerprint_of(certificate.certificate_pem));
  return {};
}

}  // namespace gangrun::yarn
