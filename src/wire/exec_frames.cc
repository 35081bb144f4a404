#include "wire/exec_frames.h"

#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/overloaded.h"

namespace gangrun::wire {

namespace {

constexpr char kMain = 'm';
constexpr char kErrors = 'e';

template <typename T>
base::Result<ExecFrame> read(std::string_view text) {
  GANGRUN_ASSIGN(const base::Json json, base::parse_json(text, kMaxExecFrameBytes));
  GANGRUN_ASSIGN(T value, base::from_json<T>(json));
  return ExecFrame(std::move(value));
}

template <typename T>
std::string write(const T& value) {
  return std::string(T::kName) + base::dump_json(base::to_json(value));
}

}  // namespace

base::Result<ExecFrame> parse_exec_frame(std::string_view frame) {
  if (frame.empty()) return base::invalid_argument("an empty message");
  if (frame.size() > kMaxExecFrameBytes) {
    return base::invalid_argument(
        base::format("a message of {} bytes; the limit is {}", frame.size(), kMaxExecFrameBytes));
  }
  const std::string_view name = frame.substr(0, 1);
  const std::string_view rest = frame.substr(1);
  if (frame.front() == kMain) return ExecFrame(ExecFlow{ExecStream::kMain, rest});
  if (frame.front() == kErrors) return ExecFrame(ExecFlow{ExecStream::kErrors, rest});
  if (name == ExecBegin::kName) return read<ExecBegin>(rest);
  if (name == ExecWindow::kName) return read<ExecWindow>(rest);
  if (name == ExecSignal::kName) return read<ExecSignal>(rest);
  if (name == ExecExit::kName) return read<ExecExit>(rest);
  return base::invalid_argument("a message of an unknown kind");
}

std::string to_frame(const ExecFrame& frame) {
  return std::visit(base::Overloaded{[](const ExecFlow& flow) {
                                       std::string text(
                                           1, flow.stream == ExecStream::kMain ? kMain : kErrors);
                                       text += flow.message;
                                       return text;
                                     },
                                     [](const auto& value) { return write(value); }},
                    frame);
}

}  // namespace gangrun::wire
