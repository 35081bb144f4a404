#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/output.h"
#include "client/style.h"

namespace gangrun::client {

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Standard output and standard error. Nothing about a terminal is ever switched on that would have
// to be switched off again: a command that is killed leaves it as it was. When nobody reads an
// output any more (a closed pipe, a lost terminal), nothing is written to it any more, and the
// command goes on.
class Console {
 public:
  struct Options {
    int out = 1;
    int err = 2;
    bool colour_allowed = true;  // NO_COLOR is not set, TERM is not "dumb"
  };

  explicit Console(Options options);

  void out(std::string_view text) { write(out_, text); }
  void err(std::string_view text) { write(err_, text); }
  void out(const Lines& lines);
  void err(const Lines& lines);
  // "gangrun: …" to standard error, as one line that is harmless whatever others have said in it.
  void error(std::string_view sentence);

  // From here on nothing waits for a slow reader: what it does not take is queued, and `on_blocked`
  // is called whenever something is. The caller flushes when the outputs can be written again.
  void defer(std::function<void()> on_blocked) { on_blocked_ = std::move(on_blocked); }
  // Waits for readers again, from now on and for what is queued.
  void stop_deferring();
  void flush();
  // Writes what is queued. An error names the output that has not got all that was said.
  base::Result<> finish();
  [[nodiscard]] bool lost_output() const { return out_.error() || err_.error(); }
  [[nodiscard]] std::size_t queued() const { return out_.queued() + err_.queued(); }
  [[nodiscard]] const Output& out_output() const { return out_; }
  [[nodiscard]] const Output& err_output() const { return err_; }
  void give_up();

  [[nodiscard]] bool out_is_terminal() const { return out_.is_terminal(); }
  [[nodiscard]] bool err_is_terminal() const { return err_.is_terminal(); }
  // Whether a line may stay without its end: nothing comes between that is not ours, as from
  // `gangrun … | tee`.
  [[nodiscard]] bool is_terminal() const { return out_is_terminal() && err_is_terminal(); }
  [[nodiscard]] bool out_is_open() const { return out_.is_open(); }
  [[nodiscard]] bool colour_on_out() const { return out_is_terminal() && colour_allowed_; }
  [[nodiscard]] bool colour_on_err() const { return err_is_terminal() && colour_allowed_; }
  // The size of the terminal that standard output is; none if it is no terminal.
  [[nodiscard]] std::optional<Size> size() const;

 private:
  void write(Output& output, std::string_view text);

  Output out_;
  Output err_;
  bool colour_allowed_;
  std::function<void()> on_blocked_;
};

// Whether who sits before standard input agrees to what was asked, in time. Only "y" and "yes" are
// an answer that does.
bool is_agreed();

}  // namespace gangrun::client
