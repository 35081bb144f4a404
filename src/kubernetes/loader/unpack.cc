#include "kubernetes/loader/unpack.h"

#include <fcntl.h>
#include <zlib.h>

#include <cerrno>

#include "kubernetes/loader/system_call.h"

namespace gangrun::kubernetes::loader {

namespace {

constexpr unsigned long kMaxParts = 100;
constexpr std::size_t kMaxProgram = std::size_t{512} << 20U;
constexpr std::size_t kBuffer = std::size_t{64} << 10U;
// The largest window, and gzip's header and trailer around the data.
constexpr int kGzipWindow = MAX_WBITS + 16;

// Below zero it is the number of an error.
long write_all(int file, const unsigned char* bytes, std::size_t size) {
  while (size > 0) {
    const long written = system_call(SYS_write, file, bytes, size);
    if (written == -EINTR) continue;
    if (written < 0) return written;
    if (written == 0) return -EIO;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

// The parts as one stream of bytes.
class Parts {
 public:
  explicit Parts(int folder) : folder_{folder} {}

  // The number of bytes that it has put to `bytes`, 0 where there is no further part. Below zero it
  // has failed, and `wrong` says how.
  long read(unsigned char* bytes, std::size_t size, Words& wrong) {
    while (true) {
      if (file_ < 0 && !open_next(wrong)) return -1;
      if (file_ < 0) return 0;
      const long got = system_call(SYS_read, file_, bytes, size);
      if (got > 0) return got;
      if (got < 0 && got != -EINTR) {
        wrong.say("part-", last(), " cannot be read: ", ErrorNumber{got});
        return -1;
      }
      if (got == 0) {
        system_call(SYS_close, file_);
        file_ = -1;
      }
    }
  }

  [[nodiscard]] unsigned long next() const { return next_; }
  // The part that was read last.
  [[nodiscard]] unsigned long last() const { return next_ - 1; }

 private:
  bool open_next(Words& wrong) {
    if (next_ == kMaxParts) return wrong.say("there are more parts than ", kMaxParts);
    char name[] = "part-\0\0";
    char* digit = name + sizeof "part-" - 1;
    if (next_ >= 10) *digit++ = static_cast<char>('0' + next_ / 10);
    *digit = static_cast<char>('0' + next_ % 10);
    const long opened = system_call(SYS_openat, folder_, name, O_RDONLY | O_CLOEXEC);
    if (opened == -ENOENT) return true;
    if (opened < 0) return wrong.say(name, " cannot be opened: ", ErrorNumber{opened});
    file_ = static_cast<int>(opened);
    ++next_;
    return true;
  }

  int folder_;
  int file_ = -1;
  unsigned long next_ = 0;
};

class Unpacking {
 public:
  Unpacking(int folder, int file, Program& program, Words& wrong)
      : parts_{folder}, file_{file}, program_{program}, wrong_{wrong} {}

  bool run() {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) return wrong_.say("zlib cannot start");
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      if (stream_.avail_in == 0 && !read()) return false;
      stream_.next_out = unpacked_;
      stream_.avail_out = kBuffer;
      status = inflate(&stream_, Z_NO_FLUSH);
      // It has used all input and waits for more.
      if (status == Z_BUF_ERROR) continue;
      if (status != Z_OK && status != Z_STREAM_END) {
        // A part's damage may show in a later one.
        return wrong_.say(
            "part-", parts_.last(), parts_.last() > 0 ? ", or one before it," : "",
            " is damaged or not in its place: ", stream_.msg != nullptr ? stream_.msg : "no gzip");
      }
      if (!take(kBuffer - stream_.avail_out)) return false;
    }
    digest_.finish(program_.digest);
    return ends_here();
  }

 private:
  bool read() {
    const long got = parts_.read(packed_, kBuffer, wrong_);
    if (got < 0) return false;
    if (got == 0 && parts_.next() == 0) return wrong_.say("part-0 is missing");
    if (got == 0) {
      return wrong_.say("the program is not complete: part-", parts_.next(),
                        " is missing, or part-", parts_.last(), " is cut");
    }
    stream_.next_in = packed_;
    stream_.avail_in = static_cast<unsigned>(got);
    return true;
  }

  bool take(std::size_t size) {
    digest_.add(unpacked_, size);
    program_.bytes += size;
    if (program_.bytes > kMaxProgram) {
      return wrong_.say("the program has more than ", kMaxProgram, " bytes");
    }
    if (program_.write_error == 0) program_.write_error = write_all(file_, unpacked_, size);
    return true;
  }

  // Nothing may lie behind the program.
  bool ends_here() {
    if (stream_.avail_in == 0) {
      const long got = parts_.read(packed_, kBuffer, wrong_);
      if (got <= 0) return got == 0;
    }
    return wrong_.say("part-", parts_.last(), " has bytes behind the end of the program");
  }

  Parts parts_;
  int file_;
  Program& program_;
  Words& wrong_;
  Sha256 digest_;
  z_stream stream_ = {};
  unsigned char packed_[kBuffer] = {};
  unsigned char unpacked_[kBuffer] = {};
};

}  // namespace

bool unpack(int folder, int file, Program& program, Words& wrong) {
  return Unpacking(folder, file, program, wrong).run();
}
}  // namespace gangrun::kubernetes::loader
