#pragma once

// A process that holds a secret leaves no core file.
namespace gangrun::process {

// From now on no crash of this process or of a fork of it leaves a core file, and only root may
// look into its memory. A program that it starts is not concerned: the kernel resets this with
// exec().
//
// Its files in /proc belong to root then: this user still reads what all may read (stat, status,
// cmdline, children), but neither fd, environ nor exe of another process of this kind; and nobody
// but root writes to uid_map, oom_score_adj and the like, for which there is OwnFilesInProc.
void leave_no_core_file();

// For as long as it lives, the files of this process in /proc are its user's, as always. Uses
// system calls only.
class OwnFilesInProc {
 public:
  OwnFilesInProc();
  OwnFilesInProc(const OwnFilesInProc&) = delete;
  OwnFilesInProc& operator=(const OwnFilesInProc&) = delete;
  ~OwnFilesInProc();

 private:
  bool left_no_core_file_;
};

}  // namespace gangrun::process
