#include "process/container_remover.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "process/pipe.h"
#include "process/spawn.h"
#include "process/wait_for.h"

namespace gangrun::process {

namespace {

// An engine that has much to do is slow.
constexpr base::seconds kMaxRemoval(60);
// The time in which an engine may still answer the request of a client that was killed.
constexpr base::seconds kSettling(1);
constexpr base::seconds kMaxStart(10);
constexpr char kRemove = 'r';
constexpr char kRemoveSettled = 's';

}  // namespace

base::Result<ContainerRemover> start_container_remover(const EngineContainers& containers) {
  if (containers.empty()) return ContainerRemover();
  GANGRUN_ASSIGN(Pipe order, make_pipe());
  GANGRUN_ASSIGN(Pipe done, make_pipe());
  SpawnOptions options;
  options.argv = {"/proc/self/exe", "remove", containers.engine};
  options.argv.insert(options.argv.end(), containers.names.begin(), containers.names.end());
  options.environment = inherited_environment();
  options.standard_input = order.read.get();
  options.standard_output = done.write.get();
  options.standard_error = STDERR_FILENO;
  options.new_group = NewGroup::kSession;
  GANGRUN_ASSIGN(Child child, spawn(options));
  // It goes on in a child of its own, which is nobody's here.
  GANGRUN_ASSIGN(const Exit started, child.wait(std::chrono::steady_clock::now() + kMaxStart));
  if (!started.succeeded()) {
    return base::unavailable("the remover of containers " + started.to_words());
  }
  return ContainerRemover{std::move(order.write), std::move(done.read)};
}

base::Result<> order_removal(ContainerRemover& remover, bool settled, base::Instant deadline) {
  if (!remover.order.valid()) return {};
  const char order = settled ? kRemoveSettled : kRemove;
  if (::write(remover.order.get(), &order, 1) != 1) {
    return base::from_errno(errno, "the remover of containers");
  }
  remover.order.reset();
  if (wait_readable(remover.done.get(), deadline)) return {};
  return base::deadline_exceeded("the containers of the task are not removed in time");
}

base::Result<> remove_when_ordered(int order, const EngineContainers& containers) {
  char word = kRemove;
  while (::read(order, &word, 1) < 0) {
    if (errno != EINTR) return base::from_errno(errno, "read");
  }
  return remove_containers(containers, word == kRemoveSettled ? base::Duration::zero() : kSettling,
                           std::chrono::steady_clock::now() + kMaxRemoval);
}

}  // namespace gangrun::process
