#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/licenses.h"

namespace gangrun::cli {

namespace {

struct VersionFlags {
  bool json = false;
  bool licenses = false;
};

std::string licenses_text() {
  const std::array<std::pair<std::string_view, std::string_view>, 9> texts{{
      {"Apache-2.0 (of gangrun itself, too)", kLicenseApache},
      {"BSL-1.0", kLicenseBoost},
      {"MIT", kLicenseMit},
      {"BSD-3-Clause", kLicenseBsd},
      {"Zlib", kLicenseZlib},
      {"CC0-1.0", kLicenseCc0},
      {"GPL-3.0", kLicenseGpl},
      {"GCC-exception-3.1", kLicenseGccException},
      {"LGPL-2.1", kLicenseLgpl},
  }};
  std::string text = base::format(
      "gangrun {}, licensed under Apache-2.0. These are linked into its programs and its Python "
      "module:\n\n{}",
      GANGRUN_VERSION, kComponents);
  for (const auto& [name, license] : texts) {
    text += base::format("\n==== {} ====\n\n{}", name, license);
  }
  return text;
}

std::string version_text(const VersionFlags& flags) {
  if (flags.licenses) return licenses_text();
  const base::Json value = {{"version", GANGRUN_VERSION}};
  return flags.json ? base::dump_json(value) + "\n" : base::format("gangrun {}\n", GANGRUN_VERSION);
}

}  // namespace

client::Command version_command() {
  const auto flags = std::make_shared<VersionFlags>();
  return {.name = "version",
          .summary = "Show the version of this program.",
          .flags = {{"--json", &flags->json, "", "Print JSON"},
                    {"--licenses", &flags->licenses, "",
                     "Print what is linked into the programs, and its licenses"}},
          .footer = "Example:\n  gangrun version --json\n",
          .action = [flags](client::Context& context) {
            context.console.out(version_text(*flags));
            return client::ExitStatus::kSuccess;
          }};
}

}  // namespace gangrun::cli
