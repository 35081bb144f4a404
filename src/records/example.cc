#include "records/example.h"

#include <cstring>
#include <string>

#include "records/wire.h"

namespace gangrun::records {

namespace {

base::Error no_message(std::string_view what) {
  return {.code = base::Code::kDataLoss,
          .message = "no message Example: its " + std::string(what) + " cannot be read"};
}

base::Result<RawFeature> read_entry(std::string_view entry) {
  RawFeature feature;
  WireReader reader(entry);
  for (WireField field; reader.next(field);) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 1) feature.name = field.bytes;
    if (field.number == 2) feature.values = field.bytes;
  }
  if (!reader.at_end()) return no_message("feature");
  return feature;
}

bool read_integers(const WireField& list_field, std::vector<std::int64_t>& out) {
  if (list_field.type == WireType::kVarint) {
    out.push_back(static_cast<std::int64_t>(list_field.varint));
    return true;
  }
  if (list_field.type != WireType::kBytes) return false;
  WireReader packed(list_field.bytes);
  for (std::uint64_t value = 0; packed.varint(value);) {
    out.push_back(static_cast<std::int64_t>(value));
  }
  return packed.at_end();
}

bool read_floats(const WireField& list_field, std::vector<float>& out) {
  if (list_field.type != WireType::kFixed32 && list_field.type != WireType::kBytes) return false;
  const std::string_view bytes = list_field.bytes;
  if (bytes.size() % sizeof(float) != 0) return false;
  const std::size_t before = out.size();
  out.resize(before + bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(out.data() + before, bytes.data(), bytes.size());
  return true;
}

bool read_list(Kind kind, std::string_view list, Values& out) {
  WireReader reader(list);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) continue;
    switch (kind) {
      case Kind::kBytes:
        if (field.type != WireType::kBytes) return false;
        out.bytes.push_back(field.bytes);
        break;
      case Kind::kFloat:
        if (!read_floats(field, out.floats)) return false;
        break;
      case Kind::kInt64:
        if (!read_integers(field, out.integers)) return false;
        break;
    }
  }
  return reader.at_end();
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kBytes: return "bytes";
    case Kind::kFloat: return "float";
    case Kind::kInt64: return "int64";
  }
  return "";
}

base::Result<> split_example(std::string_view example, std::vector<RawFeature>& out) {
  out.clear();
  WireReader reader(example);
  for (WireField features; reader.next(features);) {
    if (features.number != 1 || features.type != WireType::kBytes) continue;
    WireReader entries(features.bytes);
    for (WireField entry; entries.next(entry);) {
      if (entry.number != 1 || entry.type != WireType::kBytes) continue;
      GANGRUN_ASSIGN(const RawFeature feature, read_entry(entry.bytes));
      out.push_back(feature);
    }
    if (!entries.at_end()) return no_message("features");
  }
  if (!reader.at_end()) return no_message("bytes");
  return {};
}

std::size_t Values::size(Kind kind) const {
  return kind == Kind::kInt64   ? integers.size()
         : kind == Kind::kFloat ? floats.size()
                                : bytes.size();
}

void Values::cut(Kind kind, std::size_t size) {
  if (kind == Kind::kInt64) integers.resize(size);
  if (kind == Kind::kFloat) floats.resize(size);
  if (kind == Kind::kBytes) bytes.resize(size);
}

base::Result<std::optional<Kind>> read_feature(std::string_view feature, Values& out) {
  std::optional<Kind> kind;
  std::size_t before = 0;
  WireReader reader(feature);
  for (WireField field; reader.next(field);) {
    if (field.number < 1 || field.number > 3 || field.type != WireType::kBytes) continue;
    const auto found = static_cast<Kind>(field.number);
    if (kind != found) {
      if (kind.has_value()) out.cut(*kind, before);
      kind = found;
      before = out.size(found);
    }
    if (!read_list(found, field.bytes, out)) return no_message("list of values");
  }
  if (!reader.at_end()) return no_message("values");
  return kind;
}

}  // namespace gangrun::records
