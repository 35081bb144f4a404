#pragma once

#include <string_view>

// The files of web/, as they were when this was built (cmake/rooms.cmake).
namespace gangrun::page {

extern const std::string_view kIndexHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;

}  // namespace gangrun::page
