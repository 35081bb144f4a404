#include "jobfile/section.h"

#include "base/format.h"

namespace gangrun::jobfile {

void add_section_fields(const Section& section, std::vector<FieldAt<job::JobSpec>>& fields) {
  add_plain_fields(section.fields, base::format("{}.", section.key), fields);
  for (const SectionPart& part : section.parts) {
    add_plain_fields(part.fields, base::format("{}.{}", section.key, part.prefix), fields);
  }
}

}  // namespace gangrun::jobfile
