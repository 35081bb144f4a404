#include "cluster/yarn/master_config.h"

namespace gangrun::cluster {

base::Result<> YarnMasterConfig::complete() {
  GANGRUN_ASSIGN(certificate.fingerprint, net::fingerprint_of(certificate.certificate_pem));
  return {};
}

}  // namespace gangrun::cluster
