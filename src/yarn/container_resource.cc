#include "yarn/container_resource.h"

namespace gangrun::yarn {

hadoop::Resource resource_of(const job::Resources& resources) {
  hadoop::Resource resource;
  resource.memory_mib = resources.memory_mib > 0 ? resources.memory_mib : kDefaultMemoryMib;
  resource.vcores = resources.vcores;
  resource.others = resources.others;
  if (resources.gpus > 0) resource.others[kGpuResource] = resources.gpus;
  return resource;
}

}  // namespace gangrun::yarn
