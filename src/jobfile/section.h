#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "job/spec.h"
#include "jobfile/field.h"
#include "jobfile/field_values.h"

// The section of a job file that belongs to one place: its options are a struct of the place's room
// (sections.h), its fields are rows like those of the job.
namespace gangrun::jobfile {

// A map within the section.
struct SectionPart {
  std::string_view prefix{};  // of its keys: "master."
  FieldRows<job::JobSpec> fields;
};

struct Section {
  std::string_view key{};    // the name of the place
  std::string_view about{};  // as of a field
  FieldRows<job::JobSpec> fields;
  std::vector<SectionPart> parts{};                   // those of its fields that are maps
  std::unique_ptr<job::Options> (*make)() = nullptr;  // make_options<T>
};

// Those that a program knows.
using SectionList = std::vector<const Section*>;

// All that is a number, a text, a list of texts or a choice, with the path within the job:
// "yarn.master.memory".
void add_section_fields(const Section& section, std::vector<FieldAt<job::JobSpec>>& fields);

namespace field_detail {

template <auto kFirst, auto... kRest>
struct InSection {
  using T = decltype(owner_of(kFirst));
  using At = Member<kFirst, kRest...>;
  static const auto& in(const job::JobSpec& job) { return At::in(job.sections.get<T>()); }
  static auto& in(job::JobSpec& job) { return At::in(job.sections.edit<T>()); }
};

}  // namespace field_detail

// As field_of() and own_field(), of a member of a section's options.
template <auto kFirst, auto... kRest>
constexpr auto section_field(FieldInfo info) {
  return field_detail::row_at<job::JobSpec, field_detail::InSection<kFirst, kRest...>>(info);
}
template <auto kRead, auto kWrite, auto kMember>
constexpr auto own_section_field(FieldInfo info,
                                 base::Result<std::string> (*take)(std::string_view,
                                                                   job::JobSpec&) = nullptr) {
  return own_field_at<job::JobSpec, field_detail::InSection<kMember>, kRead, kWrite>(info, take);
}

}  // namespace gangrun::jobfile
