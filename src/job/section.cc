#include "job/section.h"

#include "base/format.h"

namespace gangrun::job {

void add_section_fields(const Section& section, std::vector<FieldAt<JobSpec>>& fields) {
  add_plain_fields(section.fields, base::format("{}.", section.key), fields);
  for (const SectionPart& part : section.parts) {
    add_plain_fields(part.fields, base::format("{}.{}", section.key, part.prefix), fields);
  }
}

}  // namespace gangrun::job
