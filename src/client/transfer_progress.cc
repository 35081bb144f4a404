#include "client/transfer_progress.h"

#include "base/format.h"
#include "base/json.h"
#include "base/sizes.h"
#include "base/strings.h"

namespace gangrun::client {

namespace {

// A smaller file is there at once.
constexpr std::uint64_t kLarge = std::uint64_t{64} << 20U;

}  // namespace

TransferProgress::Form TransferProgress::form_for(const Console& console, bool quiet) {
  if (quiet) return Form::kNone;
  return console.err_is_terminal() ? Form::kTerminal : Form::kLines;
}

TransferProgress::Form TransferProgress::form_for(const Console& console,
                                                  const RunOptions& options) {
  if (!options.display.json) return form_for(console, options.display.quiet);
  return options.detach ? Form::kNone : Form::kJson;
}

void TransferProgress::show(const std::string& name, std::uint64_t sent, std::uint64_t size) {
  if (form_ == Form::kNone || size == 0) return;
  const int percent = static_cast<int>(sent * 100 / size);
  const bool is_new = name != name_;
  if (!is_new && percent == percent_) return;
  const int quarter = is_new ? -1 : percent_ / 25;
  name_ = name;
  percent_ = percent;
  switch (form_) {
    case Form::kJson:
      console_.out(
          base::dump_json({{"event", verb_}, {"name", name}, {"sent", sent}, {"size", size}}) +
          "\n");
      break;
    case Form::kTerminal:
      console_.err(base::format("\rgangrun: {}s {}: {} % of {}{}", verb_, name, percent,
                                base::size_text(size), sent >= size ? "\n" : ""));
      break;
    case Form::kLines:
      if (is_new) {
        console_.err(base::format("gangrun: {}s {} ({})\n", verb_, name, base::size_text(size)));
      }
      if (size >= kLarge && percent / 25 > quarter && percent / 25 > 0) {
        console_.err(base::format("gangrun: {}s {}: {} %\n", verb_, name, percent));
      }
      break;
    case Form::kNone: break;
  }
}

}  // namespace gangrun::client
