#pragma once

#include <string_view>

namespace gangrun::cli {

// licenses/components.txt, and the texts that it names: what is linked into the programs and into
// the Python module, and what the authors of that allow.
extern const std::string_view kComponents;
extern const std::string_view kLicenseApache;
extern const std::string_view kLicenseBoost;
extern const std::string_view kLicenseBsd;
extern const std::string_view kLicenseCc0;
extern const std::string_view kLicenseGccException;
extern const std::string_view kLicenseGpl;
extern const std::string_view kLicenseLgpl;
extern const std::string_view kLicenseMit;
extern const std::string_view kLicenseZlib;

}  // namespace gangrun::cli
