#include "client/fail.h"

namespace gangrun::client {

ExitStatus fail(Context& context, const base::Error& error) {
  return fail(context, error, exit_status_of(error));
}

ExitStatus fail(Context& context, const base::Error& error, ExitStatus status) {
  context.console.error(error.message);
  return status;
}

}  // namespace gangrun::client
