#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kubernetes/access.h"

namespace gangrun::kubernetes {

// A map of a kubeconfig, with where it stands. Absent fields and null are the same. All errors are
// kInvalidArgument, "FILE: user "x": FIELD …", and show no values: some are secret.
class Section {
 public:
  // `place` is "user "x""; empty for the file itself. Fails where `fields` is no map.
  static base::Result<Section> make(std::string file, std::string place, base::Json fields);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool has(std::string_view key) const;
  // The field as it is; null where it is absent.
  [[nodiscard]] base::Json json(std::string_view key) const;

  [[nodiscard]] base::Result<std::string> text(std::string_view key) const;
  // A text that can stand in a header or a path.
  [[nodiscard]] base::Result<std::string> line(std::string_view key) const;
  [[nodiscard]] base::Result<bool> flag(std::string_view key) const;
  [[nodiscard]] base::Result<std::vector<std::string>> texts(std::string_view key) const;
  [[nodiscard]] base::Result<Section> section(std::string_view key) const;
  [[nodiscard]] base::Result<std::vector<Section>> sections(std::string_view key) const;
  // The bytes of "KEY-data", which is base64, or else of the file that KEY names; empty: neither.
  [[nodiscard]] base::Result<std::string> bytes(std::string_view key,
                                                const Surroundings& surroundings) const;
  // A path of the file, which is relative to it.
  [[nodiscard]] std::string resolve(const std::string& path) const;

  [[nodiscard]] base::Error error(std::string_view key, std::string_view what) const;

 private:
  Section(std::string file, std::string place, base::Json fields);

  std::string file_;
  std::string place_;
  base::Json fields_;
};

// A name or value of the user's as errors show it: in quotes, shortened, in one line.
std::string shown(std::string_view text);

}  // namespace gangrun::kubernetes
